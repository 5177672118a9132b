// Pods that stay on a drained node because a person keeps them there: their data moves away, and nobody deletes them.
// Rules: spec/drains.md [DRAIN22].
import { annotationKeys } from "../../build/labels.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { drainCause, isLeaving } from "../drains/leaving-groups.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import { nameList } from "../wait.ts";

/** What keeps the pod of a process group that leaves for good, or is about to, as a clause. */
function keptBy(snapshot: Snapshot, group: ProcessGroup): string | undefined {
  const isToGo = isMarkedForRemoval(group) || drainCause(snapshot, group) !== undefined;
  if (!isToGo) return undefined;
  const { pod } = viewOf(snapshot).of(group);
  if (pod?.metadata.annotations?.[annotationKeys.isolateProcessGroup] === "true") {
    return `the annotation ${annotationKeys.isolateProcessGroup}`;
  }
  const { spec } = snapshot.cluster;
  if (spec.buggify?.blockRemoval?.includes(group.processGroupID)) return "buggify.blockRemoval";
  const isNone = automationOf(spec).removalMode === "None";
  return isNone ? "automationOptions.removalMode: None" : undefined;
}

/** Whose pods on these nodes stay until a person lets them go, as a sentence; undefined when there are none. */
export function keptText(
  snapshot: Snapshot,
  { groups }: Draft,
  nodes: readonly string[],
): string | undefined {
  const kept = groups.flatMap((group) => {
    const { nodeName = "" } = viewOf(snapshot).of(group).pod?.spec ?? {};
    const cause = nodes.includes(nodeName) ? keptBy(snapshot, group) : undefined;
    return cause === undefined ? [] : [`${group.processGroupID} (${cause})`];
  });
  if (kept.length === 0) return undefined;
  return `Their data moves elsewhere, and their pods stay on purpose: ${nameList(kept)}`;
}

export interface Leaving {
  /** Those that the operator takes from their nodes. */
  readonly moved: readonly string[];
  /** Those whose data it moves away, and whose pods stay. */
  readonly emptied: readonly string[];
}

export function leavingGroups(snapshot: Snapshot, { groups }: Draft): Leaving {
  const leaving = groups.filter(isLeaving);
  const isKept = (group: ProcessGroup): boolean => keptBy(snapshot, group) !== undefined;
  const ids = (some: readonly ProcessGroup[]): string[] =>
    some.map(({ processGroupID }) => processGroupID);
  return {
    moved: ids(leaving.filter((group) => !isKept(group))),
    emptied: ids(leaving.filter(isKept)),
  };
}
