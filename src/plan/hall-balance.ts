// Process groups in a hall that has too many of their class. They cannot move, so they are replaced, or a shrink takes
// them first. Rules: spec/halls.md [HALL10], [HALL11].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { hallSpreadOf } from "../api/hall-spread.ts";
import { surplusBins, targetSizes, victimBins } from "../model/even-spread.ts";
import { processesByInstance } from "../model/locality.ts";
import { processClasses } from "../model/process-class.ts";
import { hallOf, isExcluded, isMarkedForRemoval } from "../model/process-group.ts";
import { desiredOf, hallCounts } from "./hall-placement.ts";
import { hallsOffered } from "./halls-offered.ts";
import { hasRole } from "./removal-targets.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";

export interface Misplaced {
  readonly group: ProcessGroup;
  /** As a clause. */
  readonly cause: string;
}

/** Process groups above the share of their hall, at most one hall's worth of a class on the move at a time. */
export function misplacedGroups(snapshot: Snapshot, draft: Draft): readonly Misplaced[] {
  if (hallSpreadOf(snapshot.cluster.spec) === undefined) return [];
  return processClasses.flatMap((processClass) => {
    const desired = desiredOf(draft, processClass);
    const members = draft.groups.filter((group) => group.processClass === processClass);
    if (desired === 0 || members.length === 0) return [];
    const offered = hallsOffered(snapshot, draft.groups, processClass);
    if (offered === undefined || !offered.ok) return [];
    const counts = hallCounts(members, processClass);
    const bins = victimBins(counts, desired, offered.halls);
    if (bins.length === 0) return [];
    const share = Math.ceil(desired / offered.halls.length);
    const moving = members.filter((group) => isMarkedForRemoval(group) && !isExcluded(group));
    const chosen = bins.slice(0, Math.max(0, share - moving.length));
    const targets = targetSizes(counts, desired, offered.halls);
    return takenFrom(snapshot, members, chosen).map((group) => {
      const hall = hallOf(group);
      const [is, should] = [counts.get(hall) ?? 0, targets.get(hall) ?? 0];
      return { group, cause: `hall ${hall} has ${is} ${processClass} process groups of ${should}` };
    });
  });
}

/** The halls from which a shrink takes, and how many from each; undefined when there are no halls. */
export function shrinkByHall(
  draft: Draft,
  processClass: string,
  surplus: number,
): ReadonlyMap<string, number> | undefined {
  const counts = hallCounts(draft.groups, processClass);
  const known = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const members = draft.groups.filter(
    (group) => group.processClass === processClass && !isMarkedForRemoval(group),
  );
  if (counts.size === 0 || known < members.length) return undefined;
  const halls = [...counts.keys()].sort();
  const targets = targetSizes(counts, desiredOf(draft, processClass), halls);
  const taken = new Map<string, number>();
  for (const hall of surplusBins(counts, targets).slice(0, surplus)) {
    taken.set(hall, (taken.get(hall) ?? 0) + 1);
  }
  return taken;
}

/** In each hall the ones whose loss costs least: no coordinators, and from the zone with most members. */
function takenFrom(
  snapshot: Snapshot,
  members: readonly ProcessGroup[],
  halls: readonly string[],
): readonly ProcessGroup[] {
  const status = databaseStatus(snapshot);
  const processes = status === undefined ? undefined : processesByInstance(status);
  const isCoordinator = (group: ProcessGroup): boolean =>
    (processes?.get(group.processGroupID) ?? []).some((each) => hasRole(each, "coordinator"));
  const byHall = new Map<string, ProcessGroup[]>();
  for (const group of members) {
    if (isMarkedForRemoval(group)) continue;
    const sharing = byHall.get(hallOf(group));
    if (sharing) sharing.push(group);
    else byHall.set(hallOf(group), [group]);
  }
  const chosen: ProcessGroup[] = [];
  for (const hall of new Set(halls)) {
    const wanted = halls.filter((each) => each === hall).length;
    const free = (byHall.get(hall) ?? []).toSorted(
      (a, b) => Number(isCoordinator(a)) - Number(isCoordinator(b)),
    );
    chosen.push(...fromFullestZones(free, wanted));
  }
  return chosen;
}

/** Round by round one of the zone that has most of them left; among equals the order given decides. */
function fromFullestZones(groups: readonly ProcessGroup[], count: number): ProcessGroup[] {
  const left = new Map<string, number>();
  const zoneOf = (group: ProcessGroup): string => group.faultDomain ?? "";
  for (const group of groups) left.set(zoneOf(group), (left.get(zoneOf(group)) ?? 0) + 1);
  const rest = [...groups];
  const chosen: ProcessGroup[] = [];
  while (chosen.length < count && rest.length > 0) {
    let best = 0;
    for (const [index, group] of rest.entries()) {
      const fullest = left.get(zoneOf(rest[best] ?? group)) ?? 0;
      if ((left.get(zoneOf(group)) ?? 0) > fullest) best = index;
    }
    const [taken] = rest.splice(best, 1);
    if (taken === undefined) break;
    left.set(zoneOf(taken), (left.get(zoneOf(taken)) ?? 0) - 1);
    chosen.push(taken);
  }
  return chosen;
}
