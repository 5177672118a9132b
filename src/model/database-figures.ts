// What a database says of itself as a whole, as figures and sentences: whether it serves, how much may fail, how much it
// holds and moves, how busy it is. What the database does not report stays undefined. Rules: spec/plugin.md [VW6],
// spec/monitoring.md [MON1].
import { isAvailable } from "./availability.ts";
import type { DatabaseStatus, StatusQos } from "./database-status.ts";
import { backupTagFigures } from "./backup-tag-figures.ts";
import type { BackupTagFigures } from "./backup-tag-figures.ts";
import { figureIn } from "./figure-in.ts";
import { redundancyOf } from "./redundancy.ts";

export interface DatabaseFigures {
  readonly isAvailable: boolean;
  /** Undefined where the database says nothing of it. */
  readonly isHealthy?: boolean;
  readonly generation?: number;
  /** Of logs that are still needed; more than one for long means that recovery does not finish. */
  readonly logGenerations?: number;
  /** Of the last recovery, such as fully_recovered. */
  readonly recovery?: string;
  readonly sinceRecoverySeconds?: number;
  readonly redundancyMode?: string;
  readonly storageEngine?: string;
  /** Zones that may fail. */
  readonly zonesWithoutLosingData?: number;
  readonly zonesWithoutLosingAvailability?: number;
  /** Zones that may fail when all is well, by its redundancy mode. */
  readonly zonesByMode?: number;
  /** Copies of the data that has the fewest left. */
  readonly replicasLeft?: number;
  readonly dataState?: string;
  readonly dataBytes?: number;
  readonly diskBytes?: number;
  readonly movingBytes?: number;
  readonly movingInFlightBytes?: number;
  readonly movingInQueueBytes?: number;
  readonly partitions?: number;
  /** The least room that a storage server has left. */
  readonly freeStorageBytes?: number;
  readonly freeLogBytes?: number;
  readonly startedPerSecond?: number;
  readonly committedPerSecond?: number;
  readonly conflictedPerSecond?: number;
  readonly readsPerSecond?: number;
  readonly writesPerSecond?: number;
  readonly readBytesPerSecond?: number;
  readonly writtenBytesPerSecond?: number;
  readonly startSeconds?: number;
  readonly readSeconds?: number;
  readonly commitSeconds?: number;
  readonly storageLagSeconds?: number;
  readonly durabilityLagSeconds?: number;
  readonly dataCenterLagSeconds?: number;
  readonly storageQueueBytes?: number;
  readonly logQueueBytes?: number;
  /** What holds transactions back, when anything does. */
  readonly limitedBy?: string;
  /** The name of what limits transactions, `workload` when nothing does. */
  readonly limit?: string;
  readonly releasedPerSecond?: number;
  readonly transactionLimitPerSecond?: number;
  readonly coordinators: number;
  readonly coordinatorsReachable: number;
  readonly clients?: number;
  readonly processes: number;
  /** Processes by the version that they run. */
  readonly versions: Readonly<Record<string, number>>;
  readonly degraded?: number;
  readonly activePrimary?: string;
  readonly isLocked: boolean;
  readonly maintenanceZone?: string;
  readonly maintenanceSeconds?: number;
  readonly excluded: number;
  /** What agents tell of backups, by tag; empty while none of them runs. */
  readonly backupTags: readonly BackupTagFigures[];
  /** What the database itself tells, in its own words. */
  readonly messages: readonly string[];
}

export function databaseFigures(status: DatabaseStatus): DatabaseFigures {
  const { client, cluster = {} } = status;
  const { data, workload, latency_probe: latency, qos, configuration } = cluster;
  const { redundancy_mode: mode } = configuration ?? {};
  const coordinators = client?.coordinators?.coordinators ?? [];
  const found: Partial<DatabaseFigures> = {
    isHealthy: client?.database_status?.healthy,
    generation: cluster.generation,
    logGenerations: cluster.recovery_state?.active_generations,
    recovery: cluster.recovery_state?.name,
    sinceRecoverySeconds: notNegative(cluster.recovery_state?.seconds_since_last_recovered),
    redundancyMode: mode,
    storageEngine: configuration?.storage_engine,
    zonesWithoutLosingData: cluster.fault_tolerance?.max_zone_failures_without_losing_data,
    zonesWithoutLosingAvailability:
      cluster.fault_tolerance?.max_zone_failures_without_losing_availability,
    zonesByMode: mode === undefined ? undefined : redundancyOf(mode).faultTolerance,
    replicasLeft: data?.state?.min_replicas_remaining,
    dataState: data?.state?.name,
    dataBytes: figureIn(data, "total_kv_size_bytes"),
    diskBytes: figureIn(data, "total_disk_used_bytes"),
    movingBytes: movingBytes(data),
    movingInFlightBytes: figureIn(data, "moving_data", "in_flight_bytes"),
    movingInQueueBytes: figureIn(data, "moving_data", "in_queue_bytes"),
    partitions: figureIn(data, "partitions_count"),
    freeStorageBytes: notNegative(figureIn(data, "least_operating_space_bytes_storage_server")),
    freeLogBytes: notNegative(figureIn(data, "least_operating_space_bytes_log_server")),
    startedPerSecond: figureIn(workload, "transactions", "started", "hz"),
    committedPerSecond: figureIn(workload, "transactions", "committed", "hz"),
    conflictedPerSecond: figureIn(workload, "transactions", "conflicted", "hz"),
    readsPerSecond: figureIn(workload, "operations", "reads", "hz"),
    writesPerSecond: figureIn(workload, "operations", "writes", "hz"),
    readBytesPerSecond: figureIn(workload, "bytes", "read", "hz"),
    writtenBytesPerSecond: figureIn(workload, "bytes", "written", "hz"),
    startSeconds: figureIn(latency, "transaction_start_seconds"),
    readSeconds: figureIn(latency, "read_seconds"),
    commitSeconds: figureIn(latency, "commit_seconds"),
    storageLagSeconds: figureIn(qos, "worst_data_lag_storage_server", "seconds"),
    durabilityLagSeconds: figureIn(qos, "worst_durability_lag_storage_server", "seconds"),
    dataCenterLagSeconds: dataCenterLag(cluster),
    storageQueueBytes: figureIn(qos, "worst_queue_bytes_storage_server"),
    logQueueBytes: figureIn(qos, "worst_queue_bytes_log_server"),
    limitedBy: limitOf(qos),
    limit: limitName(qos),
    releasedPerSecond: figureIn(qos, "released_transactions_per_second"),
    transactionLimitPerSecond: figureIn(qos, "transactions_per_second_limit"),
    clients: figureIn(cluster, "clients", "count"),
    activePrimary: cluster.active_primary_dc || undefined,
    maintenanceZone: cluster.maintenance_zone || undefined,
    maintenanceSeconds: figureIn(cluster, "maintenance_seconds_remaining"),
    degraded: figureIn(cluster, "degraded_processes"),
  };
  return {
    isAvailable: isAvailable(status),
    ...(Object.fromEntries(
      Object.entries(found).filter(([, value]) => value !== undefined),
    ) as Partial<DatabaseFigures>),
    coordinators: coordinators.length,
    coordinatorsReachable: coordinators.filter(({ reachable }) => reachable).length,
    processes: Object.keys(cluster.processes ?? {}).length,
    versions: versionCounts(cluster.processes),
    isLocked: cluster.database_lock_state?.locked === true,
    excluded: configuration?.excluded_servers?.length ?? 0,
    backupTags: backupTagFigures(cluster.layers),
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

function limitOf(qos: StatusQos | undefined): string | undefined {
  const name = limitName(qos);
  if (name === undefined || name === "workload") return undefined;
  return textIn(qos?.["performance_limited_by"], "description") ?? name;
}

function limitName(qos: StatusQos | undefined): string | undefined {
  return textIn(qos?.["performance_limited_by"], "name");
}

function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Reflect.get(value, name);
  return typeof found === "string" ? found : undefined;
}

function versionCounts(
  processes: NonNullable<DatabaseStatus["cluster"]>["processes"] = {},
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { version } of Object.values(processes)) {
    if (version !== undefined) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function notNegative(value: number | undefined): number | undefined {
  return value === undefined || value < 0 ? undefined : value;
}
