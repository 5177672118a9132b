// A removal that has no room to be excluded gives its place in the bucket to the failed process group that it waits for.
// Otherwise each waits for the other: the failed one for the place, the removal for a class that is complete again.
// Rule: spec/buckets.md [BKT15].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isAwaitingExclusion, isMarkedForRemoval } from "../../model/process-group.ts";
import { exclusionBudget, missingForMs, spareProcesses } from "../safety/exclusion-budget.ts";

export interface ClassesNow {
  readonly groups: readonly ProcessGroup[];
  readonly counts: Readonly<Record<string, number | undefined>>;
  readonly redundancyMode: string | undefined;
  /** Ids of those that are to be replaced, if there is a place. */
  readonly failed: ReadonlySet<string>;
  readonly isExcluded: (group: ProcessGroup) => boolean;
  readonly nowMs: number;
}

/** Ids of removals that are not excluded before a failed process group of their class has been replaced. */
export function removalsThatGiveWay(now: ClassesNow): ReadonlySet<string> {
  const found = new Set<string>();
  for (const processClass of classesOf(now)) {
    const groups = now.groups.filter((group) => group.processClass === processClass);
    if (hasRoomWithoutFailed(now, groups, now.counts[processClass] ?? 0)) continue;
    for (const group of groups) {
      const isServing = missingForMs(group, now.nowMs) === undefined;
      if (isAwaitingExclusion(group) && isServing && !now.isExcluded(group)) {
        found.add(group.processGroupID);
      }
    }
  }
  return found;
}

function classesOf({ groups, failed }: ClassesNow): ReadonlySet<string> {
  return new Set(
    groups.flatMap((group) => (failed.has(group.processGroupID) ? group.processClass : [])),
  );
}

/** Whether waiting helps: everybody who may still come up is taken to be there, and those who are yet to be made. */
function hasRoomWithoutFailed(
  now: ClassesNow,
  groups: readonly ProcessGroup[],
  desired: number,
): boolean {
  const staying = groups.filter((group) => !isMarkedForRemoval(group));
  const hopeful = groups.map((group) =>
    staying.includes(group) && !now.failed.has(group.processGroupID)
      ? { ...group, processGroupConditions: [] }
      : group,
  );
  const toCome = Array.from({ length: Math.max(0, desired - staying.length) }, (_, index) => ({
    processGroupID: `to come ${index}`,
    processClass: groups[0]?.processClass ?? "",
  }));
  const { room } = exclusionBudget({
    groups: [...hopeful, ...toCome],
    desired,
    faultTolerance: spareProcesses(now.redundancyMode, desired),
    ongoing: new Set(groups.filter(now.isExcluded).map((group) => group.processGroupID)),
    nowMs: now.nowMs,
  });
  return room > 0;
}
