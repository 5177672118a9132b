// What a database says of itself as a whole, as figures and sentences: whether it serves, how much may fail, how much it
// holds and moves, how busy it is. Rules: spec/plugin.md [VW6].
import type { DatabaseStatus } from "../../model/database-status.ts";
import { figureIn } from "./process-row.ts";

export interface DatabaseFigures {
  readonly isAvailable: boolean;
  /** Of the last recovery, such as fully_recovered. */
  readonly recovery?: string;
  readonly sinceRecoverySeconds?: number;
  readonly redundancyMode?: string;
  readonly storageEngine?: string;
  /** Zones that may fail. */
  readonly zonesWithoutLosingData?: number;
  readonly zonesWithoutLosingAvailability?: number;
  readonly dataState?: string;
  readonly dataBytes?: number;
  readonly diskBytes?: number;
  readonly movingBytes?: number;
  /** The least room that a storage server has left. */
  readonly freeStorageBytes?: number;
  readonly freeLogBytes?: number;
  readonly committedPerSecond?: number;
  readonly conflictedPerSecond?: number;
  readonly readsPerSecond?: number;
  readonly writesPerSecond?: number;
  readonly startSeconds?: number;
  readonly readSeconds?: number;
  readonly commitSeconds?: number;
  readonly storageLagSeconds?: number;
  readonly dataCenterLagSeconds?: number;
  readonly storageQueueBytes?: number;
  readonly logQueueBytes?: number;
  /** What holds transactions back, when anything does. */
  readonly limitedBy?: string;
  readonly transactionLimitPerSecond?: number;
  readonly coordinators: number;
  readonly coordinatorsReachable: number;
  readonly clients?: number;
  readonly processes: number;
  readonly activePrimary?: string;
  readonly isLocked: boolean;
  readonly maintenanceZone?: string;
  readonly excluded: number;
  /** What the database itself tells, in its own words. */
  readonly messages: readonly string[];
}

export function databaseFigures({ client, cluster = {} }: DatabaseStatus): DatabaseFigures {
  const { data, workload, latency_probe: latency, qos, configuration } = cluster;
  const coordinators = client?.coordinators?.coordinators ?? [];
  const found: Partial<DatabaseFigures> = {
    recovery: cluster.recovery_state?.name,
    sinceRecoverySeconds: notNegative(cluster.recovery_state?.seconds_since_last_recovered),
    redundancyMode: configuration?.redundancy_mode,
    storageEngine: configuration?.storage_engine,
    zonesWithoutLosingData: cluster.fault_tolerance?.max_zone_failures_without_losing_data,
    zonesWithoutLosingAvailability:
      cluster.fault_tolerance?.max_zone_failures_without_losing_availability,
    dataState: data?.state?.name,
    dataBytes: figureIn(data, "total_kv_size_bytes"),
    diskBytes: figureIn(data, "total_disk_used_bytes"),
    movingBytes: movingBytes(data),
    freeStorageBytes: notNegative(figureIn(data, "least_operating_space_bytes_storage_server")),
    freeLogBytes: notNegative(figureIn(data, "least_operating_space_bytes_log_server")),
    committedPerSecond: figureIn(workload, "transactions", "committed", "hz"),
    conflictedPerSecond: figureIn(workload, "transactions", "conflicted", "hz"),
    readsPerSecond: figureIn(workload, "operations", "reads", "hz"),
    writesPerSecond: figureIn(workload, "operations", "writes", "hz"),
    startSeconds: figureIn(latency, "transaction_start_seconds"),
    readSeconds: figureIn(latency, "read_seconds"),
    commitSeconds: figureIn(latency, "commit_seconds"),
    storageLagSeconds: figureIn(qos, "worst_data_lag_storage_server", "seconds"),
    dataCenterLagSeconds: dataCenterLag(cluster),
    storageQueueBytes: figureIn(qos, "worst_queue_bytes_storage_server"),
    logQueueBytes: figureIn(qos, "worst_queue_bytes_log_server"),
    limitedBy: limitOf(qos),
    transactionLimitPerSecond: figureIn(qos, "transactions_per_second_limit"),
    clients: figureIn(cluster, "clients", "count"),
    activePrimary: cluster.active_primary_dc || undefined,
    maintenanceZone: cluster.maintenance_zone || undefined,
  };
  return {
    isAvailable: client?.database_status?.available === true,
    ...(Object.fromEntries(
      Object.entries(found).filter(([, value]) => value !== undefined),
    ) as Partial<DatabaseFigures>),
    coordinators: coordinators.length,
    coordinatorsReachable: coordinators.filter(({ reachable }) => reachable).length,
    processes: Object.keys(cluster.processes ?? {}).length,
    isLocked: cluster.database_lock_state?.locked === true,
    excluded: configuration?.excluded_servers?.length ?? 0,
    messages: [...(client?.messages ?? []), ...(cluster.messages ?? [])].map(
      ({ name, description }) => description ?? name.replaceAll("_", " "),
    ),
  };
}

function movingBytes(data: unknown): number | undefined {
  const inFlight = figureIn(data, "moving_data", "in_flight_bytes");
  const inQueue = figureIn(data, "moving_data", "in_queue_bytes");
  if (inFlight === undefined && inQueue === undefined) return undefined;
  return (inFlight ?? 0) + (inQueue ?? 0);
}

/** A database in one datacenter lags behind nobody. */
function dataCenterLag({
  configuration,
  datacenter_lag: lag,
}: NonNullable<DatabaseStatus["cluster"]>): number | undefined {
  const seconds = figureIn(lag, "seconds");
  if (seconds === undefined || (configuration?.usable_regions ?? 1) < 2) return undefined;
  // Clocks of two datacenters are compared, so that the one behind may seem to be ahead.
  return Math.max(0, seconds);
}

function limitOf(qos: NonNullable<DatabaseStatus["cluster"]>["qos"]): string | undefined {
  const limit = qos?.["performance_limited_by"];
  if (typeof limit !== "object" || limit === null) return undefined;
  const { name, description } = limit as { name?: unknown; description?: unknown };
  if (name === undefined || name === "workload") return undefined;
  return typeof description === "string" ? description : String(name);
}

function notNegative(value: number | undefined): number | undefined {
  return value === undefined || value < 0 ? undefined : value;
}
