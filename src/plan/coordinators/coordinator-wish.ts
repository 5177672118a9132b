// How many coordinators a database should have, and how many of them may share a zone or a hall. With halls it depends on
// the zones that each hall offers, whoever is alive right now: an outage never makes the set smaller.
// Rules: spec/halls.md [HALL15]-[HALL17].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import { isPackingEnabled } from "../../api/packing.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import {
  coordinatorHardLimits,
  coordinatorsOverHalls,
  desiredCoordinatorCount,
  isEligibleClass,
  reducedCount,
  wishOver,
} from "../../model/coordinator-choice.ts";
import type { CoordinatorWish } from "../../model/coordinator-choice.ts";
import { isOverRegions } from "../../model/database-configuration.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  localityKeys,
  localityOf,
  processesByInstance,
  processesOf,
} from "../../model/locality.ts";
import {
  hallOf,
  isAwaitingExclusion,
  isExcluded,
  isMarkedForRemoval,
  isReadyForRemoval,
} from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import type { CoordinatorChoiceInput } from "./choose-coordinators.ts";
import { zonesOffered } from "../placement/halls-offered.ts";
import { configurationInForce } from "../configuration/configuration-in-force.ts";
import { pickCoordinators } from "./coordinator-candidates.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { leavingAnywhere } from "../view/shared-sets.ts";
import { isNodeReady } from "../safety/view.ts";
import { viewOf } from "../view/cluster-view.ts";

const hallCount = 3;
const fullZones = 3;

type Wishing = Pick<Draft, "groups" | "desired" | "status">;

/** What a judgement of the coordinators looks at. */
export function coordinatorInput(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): CoordinatorChoiceInput {
  const configuration = configurationInForce(snapshot, draft, status);
  const { connectionString = "" } = draft.status;
  return {
    memory: snapshot.memory,
    spec: snapshot.cluster.spec,
    configuration,
    connectionString,
    status,
    avoided: leavingGroups(snapshot, draft),
    abandoned: new Set(
      draft.groups
        .filter((group) => isMarkedForRemoval(group) && group.exclusionSkipped === true)
        .map((group) => group.processGroupID),
    ),
    wish: coordinatorWish(snapshot, draft, configuration, status),
    // Nobody else asks, and it looks at every process group.
    isSettled: maySpread(configuration) && isPlacementSettled(snapshot, draft, status),
  };
}

export function coordinatorWish(
  snapshot: Snapshot,
  draft: Wishing,
  configuration: DatabaseConfiguration,
  status: DatabaseStatus | undefined,
): CoordinatorWish {
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  const hardLimits = coordinatorHardLimits(configuration);
  const count = desiredCoordinatorCount(configuration);
  if (spreadLocality === undefined || !(spreadLocality in hardLimits)) return { count, hardLimits };
  const present = coordinatorsOf(draft.status.connectionString ?? "").length;
  const halls = zonesPerHall(snapshot, draft, spreadLocality, status);
  const chosen = coordinatorsOverHalls([...halls.values()]);
  if (chosen !== undefined) {
    const wish = wishOver(spreadLocality, chosen.count);
    if (chosen.count === present || present !== reducedCount || status === undefined) return wish;
    const isPossible = canGrow(snapshot, draft, wish, configuration, status);
    return isPossible ? wish : wishOver(spreadLocality, reducedCount);
  }
  // Too few zones are no reason to take coordinators away from halls that are out of sight.
  return wishOver(spreadLocality, present === reducedCount ? reducedCount : count);
}

/** Over halls and regions other sets will do when the full one cannot be had. */
function maySpread(configuration: DatabaseConfiguration): boolean {
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  return spreadLocality !== undefined || isOverRegions(configuration);
}

/** Five become nine when nine can be found, and not while some of their processes are still to be taken out. */
function canGrow(
  snapshot: Snapshot,
  draft: Wishing,
  wish: CoordinatorWish,
  configuration: DatabaseConfiguration,
  status: DatabaseStatus,
): boolean {
  if (draft.groups.some(isAwaitingExclusion)) return false;
  const { spec } = snapshot.cluster;
  const avoided = leavingGroups(snapshot, draft);
  return pickCoordinators({ spec, status, avoided, configuration }, wish).missing === 0;
}

/** By hall, how many zones can hold a coordinator. */
export function zonesPerHall(
  snapshot: Snapshot,
  draft: Wishing,
  key: "data_hall" | "dcid",
  status: DatabaseStatus | undefined,
): ReadonlyMap<string, number> {
  const isOwn = hallSpreadOf(snapshot.cluster.spec)?.key === key;
  const own = isOwn ? ownZones(snapshot, draft) : noZones;
  // The other halls may be those of other resources; before there is a status nobody knows of them.
  if (isOwn && (own.size >= hallCount || status === undefined)) return own;
  return withForeignZones(snapshot, draft, key, status, own);
}

const noZones: ReadonlyMap<string, number> = new Map();

/**
 * Zones of nodes, and of process groups that have reported once; no more than there are process groups to use them. What
 * is to go leaves no zone behind, where nodes tell which there are.
 */
function ownZones(snapshot: Snapshot, draft: Wishing): ReadonlyMap<string, number> {
  const { coordinatorSelection } = snapshot.cluster.spec;
  const zones = new Map<string, Set<string>>();
  const users = new Map<string, number>();
  const note = (hall: string, zone: string): void => {
    const found = zones.get(hall) ?? new Set<string>();
    zones.set(hall, found.add(zone));
  };
  const isEligible = (processClass: string): boolean =>
    isEligibleClass(processClass, coordinatorSelection);
  // Logical fault domains are the zones of a packed cluster, whatever hosts there are.
  const classes = isPackingEnabled(snapshot.cluster.spec) ? [] : Object.keys(draft.desired.counts);
  let areNodesKnown = false;
  for (const processClass of classes.filter(isEligible)) {
    const offered = zonesOffered(snapshot, processClass);
    areNodesKnown ||= offered !== undefined;
    for (const [hall, found] of offered ?? []) for (const zone of found) note(hall, zone);
  }
  for (const group of draft.groups.filter(
    (each) => isUsable(each) && isEligible(each.processClass),
  )) {
    const hall = hallOf(group);
    if (!isMarkedForRemoval(group)) users.set(hall, (users.get(hall) ?? 0) + 1);
    else if (areNodesKnown) continue;
    if ((group.faultDomain ?? "") !== "") note(hall, group.faultDomain ?? "");
  }
  return new Map(
    [...users].map(([hall, count]) => [hall, Math.min(count, zones.get(hall)?.size ?? 0)]),
  );
}

function isUsable(group: ProcessGroup): boolean {
  return hallOf(group) !== "" && !isReadyForRemoval(group);
}

/**
 * Halls of other resources are known only by what reports. A hall out of sight counts as whole, and with nine
 * coordinators all do: who is gone comes back.
 */
function withForeignZones(
  snapshot: Snapshot,
  draft: Wishing,
  key: "data_hall" | "dcid",
  status: DatabaseStatus | undefined,
  own: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const { coordinatorSelection } = snapshot.cluster.spec;
  const zones = new Map<string, Set<string>>();
  for (const process of status === undefined ? [] : snapshot.memory.once(processesOf, status)) {
    const hall = localityOf(process, key);
    const isCounted = isEligibleClass(process.class_type ?? "", coordinatorSelection);
    if (hall === "" || !isCounted || process.excluded === true) continue;
    const found = zones.get(hall) ?? new Set<string>();
    zones.set(hall, found.add(localityOf(process, localityKeys.zone)));
  }
  const isWhole = coordinatorsOf(draft.status.connectionString ?? "").length > reducedCount;
  const counts = new Map(
    [...zones].map(([hall, found]) => [
      hall,
      isWhole ? Math.max(fullZones, found.size) : found.size,
    ]),
  );
  for (const [hall, count] of own) counts.set(hall, count);
  for (let index = counts.size; index < hallCount; index += 1) {
    counts.set(`out of sight ${index}`, fullZones);
  }
  return counts;
}

// Process groups that must not become coordinators: those that this or another instance removes.
// Rules: spec/restart.md [T1], spec/coordination.md [CO34].
export function leavingGroups(
  snapshot: Snapshot,
  draft: Pick<Draft, "groups" | "status">,
): ReadonlySet<string> {
  const own = draft.groups.filter(isMarkedForRemoval).map((group) => group.processGroupID);
  return new Set([...own, ...leavingAnywhere(snapshot, draft.status)]);
}

// Five coordinators over halls that could have nine: when one must leave, and the process groups that are to stay have
// come up in too few zones for nine, waiting would never end. Rules: spec/halls.md [HALL35].
/** Everything that could be a coordinator is where it will be, and no node is out whose return could change that. */
export function isPlacementSettled(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
): boolean {
  const reporting = processesByInstance(snapshot, status);
  return eligibleGroups(snapshot, draft.groups).every((group) => {
    if (reporting.has(group.processGroupID)) return true;
    return isMarkedForRemoval(group) && !isOnDeadNode(snapshot, group);
  });
}

/** A node that does not exist any more will not come back; one that is not ready may. */
function isOnDeadNode(snapshot: Snapshot, group: ProcessGroup): boolean {
  const { node } = viewOf(snapshot).of(group);
  return node !== undefined && !isNodeReady(node);
}

function eligibleGroups(
  { cluster }: Snapshot,
  groups: readonly ProcessGroup[],
): readonly ProcessGroup[] {
  const { coordinatorSelection } = cluster.spec;
  return groups.filter(
    (group) => !isExcluded(group) && isEligibleClass(group.processClass, coordinatorSelection),
  );
}

/** By hall, the zones in which those stand that are to stay. */
export function zonesStoodIn(
  snapshot: Snapshot,
  draft: Pick<Draft, "groups">,
): ReadonlyMap<string, number> {
  const zones = new Map<string, Set<string>>();
  for (const group of eligibleGroups(snapshot, draft.groups)) {
    if (isMarkedForRemoval(group) || (group.faultDomain ?? "") === "") continue;
    const hall = hallOf(group);
    zones.set(hall, (zones.get(hall) ?? new Set()).add(group.faultDomain ?? ""));
  }
  return new Map([...zones].map(([hall, found]) => [hall, found.size]));
}
