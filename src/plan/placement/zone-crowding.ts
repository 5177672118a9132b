// Storage or log processes that share zones although nodes offer more, as happens while nodes are closed or away, keep one
// that is to go: without it the data would be in too few zones. Nothing moves by itself: one of those that share a zone is
// replaced, and the scheduler prefers another node for its successor. Rules: spec/removal.md [R112].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isPackingEnabled } from "../../api/packing.ts";
import { isOverRegions } from "../../model/database-configuration.ts";
import { localityKeys, localityOf, processesByInstance } from "../../model/locality.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { configurationInForce } from "../configuration/configuration-in-force.ts";
import type { HallKind } from "../safety/hall-policy.ts";
import { leavingIds } from "../safety/hall-readiness.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { cheapestFirst } from "../view/removal-cost.ts";
import type { Misplaced } from "./hall-balance.ts";
import { dataKinds, isTried, lastingZoneProblems, membersOf } from "./hall-crowding.ts";
import { openZones } from "./halls-offered.ts";

export function crowdedZones(snapshot: Snapshot, draft: Draft): readonly Misplaced[] {
  const status = databaseStatus(snapshot);
  if (status === undefined) return [];
  const configuration = configurationInForce(snapshot, draft, status);
  const mode = configuration.redundancy_mode;
  // Logical fault domains and halls are given to process groups; no scheduler finds them.
  if (isPackingEnabled(snapshot.cluster.spec) || isOverRegions(configuration)) return [];
  if (redundancyOf(mode).spreadLocality !== undefined) return [];
  const leaving = leavingIds(draft.groups);
  const problems = lastingZoneProblems(draft, status, leaving, mode);
  if (problems.length === 0) return [];
  const processes = processesByInstance(snapshot, status);
  const zoneOf = ({ processGroupID }: ProcessGroup): string => {
    const [process] = processes.get(processGroupID) ?? [];
    return process === undefined ? "" : localityOf(process, localityKeys.zone);
  };
  const oneOf = (kind: HallKind): readonly Misplaced[] => {
    const members = membersOf(draft, kind);
    const staying = members.filter(({ processGroupID }) => !leaving.has(processGroupID));
    const zones = Map.groupBy(staying, zoneOf);
    const sharing = staying.filter((group) => (zones.get(zoneOf(group))?.length ?? 0) > 1);
    const [group] = cheapestFirst(snapshot, sharing, status);
    if (group === undefined || isTried(snapshot, draft, members, group)) return [];
    const open = openZones(snapshot, group.processClass, "");
    if (![...open].some((zone) => !zones.has(zone))) return [];
    const neighbour = zones.get(zoneOf(group))?.find((other) => other !== group);
    const cause =
      `it shares zone ${zoneOf(group)} with ${neighbour?.processGroupID}, ` +
      `and ${mode ?? "the mode"} needs ${redundancyOf(mode).minimumFaultDomains} zones`;
    return [{ group, cause, isFree: true }];
  };
  return dataKinds.filter((kind) => problems.some(({ concerns }) => concerns(kind))).flatMap(oneOf);
}
