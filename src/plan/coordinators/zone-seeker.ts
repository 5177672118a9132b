// Coordinators on process groups that are to go, where those that stay came up in too few zones to take their place, as
// happens while nodes are closed or away. Nothing would ever move them. So one that shares its zone is replaced, since the
// scheduler prefers another node for its successor. Rules: spec/removal.md [R103]-[R105].
import { isAvailable } from "../../model/availability.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isPackingEnabled } from "../../api/packing.ts";
import { isEligibleClass } from "../../model/coordinator-choice.ts";
import { isOverRegions } from "../../model/database-configuration.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { hallOf, isExcluded, isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { chooseCoordinators } from "./choose-coordinators.ts";
import type { ZoneShortage } from "./choose-coordinators.ts";
import { coordinatorInput, isPlacementSettled } from "./coordinator-wish.ts";
import type { Misplaced } from "../placement/hall-balance.ts";
import { openZones } from "../placement/halls-offered.ts";
import { cheapestFirst } from "../view/removal-cost.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import { isGlobal } from "../view/shared-sets.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot, ZoneAttempt } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface ZoneSeeker extends Misplaced {
  readonly attempt: ZoneAttempt;
}

/** The one to replace now; undefined when nobody waits for a zone, or when it would be of no use. */
export function zoneSeeker(snapshot: Snapshot, draft: Draft): ZoneSeeker | undefined {
  const status = databaseStatus(snapshot);
  if (status === undefined || status.unreadable !== undefined) return undefined;
  if (!isAvailable(status)) return undefined;
  const shortage = shortageOf(snapshot, draft, status);
  if (shortage === undefined) return undefined;
  const staying = eligibleGroups(snapshot, draft);
  // A process in another zone cannot be chosen now for some other reason, such as a listener or a name that it lacks.
  if (staying.some(({ faultDomain = "" }) => !shortage.zones.has(faultDomain))) return undefined;
  for (const { group, neighbour } of sharingGroups(snapshot, staying, status)) {
    const open = openZones(snapshot, group.processClass, hallOf(group));
    const free = [...open].filter((zone) => !shortage.zones.has(zone));
    if (free.length < shortage.missing) continue;
    const { wanted, zones } = shortage;
    const offered = [...open].sort().join(" ");
    const attempt = {
      ...{ processGroupId: group.processGroupID, offered },
      ...{ zones: zones.size, wanted },
    };
    if (isInVain(snapshot.zoneAttempt, attempt)) return undefined;
    const cause =
      `it shares zone ${group.faultDomain ?? ""} with ${neighbour}, and ` +
      `${wanted} coordinators need ${wanted} zones`;
    return { group, cause, attempt, isFree: true };
  }
  return undefined;
}

/** The last successor came up where coordinators could be before, and its choice would be the same. */
function isInVain(last: ZoneAttempt | undefined, next: ZoneAttempt): boolean {
  return last !== undefined && last.offered === next.offered && next.zones <= last.zones;
}

/** It counts until nobody is to go any more: what is crowded later is another matter. */
export function lastingAttempt(snapshot: Snapshot, draft: Draft): ZoneAttempt | undefined {
  return draft.groups.some(isMarkedForRemoval) ? snapshot.zoneAttempt : undefined;
}

/** Zones are all that is missing: no process is still to come, and nobody else is still to go. */
function shortageOf(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): ZoneShortage | undefined {
  // Logical fault domains and halls are given to process groups; no scheduler finds them.
  if (isPackingEnabled(snapshot.cluster.spec)) return undefined;
  const leaving = draft.groups.filter(isMarkedForRemoval);
  const waiting = leaving.filter((group) => isCoordinator(snapshot, status, group));
  if (waiting.length === 0 || !isPlacementSettled(snapshot, draft, status)) return undefined;
  // They keep a successor from nodes that are about to be free. In global mode they stay as long as the coordinators do.
  const others = leaving.filter(
    (group) => !waiting.includes(group) && (isExcluded(group) || !isGlobal(snapshot, draft.status)),
  );
  if (others.some((group) => isStanding(snapshot, group))) return undefined;
  const input = coordinatorInput(snapshot, draft, status);
  const { spreadLocality } = redundancyOf(input.configuration.redundancy_mode);
  if (spreadLocality !== undefined || isOverRegions(input.configuration)) return undefined;
  const choice = chooseCoordinators(input);
  return choice.ok ? undefined : choice.shortage;
}

function isStanding(snapshot: Snapshot, group: ProcessGroup): boolean {
  const pod = viewOf(snapshot).of(group).pod;
  return pod !== undefined && pod.metadata.deletionTimestamp === undefined;
}

interface Sharing {
  readonly group: ProcessGroup;
  readonly neighbour: string;
}

/** Those that stay and may be coordinators. */
function eligibleGroups({ cluster }: Snapshot, { groups }: Draft): readonly ProcessGroup[] {
  const { coordinatorSelection } = cluster.spec;
  return groups.filter(
    (group) =>
      !isMarkedForRemoval(group) && isEligibleClass(group.processClass, coordinatorSelection),
  );
}

/** Those whose zone has another one of their class, so that no zone is lost with them; who moves no data first. */
function sharingGroups(
  snapshot: Snapshot,
  staying: readonly ProcessGroup[],
  status: DatabaseStatus,
): readonly Sharing[] {
  const placeOf = ({ processClass, faultDomain }: ProcessGroup): string =>
    `${processClass}/${faultDomain ?? ""}`;
  const places = Map.groupBy(staying, placeOf);
  const found = cheapestFirst(snapshot, staying, status).flatMap((group) => {
    const neighbour = places.get(placeOf(group))?.find((other) => other !== group);
    if (neighbour === undefined || isCoordinator(snapshot, status, group)) return [];
    return [{ group, neighbour: neighbour.processGroupID }];
  });
  const holdsData = ({ group }: Sharing): boolean => group.processClass === "storage";
  return [...found.filter((one) => !holdsData(one)), ...found.filter(holdsData)];
}

/** What is being done about coordinators that find too few zones, to follow what is said of those that wait. */
export function attemptNote({ zoneAttempt }: Snapshot, draft: Draft): string {
  if (zoneAttempt === undefined) return "";
  const { processGroupId: id, wanted } = zoneAttempt;
  const isUnderWay = draft.groups.some(
    (group) => group.processGroupID === id && isMarkedForRemoval(group),
  );
  return isUnderWay
    ? `; ${id} is replaced so that ${wanted} coordinators find ${wanted} zones`
    : "";
}

export const zonesRemedy =
  "Nothing while pods come up. When all of them run, those that stay share fault domains: add nodes or uncordon them. If that is not enough, " +
  "replace one that shares (processGroupsToRemove); its successor prefers another node.";
