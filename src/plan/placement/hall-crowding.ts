// A hall whose storage or log processes share one zone although its nodes offer more keeps a database over halls from being
// created, and process groups that are to go from being excluded. Nothing moves by itself: a process group is replaced,
// and the scheduler prefers another node for its successor. Rules: spec/halls.md [HALL39].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityOf, processesByInstance } from "../../model/locality.ts";
import { isLogProcess } from "../../model/process-class.ts";
import { isAwaitingExclusion, isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import type { Misplaced } from "./hall-balance.ts";
import { desiredOf } from "./hall-placement.ts";
import { areSuccessorsUp, zoneProblems } from "../safety/exclusion-zones.ts";
import type { ZoneProblem } from "../safety/exclusion-zones.ts";
import { hallPolicy, zonesByHall, zonesPerHallMin } from "../safety/hall-policy.ts";
import type { HallKind } from "../safety/hall-policy.ts";
import { leavingIds } from "../safety/hall-readiness.ts";
import { openZones } from "./halls-offered.ts";
import { cheapestFirst } from "../view/removal-cost.ts";
import { isBeforeDatabase } from "../safety/no-database.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { operatorTimeMs } from "../view/server-time.ts";

export const dataKinds: readonly HallKind[] = ["storage", "log"];
/** A successor that found no better place is given up after so long, and another one tried. */
const attemptMs = 600_000;

export function crowdedGroups(snapshot: Snapshot, draft: Draft): readonly Misplaced[] {
  const { spreadLocality } = redundancyOf(draft.desired.configuration.redundancy_mode);
  const status = databaseStatus(snapshot);
  if (spreadLocality === undefined || status === undefined) return [];
  const isCreated = !isBeforeDatabase(snapshot);
  const leaving = leavingIds(draft.groups);
  const mode = draft.desired.configuration.redundancy_mode;
  const problems = isCreated ? lastingZoneProblems(draft, status, leaving, mode) : [];
  if (isCreated && problems.length === 0) return [];
  const processes = processesByInstance(snapshot, status);
  const hallOf = ({ processGroupID }: ProcessGroup): string => {
    const [process] = processes.get(processGroupID) ?? [];
    return process === undefined ? "" : localityOf(process, spreadLocality);
  };
  const found = dataKinds.flatMap((kind) => {
    const members = membersOf(draft, kind);
    const minimum = isCreated ? zonesHeldUp(problems, mode, kind) : zonesPerHallMin;
    const halls = zonesByHall(status, spreadLocality, kind, (id) => leaving.has(id));
    return [...halls].flatMap(([hall, zones]) => {
      const inside = members.filter(
        (group) => hallOf(group) === hall && !leaving.has(group.processGroupID),
      );
      if (zones.size >= minimum || inside.length < minimum) return [];
      const [group] = cheapestFirst(snapshot, inside, status);
      if (group === undefined || isTried(snapshot, draft, members, group)) return [];
      if (openZones(snapshot, group.processClass, hall).size < zonesPerHallMin) return [];
      const [zone = ""] = zones;
      const cause = `all ${kind} processes of hall ${hall} are in zone ${zone}, and there are others`;
      return [{ group, cause }];
    });
  });
  // Before there is a database nobody waits for zones to be excluded.
  return found.map((one, index) => ({ ...one, isFree: isCreated && index === 0 }));
}

export function membersOf({ groups }: Draft, kind: HallKind): readonly ProcessGroup[] {
  return groups.filter(({ processClass }) =>
    kind === "log" ? isLogProcess(processClass) : processClass === "storage",
  );
}

/** Of which no more zones are to come by themselves, while somebody who is to go is not excluded yet. */
export function lastingZoneProblems(
  { groups, desired }: Draft,
  status: DatabaseStatus,
  leaving: ReadonlySet<string>,
  mode: string | undefined,
): readonly ZoneProblem[] {
  if (!groups.some(isAwaitingExclusion)) return [];
  return zoneProblems(status, leaving, mode).filter(({ concerns }) =>
    areSuccessorsUp(desired, status, groups, concerns),
  );
}

/** So many zones a hall needs for those that are to go; 0 when they do not wait for that. */
function zonesHeldUp(
  problems: readonly ZoneProblem[],
  mode: string | undefined,
  kind: HallKind,
): number {
  if (!problems.some(({ concerns }) => concerns(kind))) return 0;
  return hallPolicy(mode, kind)?.zonesPerHall ?? 0;
}

/** Whether somebody was replaced for this not long ago, or a successor has not reported yet, or too many were in vain. */
export function isTried(
  snapshot: Snapshot,
  draft: Draft,
  members: readonly ProcessGroup[],
  { processClass }: ProcessGroup,
): boolean {
  const leaving = members.filter(isMarkedForRemoval);
  const isRecent = leaving.some(
    ({ removalTimestamp }) =>
      snapshot.nowMs - (operatorTimeMs(snapshot, removalTimestamp) ?? 0) < attemptMs,
  );
  return isRecent || leaving.length >= desiredOf(draft, processClass);
}
