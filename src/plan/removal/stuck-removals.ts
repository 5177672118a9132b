// Objects of process groups that have left the database, which Kubernetes does not delete: the cluster is as specified
// all the same, so no wait tells of them, but a warning does. Rules: spec/removal.md [R76], spec/explain.md [E50].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { conditionOf } from "../../model/process-group.ts";
import type { PlanWarning } from "../step.ts";
import { claimsOf } from "../volumes/own-claims.ts";
import { holdersOf } from "../pods/pod-trouble.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { nameList } from "../wait.ts";
import { viewOf } from "../view/cluster-view.ts";

/** Objects that Kubernetes has not deleted for longer than this are no work of ours. */
const slowDeletionMs = 60_000;

/** It left, and its objects are going: a matter of seconds, unless somebody holds them. */
export function isEnding({ nowMs }: Pick<Snapshot, "nowMs">, group: ProcessGroup): boolean {
  const sinceSeconds = conditionOf(group, "ResourcesTerminating")?.timestamp;
  return sinceSeconds !== undefined && nowMs - sinceSeconds * 1000 < slowDeletionMs;
}

export function stuckRemovals(snapshot: Snapshot, draft: Draft): PlanWarning[] {
  const stuck = draft.groups.flatMap((group) => stuckObjects(snapshot, group));
  if (stuck.length === 0) return [];
  const message =
    `Kubernetes has been deleting ${nameList(stuck)} for more than a minute. ` +
    "Their process groups have left the database, but stay listed and excluded until these objects are gone: " +
    "look at their finalizers, and at the node of a pod.";
  return [{ reason: "DeletionStuck", message }];
}

function stuckObjects(snapshot: Snapshot, group: ProcessGroup): string[] {
  if (conditionOf(group, "ResourcesTerminating") === undefined || isEnding(snapshot, group)) {
    return [];
  }
  const pod = viewOf(snapshot).of(group).pod;
  const claims = claimsOf(snapshot, group).map(
    (claim) => ["persistentvolumeclaim", claim] as const,
  );
  const objects = [...(pod === undefined ? [] : [["pod", pod] as const]), ...claims];
  return objects
    .filter(([, { metadata }]) => metadata.deletionTimestamp !== undefined)
    .map(([kind, object]) => {
      const holders = holdersOf(object);
      return `${kind}/${object.metadata.name}${holders === "" ? "" : ` (${holders})`}`;
    });
}
