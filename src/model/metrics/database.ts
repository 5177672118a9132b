// Metrics of the databases: what each of them says of itself in the status that is polled anyway.
import { gaugeOf } from "../../env/metric-description.ts";
import type { MetricDescription } from "../../env/metric-description.ts";

const gauge = (name: string, help: string, more: readonly string[] = []): MetricDescription =>
  gaugeOf(`fdb_database_${name}`, help, ["namespace", "name", ...more]);

/** These have a sample for each cluster whose database was ever heard of, however long ago. */
export const hearingMetrics = {
  age: gauge(
    "status_age_seconds",
    "Age of the newest status. While it is too old, the other figures of the database have no samples.",
  ),
  processesCut: gauge(
    "processes_without_figures",
    "Processes that the limit on series leaves without figures of their own; with figures of processes only.",
  ),
} as const;

export const databaseMetrics = {
  available: gauge("available", "1 when the database serves."),
  healthy: gauge("healthy", "1 when the database calls itself healthy."),
  tolerated: gauge(
    "tolerated_zone_failures",
    "Zones that may fail now without losing data or availability; below 0 when that many are gone too many.",
    ["without_losing"],
  ),
  toleratedByMode: gauge(
    "desired_tolerated_zone_failures",
    "Zones that may fail when all is well, by the redundancy mode.",
  ),
  replicasLeft: gauge("replicas_left", "Copies of the data that has the fewest left."),
  recoveryState: gauge("recovery_state", "1 for the present state of recovery.", ["state"]),
  generation: gauge("generation", "Generation of the database; each recovery raises it."),
  logGenerations: gauge(
    "log_generations",
    "Generations of logs that are still needed; more than 1 for long means that a recovery does not end.",
  ),
  sinceRecovery: gauge("since_recovery_seconds", "Time since the last recovery ended."),
  transactions: gauge("transactions_per_second", "Transactions by what came of them.", ["outcome"]),
  operations: gauge("operations_per_second", "Keys that were read or written.", ["operation"]),
  traffic: gauge("traffic_bytes_per_second", "Bytes that were read or written.", ["operation"]),
  latency: gauge(
    "latency_probe_seconds",
    "What the latency probe of the database measured last: start is the read version of a transaction.",
    ["operation"],
  ),
  limit: gauge(
    "limiting_factor",
    "1 for what limits the rate of transactions; workload when nothing does.",
    ["factor"],
  ),
  released: gauge("released_transactions_per_second", "Transactions that ratekeeper lets begin."),
  transactionLimit: gauge(
    "transaction_limit_per_second",
    "Transactions that ratekeeper would let begin at most.",
  ),
  storageLag: gauge(
    "storage_lag_seconds",
    "How far the worst storage server is behind the newest version.",
  ),
  durabilityLag: gauge(
    "durability_lag_seconds",
    "How far what is on the disk of the worst storage server is behind its memory.",
  ),
  dataCenterLag: gauge(
    "datacenter_lag_seconds",
    "How far the other region is behind; with two usable regions only.",
  ),
  queue: gauge("queue_bytes", "The longest queue of a role.", ["role"]),
  data: gauge("data_bytes", "Keys and values, counted once."),
  diskUsed: gauge("disk_used_bytes", "Disk space in use, all copies together."),
  moving: gauge("moving_bytes", "Data that is being moved, or is about to be.", ["state"]),
  partitions: gauge("partitions", "Ranges of keys that the data is cut into."),
  leastFree: gauge("least_free_bytes", "The least room that a server of a role has left.", [
    "role",
  ]),
  coordinators: gauge("coordinators", "Coordinators of the connection string."),
  coordinatorsReachable: gauge("coordinators_reachable", "Coordinators that answer."),
  processes: gauge("processes", "Processes that report, by version.", ["version"]),
  degraded: gauge("degraded_processes", "Processes that the database calls degraded."),
  excluded: gauge("exclusions", "Addresses and localities that are excluded."),
  restarts: gauge(
    "restarts_of_one_process",
    "Most restarts of one process that were seen within the last 30 minutes.",
  ),
  clients: gauge("clients", "Clients that are connected."),
  maintenance: gauge("maintenance", "1 while a zone is under maintenance."),
  maintenanceRemaining: gauge(
    "maintenance_remaining_seconds",
    "How long the maintenance of a zone still lasts.",
  ),
  locked: gauge("locked", "1 while the database is locked."),
  backupRunning: gauge("backup_running", "1 while the backup of a tag runs, as agents tell it.", [
    "tag",
  ]),
  backupRestorable: gauge(
    "backup_restorable",
    "1 when the running backup of a tag can be restored, as agents tell it.",
    ["tag"],
  ),
  backupLag: gauge(
    "backup_lag_seconds",
    "How far the last restorable point of a tag is behind, as agents tell it.",
    ["tag"],
  ),
  backupWritten: gauge(
    "backup_written_bytes",
    "Bytes that were written for a tag, as agents tell it.",
    ["tag", "content"],
  ),
} as const;
