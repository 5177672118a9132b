// Whether the primary datacenter of a database can be moved now, by what the database says of itself. Pure.
// Rules: spec/failover.md [FO3].
import { isAvailable } from "../../model/availability.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import type { DatabaseStatus, StatusProcess, StatusRegion } from "../../model/database-status.ts";
import { processesOf } from "../../model/locality.ts";

export interface Leadership {
  /** The datacenter that is the primary now. */
  readonly primary: string;
  readonly mains: readonly string[];
  readonly lagSeconds: number | undefined;
}

export function leadershipOf(status: DatabaseStatus): Leadership {
  const { configuration, active_primary_dc: primary = "" } = status.cluster ?? {};
  return {
    primary,
    mains: (configuration?.regions ?? []).flatMap((region) => mainOf(region) ?? []),
    lagSeconds: databaseFigures(status).dataCenterLagSeconds,
  };
}

function mainOf({ datacenters }: StatusRegion): string | undefined {
  return datacenters.find(({ satellite }) => satellite !== 1)?.id;
}

/** Why there is nothing to move at all; undefined when there is. */
export function shapeProblem(status: DatabaseStatus, to: string): string | undefined {
  const { configuration, database_lock_state: lock } = status.cluster ?? {};
  if (!isAvailable(status)) return "the database is not available";
  if (status.unreadable !== undefined) return "its status cannot be read as a whole";
  const { usable_regions: usable = 1, regions = [] } = configuration ?? {};
  const { mains } = leadershipOf(status);
  if (usable !== 2 || regions.length !== 2 || mains.length !== 2) {
    return `the database has no two usable regions (usable_regions ${usable}, ${regions.length} regions)`;
  }
  if (!mains.includes(to)) {
    return `${to} is no main datacenter of its regions: there are ${mains.join(" and ")}`;
  }
  if (lock?.locked === true) return `the database is locked by ${lock.lock_uid ?? "somebody"}`;
  return undefined;
}

/** Why the other side cannot take over now; undefined when it can. */
export function readinessProblem(
  status: DatabaseStatus,
  to: string,
  maxLagSeconds: number,
): string | undefined {
  const { recovery_state: recovery } = status.cluster ?? {};
  if (recovery?.name !== "fully_recovered") {
    return `the database is recovering (${recovery?.name ?? "its state is unknown"})`;
  }
  return (
    lagProblem(status, to, maxLagSeconds) ??
    replicationProblem(status) ??
    toleranceProblem(status) ??
    processProblem(status, to)
  );
}

function lagProblem(status: DatabaseStatus, to: string, maximum: number): string | undefined {
  const { lagSeconds: lag } = leadershipOf(status);
  if (lag === undefined) return `nobody knows how far ${to} is behind (datacenter_lag is missing)`;
  if (lag <= maximum) return undefined;
  const shown = Math.round(lag * 10) / 10;
  return `${to} is ${shown} s behind, and at most ${maximum} s are allowed (--max-lag)`;
}

function replicationProblem({ cluster }: DatabaseStatus): string | undefined {
  if (cluster?.full_replication !== true) return "not every region holds all data";
  const trackers = cluster.data?.team_trackers ?? [];
  if (trackers.length !== 2) return "the state of the data in both regions is not known";
  for (const { primary, state } of trackers) {
    const name = state?.name ?? "unknown";
    if (state?.healthy === true && name !== "healthy_populating_region") continue;
    return `the data of the ${primary ? "primary" : "other"} region is not healthy: ${name}`;
  }
  return undefined;
}

function toleranceProblem({ cluster }: DatabaseStatus): string | undefined {
  const {
    max_zone_failures_without_losing_availability: serving,
    max_zone_failures_without_losing_data: data,
  } = cluster?.fault_tolerance ?? {};
  if (serving === undefined || data === undefined) return "the fault tolerance is not known";
  if (serving >= 0 && data >= 0) return undefined;
  return `the fault tolerance is below zero (${serving}, ${data} without losing data)`;
}

function processProblem(status: DatabaseStatus, to: string): string | undefined {
  const isIn = (center: string, process: StatusProcess): boolean =>
    process.locality?.["dcid"] === center && process.excluded !== true;
  const isLog = ({ class_type: type = "" }: StatusProcess): boolean =>
    type === "log" || type === "transaction";
  const all = processesOf(status);
  const there = all.filter((process) => isIn(to, process));
  if (!there.some(({ class_type: type }) => type === "storage")) {
    return `${to} has no storage processes`;
  }
  if (!there.some(isLog)) return `${to} has no log processes`;
  const region = status.cluster?.configuration?.regions?.find((one) => mainOf(one) === to);
  const satellites = (region?.datacenters ?? []).filter(({ satellite }) => satellite === 1);
  const hasLogs = satellites.some(({ id }) => all.some((one) => isIn(id, one) && isLog(one)));
  if (satellites.length === 0 || hasLogs) return undefined;
  return `the satellites of ${to} (${satellites.map(({ id }) => id).join(", ")}) have no log processes`;
}
