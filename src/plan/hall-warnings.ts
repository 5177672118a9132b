// What works, but less safely than the mode can: the condition Warning tells it. Rules: spec/halls.md [HALL17].
import { redundancyForCounts } from "../model/redundancy.ts";
import { zonesPerHall } from "./coordinator-wish.ts";
import { zoneCount } from "./hall-policy.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";

export interface PlanWarning {
  readonly reason: string;
  readonly message: string;
}

const fullZones = 3;

/** Two zones in a hall are allowed, but then a hall and one more zone cannot be lost. */
export function hallWarnings(snapshot: Snapshot, draft: Draft): PlanWarning[] {
  const { spreadLocality } = redundancyForCounts(draft.desired.configuration.redundancy_mode);
  if (spreadLocality === undefined || draft.status.configured !== true) return [];
  const halls = zonesPerHall(snapshot, draft, spreadLocality, databaseStatus(snapshot));
  const poor = [...halls]
    .filter(([, zones]) => zones < fullZones)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (poor.length === 0) return [];
  const lacks = poor.map(([hall, zones]) => `hall ${hall} offers ${zoneCount(zones)}`).join(", ");
  const cost =
    spreadLocality === "dcid"
      ? "with two zones in a datacenter no zone can be lost without losing availability"
      : "with two zones in a hall, a hall and one more zone cannot be lost";
  const message = `${lacks} for coordinators, ${fullZones} are needed for nine of them: there are five, and ${cost}`;
  return [{ reason: "TwoZonesPerHall", message }];
}
