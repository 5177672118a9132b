// Process groups that are to go are kept for their zones until successors bring others, and successors whose logical fault
// domain no node takes wait for a host that somebody leaves. So those of one host go first, where the zones of the others
// that are to go suffice. Rules: spec/packing.md [PACK49], spec/removal.md [R38].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { isExcluded, isMarkedForRemoval } from "../../model/process-group.ts";
import { waitsForHost } from "../placement/waiting-for-host.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import { zoneProblems } from "../safety/exclusion-zones.ts";
import type { ZoneProblem } from "../safety/exclusion-zones.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface Leaving {
  readonly groups: readonly ProcessGroup[];
  /** Ids of those that have room to be excluded now. */
  readonly chosen: ReadonlySet<string>;
  /** Ids of those whose exclusion has begun and not ended. */
  readonly ongoing: ReadonlySet<string>;
  readonly redundancyMode: string | undefined;
}

/** The ids of those on the host; none when nobody waits for one, or one is being left already. */
export function leaversOfHost(
  snapshot: Snapshot,
  status: DatabaseStatus,
  { groups, chosen, ongoing, redundancyMode }: Leaving,
  concerns: ZoneProblem["concerns"],
): ReadonlySet<string> {
  const kind = groups.filter(({ processClass }) => concerns(processClass));
  const isGoing = (group: ProcessGroup): boolean =>
    isMarkedForRemoval(group) && (isExcluded(group) || ongoing.has(group.processGroupID));
  const reporting = processesByInstance(snapshot, status);
  const awaited = kind.filter(
    (group) => !isMarkedForRemoval(group) && !reporting.has(group.processGroupID),
  );
  // Somebody else who is down may come up, and bring a zone.
  const doAllWait = awaited.every((group) => waitsForHost(snapshot, groups, group));
  if (awaited.length === 0 || !doAllWait || kind.some(isGoing)) return new Set();
  const hosts = Map.groupBy(kind, (group) => viewOf(snapshot).of(group).pod?.spec?.nodeName ?? "");
  hosts.delete("");
  const coordinatorsOn = (members: readonly ProcessGroup[]): number =>
    members.filter((group) => isCoordinator(snapshot, status, group)).length;
  // Coordinators may have to stay until others can be chosen.
  const sorted = [...hosts.values()].toSorted(
    (a, b) => coordinatorsOn(a) - coordinatorsOn(b) || a.length - b.length,
  );
  for (const members of sorted) {
    const ids = new Set(members.map(({ processGroupID }) => processGroupID));
    // All processes are looked at for their zones: not for each host that somebody else is on.
    if (members.some(({ processGroupID }) => !chosen.has(processGroupID))) continue;
    const problems = zoneProblems(status, ids, redundancyMode);
    const isFree = members.every(
      ({ processClass }) => !problems.some((problem) => problem.concerns(processClass)),
    );
    if (isFree) return ids;
  }
  return new Set();
}
