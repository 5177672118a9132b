// Step adoptVolumes: brings a database back from its disks. The process groups have been found by the labels of the claims
// already; here it is decided whether anything may be started on them, and the resource becomes their owner again.
// Rules: spec/adoption.md [ADO1]-[ADO4].
import { ownerReferenceTo } from "../../build/labels.ts";
import { labelsOf } from "../../api/effective.ts";
import type { Action } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { gapOf, missingCoordinators, mixtureOf } from "./adoption.ts";

const step = "adoptVolumes";
const retryAfterMs = 60_000;

export function adoptVolumes(snapshot: Snapshot, draft: Draft): StepResult {
  const { adoptable, claimsProblem } = snapshot;
  if (adoptable === undefined || claimsProblem !== undefined) return nothing;
  const mixture = mixtureOf(snapshot, adoptable);
  if (mixture !== undefined) return held("AdoptionRefused", mixture);
  const { connectionString = "" } = draft.status;
  const gap =
    gapOf(snapshot, adoptable, draft.desired.counts) ??
    (connectionString === ""
      ? undefined
      : missingCoordinators(snapshot, adoptable, connectionString));
  if (gap !== undefined) return held("AdoptionIncomplete", gap);
  if (connectionString !== "") return { actions: ownerships(snapshot) };
  const message = "The connection string of the database that spec.adopt brings back is not known";
  const remedy =
    "Put the text of fdb.cluster, which lies beside the data on each volume (mount one in a pod of your own) or in a backup of the ConfigMap, into spec.seedConnectionString.";
  return {
    waits: [{ step, reason: "ConnectionStringLost", message, remedy, retryAfterMs }],
    isUnfinished: true,
    stop: true,
  };
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
