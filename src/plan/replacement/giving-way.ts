// A removal that has no room to be excluded, or would leave too few zones, gives its place in the bucket to the failed
// process group that it waits for. Otherwise each waits for the other: the failed one for the place, the removal for a class
// that is complete again. Rules: spec/buckets.md [BKT15], [BKT17], [BKT18], spec/removal.md [R38], [R39].
import type { Remembering } from "../../env/memory.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { isTransactionSystem } from "../../model/process-class.ts";
import { isAwaitingExclusion, isMarkedForRemoval } from "../../model/process-group.ts";
import {
  exclusionBudget,
  missingForMs,
  missingGraceMs,
  spareProcesses,
} from "../safety/exclusion-budget.ts";
import { areSuccessorsUp, zoneProblems } from "../safety/exclusion-zones.ts";

export interface ClassesNow {
  readonly view: Remembering;
  readonly status: DatabaseStatus;
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
  const rooms = [...classesOf(now)].map((processClass) => ({
    processClass,
    room: roomOf(now, processClass),
  }));
  const stuck = rooms.flatMap(({ processClass, room }) => (room <= 0 ? processClass : []));
  const holding = stuck.filter((processClass) => holdsOthers(now, processClass));
  const tooFewZones = rooms.flatMap(({ processClass, room }) =>
    lacksZones(now, processClass, room) ? processClass : [],
  );
  const found = new Map<string, ReadonlySet<string>>();
  for (const group of now.groups) {
    const { processGroupID, processClass } = group;
    if (!isLeaving(now, group)) continue;
    const isServing = missingForMs(group, now.nowMs) === undefined;
    // For the zones of those that serve, those wait, too, that are gone.
    const waitedFor = isServing ? [...stuck, ...tooFewZones] : tooFewZones;
    const own = waitedFor.filter((other) => other === processClass);
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

/**
 * How many may go when everybody who may still come up is taken to be there, and those who are yet to be made. Without room
 * waiting does not help.
 */
function roomOf(now: ClassesNow, processClass: string): number {
  const groups = now.groups.filter((group) => group.processClass === processClass);
  const desired = now.counts[processClass] ?? 0;
  const hopeful = groups.map((group) =>
    isMarkedForRemoval(group) || now.failed.has(group.processGroupID)
      ? group
      : { ...group, processGroupConditions: [] },
  );
  const toCome = Array.from({ length: missingCount(now, processClass) }, (_, index) => ({
    processGroupID: `to come ${index}`,
    processClass,
  }));
  return exclusionBudget({
    groups: [...hopeful, ...toCome],
    desired,
    faultTolerance: spareProcesses(now.redundancyMode, desired),
    ongoing: new Set(groups.filter(now.isExcluded).map((group) => group.processGroupID)),
    nowMs: now.nowMs,
  }).room;
}

/** Those that are yet to be made. */
function missingCount({ groups, counts }: ClassesNow, processClass: string): number {
  const staying = groups.filter(
    (group) => group.processClass === processClass && !isMarkedForRemoval(group),
  );
  return Math.max(0, (counts[processClass] ?? 0) - staying.length);
}

/** Whether those that have room may not go for their zones, failed ones are down, and nobody else is to bring a zone. */
function lacksZones(now: ClassesNow, processClass: string, room: number): boolean {
  const { view, status } = now;
  const leaving = now.groups.filter(
    (group) => group.processClass === processClass && isLeaving(now, group),
  );
  const present = leaving.filter((group) => missingForMs(group, now.nowMs) === undefined);
  const next = new Set(present.slice(0, Math.max(0, room)).map((group) => group.processGroupID));
  return zoneProblems(status, next, now.redundancyMode).some(({ concerns }) => {
    const hopeful = now.groups.filter((group) => !now.failed.has(group.processGroupID));
    const areAllMade = Object.keys(now.counts)
      .filter(concerns)
      .every((each) => missingCount(now, each) === 0);
    const areFailedDown = !areSuccessorsUp(view, status, now.groups, concerns);
    return areAllMade && areFailedDown && areSuccessorsUp(view, status, hopeful, concerns);
  });
}
