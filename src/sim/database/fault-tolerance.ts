// How many zones may fail: the figures of status, by the same rules as FoundationDB. Coordinators
// cap them, an old log generation that is still needed lowers them, and -1 means that a failure
// more is already too much. [FDB26]
import { mostOf } from "../../env/long-lists.ts";
import { askCoordinators } from "./coordination.ts";
import { mainDatacenter } from "./configuration-check.ts";
import type { Database, LogRole, LogSet } from "./database.ts";
import { isExcluded } from "./exclusion.ts";
import { fitnessForLog, never } from "./fitness.ts";
import { isLogAlive } from "./log-roles.ts";
import { redundancyModes, satelliteModes } from "./redundancy-policy.ts";
import { classOf } from "./server-instance.ts";
import { isFullyReplicated } from "./storage-policy.ts";

export interface FaultTolerance {
  data: number;
  availability: number;
}

export function faultTolerance(
  database: Database,
  minReplicas: number | undefined,
): FaultTolerance {
  let data = Math.min(toleratedByMode(database, false), toleratedByCoordinators(database));
  if (minReplicas !== undefined) data = Math.min(data, minReplicas - 1);
  for (const set of database.oldLogSets) data = Math.min(data, logFaultTolerance(database, set));
  const isUnderMaintenance = isMaintenanceActive(database);
  if (isUnderMaintenance) data -= 1;
  data = Math.max(data, -1);
  let availability = toleratedByMode(database, true) - (isUnderMaintenance ? 1 : 0);
  availability = Math.max(-1, Math.min(availability, spareZones(database), data));
  return { data, availability };
}

export function isMaintenanceActive(database: Database): boolean {
  const { maintenance } = database;
  return maintenance !== undefined && maintenance.untilMs > database.fabric.clock.nowMs();
}

/** With two complete regions a whole one may go in addition, as long as only data is asked for. */
function toleratedByMode(database: Database, forAvailability: boolean): number {
  const mode = redundancyModes[database.configuration.redundancyMode];
  if (!mode) return 0;
  const own = Math.min(mode.storage.replicas, mode.log.replicas) - 1;
  const isReplicated = database.configuration.usableRegions > 1 && isFullyReplicated(database);
  return own + (isReplicated && !forAvailability ? 1 : 0);
}

/** Zones that may go before the coordinators lose their majority; those already gone count. */
function toleratedByCoordinators(database: Database): number {
  const answers = askCoordinators(database.fabric, database.connection, database.version);
  const perZone = new Map<string, number>();
  let missing = 0;
  for (const { instance } of answers) {
    if (instance) perZone.set(instance.zone, (perZone.get(instance.zone) ?? 0) + 1);
    else missing += 1;
  }
  let left = Math.floor((answers.length - 1) / 2) - missing;
  let zones = 0;
  // The last zone may take more than its share: the figure is as bold as FoundationDB's own.
  for (const count of [...perZone.values()].toSorted((first, second) => second - first)) {
    if (left <= 0) break;
    left -= count;
    zones += 1;
  }
  return zones;
}

export function logFaultTolerance(database: Database, set: LogSet): number {
  return set.replication - 1 - deadLogs(database, set.primary);
}

export function deadLogs(database: Database, logs: readonly LogRole[]): number {
  return logs.filter((log) => !isLogAlive(database, log)).length;
}

/** Zones with processes for logs beyond those that the mode needs. */
function spareZones(database: Database): number {
  const { configuration } = database;
  const mode = redundancyModes[configuration.redundancyMode];
  if (!mode) return 0;
  const zones = new Map<string, Set<string>>();
  const all = new Set<string>();
  for (const instance of database.workers.values()) {
    if (fitnessForLog(classOf(database, instance)) >= never || isExcluded(database, instance))
      continue;
    const datacenter = instance.localities["dcid"] ?? "";
    let known = zones.get(datacenter);
    if (!known) zones.set(datacenter, (known = new Set()));
    known.add(instance.zone);
    all.add(instance.zone);
  }
  const needed = Math.max(mode.log.replicas, mode.storage.replicas);
  if (configuration.regions.length === 0) return all.size - needed;
  let spare = -1;
  let usable = 0;
  for (const region of configuration.regions) {
    const main = mainDatacenter(region);
    if (!main || main.priority < 0) continue;
    let eligible = (zones.get(main.id)?.size ?? 0) - needed;
    if (configuration.usableRegions > 1) {
      const satellites = satelliteModes[region.satellite_redundancy_mode ?? ""];
      const best = mostOf(
        region.datacenters
          .filter((datacenter) => datacenter.satellite === 1)
          .map((datacenter) => (zones.get(datacenter.id)?.size ?? 0) - (satellites?.replicas ?? 0)),
        -1,
      );
      if (satellites) eligible = Math.min(eligible, best);
    }
    if (eligible >= 0) usable += 1;
    spare = Math.max(spare, eligible);
  }
  return usable > 1 ? spare + 1 : spare;
}
