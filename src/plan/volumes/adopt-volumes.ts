// Step adoptVolumes: brings a database back from its disks. The process groups have been found by the labels of the claims
// already; here it is decided whether anything may be started on them, and the resource becomes their owner again.
// Rules: spec/adoption.md [ADO1]-[ADO4], [ADO13]-[ADO15].
import { ownerReferenceTo } from "../../build/labels.ts";
import { labelsOf } from "../../api/effective.ts";
import type { Action } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { gapOf, missingCoordinators, mixtureOf } from "./adoption.ts";
import {
  readConnectionString,
  readersOf,
  removals,
  withoutReaders,
} from "./read-connection-string.ts";

const step = "adoptVolumes";
const retryAfterMs = 60_000;

export function adoptVolumes(snapshot: Snapshot, draft: Draft): StepResult {
  const { adoptable, claimsProblem } = snapshot;
  // The database is back, or nobody wants it back any more.
  if (adoptable === undefined) return { actions: removals(readersOf(snapshot)) };
  if (claimsProblem !== undefined) return nothing;
  const mixture = mixtureOf(snapshot, adoptable);
  if (mixture !== undefined) return held("AdoptionRefused", mixture);
  const { connectionString = "" } = draft.status;
  const gap =
    gapOf(snapshot, adoptable, draft.desired.counts) ??
    (connectionString === ""
      ? undefined
      : missingCoordinators(snapshot, adoptable, connectionString));
  if (gap !== undefined) return held("AdoptionIncomplete", gap);
  if (connectionString === "") return readConnectionString(snapshot, draft, adoptable);
  return withoutReaders(snapshot) ?? { actions: ownerships(snapshot) };
}

function held(reason: "AdoptionRefused" | "AdoptionIncomplete", message: string): StepResult {
  return { waits: [{ step, reason, message, retryAfterMs }], isUnfinished: true, stop: true };
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
