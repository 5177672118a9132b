// Step adoptVolumes: brings a database back from its disks. The process groups have been found by the labels of the claims
// already; here it is decided whether anything may be started on them, and the resource becomes their owner again.
// Rules: spec/adoption.md [ADO1]-[ADO4], [ADO13]-[ADO15].
import { ownerReferenceTo } from "../../build/labels.ts";
import { labelsOf } from "../../api/effective.ts";
import type { Action } from "../action.ts";
import { remedyOf } from "../reasons/registry.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import {
  coordinatorsRemedy,
  gapOf,
  goingRemedy,
  leftOutOf,
  missingCoordinators,
  mixtureOf,
  prefixRemedy,
} from "./adoption.ts";
import {
  readConnectionString,
  readersOf,
  removals,
  withoutReaders,
} from "./read-connection-string.ts";

const step = "adoptVolumes";
const retryAfterMs = 60_000;
const leftOutRemedy =
  "Make the selector of spec.adopt wider, or take the labels of this cluster off the claims that are named.";

export function adoptVolumes(snapshot: Snapshot, draft: Draft): StepResult {
  const { adoptable, claimsProblem } = snapshot;
  if (adoptable === undefined) return withoutAdoption(snapshot);
  if (claimsProblem !== undefined) return unread(claimsProblem);
  const mixture = mixtureOf(snapshot, adoptable);
  if (mixture !== undefined) {
    const remedy = prefixRemedy(snapshot, adoptable) ?? goingRemedy(snapshot, adoptable);
    return held("AdoptionRefused", mixture, remedy);
  }
  const leftOut = leftOutOf(snapshot, adoptable);
  if (leftOut !== undefined) return held("AdoptionRefused", leftOut, leftOutRemedy);
  const { connectionString = "" } = draft.status;
  const gap = gapOf(snapshot, adoptable, draft.desired.counts);
  if (gap !== undefined) return held("AdoptionIncomplete", gap);
  if (connectionString === "") return readConnectionString(snapshot, draft, adoptable);
  const unfit = missingCoordinators(snapshot, adoptable, connectionString);
  if (unfit !== undefined) return held("AdoptionIncomplete", unfit, coordinatorsRemedy);
  return withoutReaders(snapshot) ?? { actions: ownerships(snapshot) };
}

/** The database is back, or nobody wants it back any more. */
function withoutAdoption(snapshot: Snapshot): StepResult {
  if (snapshot.cluster.status?.configured === true) {
    return { actions: removals(readersOf(snapshot)) };
  }
  return withoutReaders(snapshot) ?? nothing;
}

/** A claim that our copy does not have may be there, and one that it has may be gone. */
function unread(problem: string): StepResult {
  const message = `The volume claims cannot be read at the moment: ${problem}`;
  const remedy =
    "Nothing, if it passes. Otherwise look whether the API server answers, and whether the operator may list and watch persistentvolumeclaims.";
  const wait = {
    step,
    reason: "AdoptionIncomplete",
    message,
    remedy,
    retryAfterMs: 15_000,
  } as const;
  return { waits: [wait], isUnfinished: true, stop: true };
}

function held(
  reason: "AdoptionRefused" | "AdoptionIncomplete",
  message: string,
  remedy: string = remedyOf(reason),
): StepResult {
  const wait = { step, reason, message, remedy, retryAfterMs };
  return { waits: [wait], isUnfinished: true, stop: true };
}

/** Without an owner they would stay when the resource is deleted, and no other resource could tell whose they are. */
function ownerships({ cluster, adoptable = [] }: Snapshot): Action[] {
  const [idLabel = ""] = labelsOf(cluster).processGroupIdLabels;
  return adoptable.flatMap(({ metadata }): Action[] => {
    const { name = "", uid = "", resourceVersion = "", ownerReferences = [], labels } = metadata;
    if (ownerReferences.some((owner) => owner.uid === cluster.metadata.uid)) return [];
    const patch = { ownerReferences: [...ownerReferences, ownerReferenceTo(cluster)] };
    const basis = { name, uid, resourceVersion };
    return [{ type: "patchPvc", step, basis, patch, processGroupId: labels?.[idLabel] ?? "" }];
  });
}
