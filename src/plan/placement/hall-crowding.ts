// A hall whose storage or log processes share one zone although its nodes offer more keeps a database over halls from being
// created. Before there is one, nothing moves by itself: a process group is replaced, and the scheduler prefers another
// node for its successor. Rules: spec/halls.md [HALL39].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { localityOf, processesByInstance } from "../../model/locality.ts";
import { isLogProcess } from "../../model/process-class.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import type { Misplaced } from "./hall-balance.ts";
import { desiredOf } from "./hall-placement.ts";
import { zonesByHall, zonesPerHallMin } from "../safety/hall-policy.ts";
import type { HallKind } from "../safety/hall-policy.ts";
import { leavingIds } from "../safety/hall-readiness.ts";
import { openZones } from "./halls-offered.ts";
import { cheapestFirst } from "../view/removal-cost.ts";
import { isBeforeDatabase } from "../safety/no-database.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { operatorTimeMs } from "../view/server-time.ts";

const kinds: readonly HallKind[] = ["storage", "log"];
/** A successor that found no better place is given up after so long, and another one tried. */
const attemptMs = 600_000;

export function crowdedGroups(snapshot: Snapshot, draft: Draft): readonly Misplaced[] {
  const { spreadLocality } = redundancyOf(draft.desired.configuration.redundancy_mode);
  const status = databaseStatus(snapshot);
  if (spreadLocality === undefined || status === undefined || !isBeforeDatabase(snapshot)) {
    return [];
  }
  const processes = processesByInstance(status);
  const hallOf = ({ processGroupID }: ProcessGroup): string => {
    const [process] = processes.get(processGroupID) ?? [];
    return process === undefined ? "" : localityOf(process, spreadLocality);
  };
  const leaving = leavingIds(draft.groups);
  return kinds.flatMap((kind) => {
    const members = draft.groups.filter(({ processClass }) =>
      kind === "log" ? isLogProcess(processClass) : processClass === "storage",
    );
    const halls = zonesByHall(status, spreadLocality, kind, (id) => leaving.has(id));
    return [...halls].flatMap(([hall, zones]) => {
      const inside = members.filter(
        (group) => hallOf(group) === hall && !leaving.has(group.processGroupID),
      );
      if (zones.size >= zonesPerHallMin || inside.length < zonesPerHallMin) return [];
      const [group] = cheapestFirst(inside, status);
      if (group === undefined || isTried(snapshot, draft, members, group)) return [];
      if (openZones(snapshot, group.processClass, hall).size < zonesPerHallMin) return [];
      const [zone = ""] = zones;
      const cause = `all ${kind} processes of hall ${hall} are in zone ${zone}, and there are others`;
      return [{ group, cause }];
    });
  });
}

/** Whether somebody was replaced for this not long ago, or a successor has not reported yet, or too many were in vain. */
function isTried(
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
