// Process groups in a hall that has too many of their class. They cannot move, so they are replaced, or a shrink takes
// them first. Rules: spec/halls.md [HALL10], [HALL11].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import { surplusBins, targetSizes, victimBins } from "../../model/even-spread.ts";
import { processClasses } from "../../model/process-class.ts";
import { hallOf, isAwaitingExclusion, isMarkedForRemoval } from "../../model/process-group.ts";
import { desiredOf, hallCounts } from "./hall-placement.ts";
import { hallsOffered } from "./halls-offered.ts";
import { cheapestFirst } from "../view/removal-cost.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";

export interface Misplaced {
  readonly group: ProcessGroup;
  /** As a clause. */
  readonly cause: string;
  /** It waits for no other replacement: it never ran, or those that are under way wait for its successor. */
  readonly isFree?: boolean;
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
    const moving = members.filter(isAwaitingExclusion);
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

/** In each hall the ones whose loss costs least, and among them those of the zone with most members. */
function takenFrom(
  snapshot: Snapshot,
  members: readonly ProcessGroup[],
  halls: readonly string[],
): readonly ProcessGroup[] {
  const staying = members.filter((group) => !isMarkedForRemoval(group));
  const byHall = Map.groupBy(cheapestFirst(snapshot, staying, databaseStatus(snapshot)), hallOf);
  return [...new Set(halls)].flatMap((hall) => {
    const wanted = halls.filter((each) => each === hall).length;
    return fromFullestZones(byHall.get(hall) ?? [], wanted);
  });
}

/** One after the other from the zone that has most of them left; among equals the order given decides. */
function fromFullestZones(groups: readonly ProcessGroup[], count: number): ProcessGroup[] {
  const zones = [...Map.groupBy(groups, ({ faultDomain = "" }) => faultDomain).values()].map(
    (members) => ({ members, taken: 0 }),
  );
  const chosen: ProcessGroup[] = [];
  while (chosen.length < Math.min(count, groups.length)) {
    const left = (zone: (typeof zones)[number]): number => zone.members.length - zone.taken;
    const fullest = zones.reduce((best, zone) => (left(zone) > left(best) ? zone : best));
    const next = fullest.members[fullest.taken];
    if (next === undefined) break;
    chosen.push(next);
    fullest.taken += 1;
  }
  return chosen;
}

// Planned work goes through one hall before it touches the next. Rules: spec/halls.md [HALL21].
/** The members of one hall: one of the preferred halls if there is any, else the first by name. All when there are no halls. */
export function membersOfOneHall<T>(
  members: readonly T[],
  hallOfMember: (member: T) => string,
  isPreferred: (member: T) => boolean,
): readonly T[] {
  const pool = members.some(isPreferred) ? members.filter(isPreferred) : members;
  const [hall = ""] = [...new Set(pool.map(hallOfMember))].sort();
  return members.filter((member) => hallOfMember(member) === hall);
}
