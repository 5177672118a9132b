// What works, but less safely than it could: the condition Warning tells it as long as it is so.
// Rules: spec/halls.md [HALL17], [HALL35], [HALL37].
import { reducedCount } from "../../model/coordinator-choice.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";
import { redundancyForCounts, redundancyOf } from "../../model/redundancy.ts";
import { servingCoordinators } from "../coordinators/coordinator-hosts.ts";
import { coordinatorInput, zonesPerHall, zonesStoodIn } from "../coordinators/coordinator-wish.ts";
import { hallWaits } from "../placement/halls-offered.ts";
import { zoneCount } from "../safety/hall-policy.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, PlanWarning } from "../step.ts";

const fullZones = 3;

/** Halls that are not what the mode needs, and coordinators that bear less than they could. */
export function hallWarnings(snapshot: Snapshot, draft: Draft): PlanWarning[] {
  const { spreadLocality } = redundancyForCounts(draft.desired.configuration.redundancy_mode);
  if (spreadLocality === undefined || draft.status.configured !== true) return [];
  return [
    ...missingHalls(snapshot, draft),
    ...coordinatorWarnings(snapshot, draft, spreadLocality),
  ];
}

/** A database that runs is as specified all the same, and then no wait tells it. */
function missingHalls(snapshot: Snapshot, draft: Draft): PlanWarning[] {
  return hallWaits(snapshot, draft).map(({ reason, message }) => ({
    reason,
    message: `${message}.`,
  }));
}

/** Two zones in a hall are allowed, but then a hall and one more zone cannot be lost. */
function coordinatorWarnings(
  snapshot: Snapshot,
  draft: Draft,
  spreadLocality: "data_hall" | "dcid",
): PlanWarning[] {
  const status = databaseStatus(snapshot);
  const lacks = lacksOf(zonesPerHall(snapshot, draft, spreadLocality, status), "offers");
  const cost =
    spreadLocality === "dcid"
      ? "with two zones in a datacenter no zone can be lost without losing availability"
      : "with two zones in a hall, a hall and one more zone cannot be lost";
  if (lacks !== "") {
    const message = `${lacks} for coordinators, ${fullZones} are needed for nine of them: there are five, and ${cost}`;
    return [{ reason: "TwoZonesPerHall", message }];
  }
  const crowded = status === undefined ? undefined : crowdedBy(snapshot, draft, status);
  if (crowded === undefined) return [];
  const used = lacksOf(zonesStoodIn(snapshot, draft), "uses");
  if (used === "") return [];
  const message =
    `${used} for coordinators although there are others, ${fullZones} are needed for nine of ` +
    `them: ${crowded}, and ${cost}. Replace a process group that shares its host with others.`;
  return [{ reason: "CoordinatorsReduced", message }];
}

/** What became of the coordinators, as a clause; undefined when they are nine in nine zones. */
function crowdedBy(snapshot: Snapshot, draft: Draft, status: DatabaseStatus): string | undefined {
  const { wish, configuration } = coordinatorInput(snapshot, draft, status);
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  if (spreadLocality === undefined) return undefined;
  if (wish?.count === reducedCount) return "there are five";
  const serving = servingCoordinators(status);
  const zones = new Set(serving.map((process) => localityOf(process, localityKeys.zone)));
  return zones.size < serving.length ? "some of them share a zone" : undefined;
}

/** Halls with too few zones for nine coordinators, as a clause; "" when there are none. */
function lacksOf(halls: ReadonlyMap<string, number>, verb: string): string {
  return [...halls]
    .filter(([, zones]) => zones < fullZones)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([hall, zones]) => `hall ${hall} ${verb} ${zoneCount(zones)}`)
    .join(", ");
}
