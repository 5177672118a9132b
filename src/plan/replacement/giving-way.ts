// A removal that has no room to be excluded gives its place in the bucket to the failed process group that it waits for.
// Otherwise each waits for the other: the failed one for the place, the removal for a class that is complete again.
// Rules: spec/buckets.md [BKT15], [BKT17], spec/removal.md [R39].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isTransactionSystem } from "../../model/process-class.ts";
import { isAwaitingExclusion, isMarkedForRemoval } from "../../model/process-group.ts";
import {
  exclusionBudget,
  missingForMs,
  missingGraceMs,
  spareProcesses,
} from "../safety/exclusion-budget.ts";

export interface ClassesNow {
  readonly groups: readonly ProcessGroup[];
  readonly counts: Readonly<Record<string, number | undefined>>;
  readonly redundancyMode: string | undefined;
  /** Ids of those that are to be replaced, if there is a place. */
  readonly failed: ReadonlySet<string>;
  readonly isExcluded: (group: ProcessGroup) => boolean;
  readonly nowMs: number;
}

/** By id of a removal, the classes of which a failed process group has to be replaced before it can be excluded. */
export type GivingWay = ReadonlyMap<string, ReadonlySet<string>>;

export function removalsThatGiveWay(now: ClassesNow): GivingWay {
  const stuck = [...classesOf(now)].filter((processClass) => isStuck(now, processClass));
  const holding = stuck.filter((processClass) => holdsOthers(now, processClass));
  const found = new Map<string, ReadonlySet<string>>();
  for (const group of now.groups) {
    const { processGroupID, processClass } = group;
    if (!isLeaving(now, group)) continue;
    const isServing = missingForMs(group, now.nowMs) === undefined;
    const own = stuck.filter((other) => other === processClass && isServing);
    const others = isTransactionSystem(processClass)
      ? holding.filter((other) => other !== processClass)
      : [];
    if (own.length + others.length > 0) found.set(processGroupID, new Set([...own, ...others]));
  }
  return found;
}

function classesOf({ groups, failed }: ClassesNow): ReadonlySet<string> {
  return new Set(
    groups.flatMap((group) => (failed.has(group.processGroupID) ? group.processClass : [])),
  );
}

function isLeaving(now: ClassesNow, group: ProcessGroup): boolean {
  return isAwaitingExclusion(group) && !now.isExcluded(group);
}

/** All classes of the transaction system wait for one of which nobody can go. Who is gone for long needs no room. */
function holdsOthers(now: ClassesNow, processClass: string): boolean {
  if (!isTransactionSystem(processClass)) return false;
  const leaving = now.groups.filter(
    (group) => group.processClass === processClass && isLeaving(now, group),
  );
  const isNobodyGone = leaving.every(
    (group) => (missingForMs(group, now.nowMs) ?? 0) < missingGraceMs,
  );
  return leaving.length > 0 && isNobodyGone;
}

/** Whether waiting does not help: everybody who may still come up is taken to be there, and those who are yet to be made. */
function isStuck(now: ClassesNow, processClass: string): boolean {
  const groups = now.groups.filter((group) => group.processClass === processClass);
  const desired = now.counts[processClass] ?? 0;
  const staying = groups.filter((group) => !isMarkedForRemoval(group));
  const hopeful = groups.map((group) =>
    staying.includes(group) && !now.failed.has(group.processGroupID)
      ? { ...group, processGroupConditions: [] }
      : group,
  );
  const toCome = Array.from({ length: Math.max(0, desired - staying.length) }, (_, index) => ({
    processGroupID: `to come ${index}`,
    processClass,
  }));
  const { room } = exclusionBudget({
    groups: [...hopeful, ...toCome],
    desired,
    faultTolerance: spareProcesses(now.redundancyMode, desired),
    ongoing: new Set(groups.filter(now.isExcluded).map((group) => group.processGroupID)),
    nowMs: now.nowMs,
  });
  return room <= 0;
}
