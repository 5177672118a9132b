// Which figure of a database is the value of which metric. Pure. Rules: spec/monitoring.md [MON3].
import type { DatabaseFigures } from "../../model/database-figures.ts";
import type { databaseProcessMetrics } from "../../model/metrics/database-process.ts";
import type { databaseMetrics } from "../../model/metrics/database.ts";
import type { ProcessRow } from "../../model/process-row.ts";
import type { Labels } from "../../env/metrics.ts";

/** Labels beside those of the cluster or the process; a value that the database does not report gives no sample. */
export type Reading = readonly [more: Labels, value: number | undefined];

interface Known {
  readonly figures: DatabaseFigures;
  /** Most restarts of one process. */
  readonly restarts: number;
}

type Readings<Key extends string, T> = Readonly<Record<Key, (known: T) => readonly Reading[]>>;

export const databaseReadings: Readings<keyof typeof databaseMetrics, Known> = {
  available: ({ figures }) => one(Number(figures.isAvailable)),
  healthy: ({ figures }) => one(flag(figures.isHealthy)),
  tolerated: ({ figures }) =>
    by("without_losing", {
      data: figures.zonesWithoutLosingData,
      availability: figures.zonesWithoutLosingAvailability,
    }),
  toleratedByMode: ({ figures }) => one(figures.zonesByMode),
  replicasLeft: ({ figures }) => one(figures.replicasLeft),
  recoveryState: ({ figures }) => present("state", figures.recovery),
  generation: ({ figures }) => one(figures.generation),
  logGenerations: ({ figures }) => one(figures.logGenerations),
  sinceRecovery: ({ figures }) => one(figures.sinceRecoverySeconds),
  transactions: ({ figures }) =>
    by("outcome", {
      started: figures.startedPerSecond,
      committed: figures.committedPerSecond,
      conflicted: figures.conflictedPerSecond,
    }),
  operations: ({ figures }) =>
    by("operation", { read: figures.readsPerSecond, write: figures.writesPerSecond }),
  traffic: ({ figures }) =>
    by("operation", { read: figures.readBytesPerSecond, write: figures.writtenBytesPerSecond }),
  latency: ({ figures }) =>
    by("operation", {
      start: figures.startSeconds,
      read: figures.readSeconds,
      commit: figures.commitSeconds,
    }),
  limit: ({ figures }) => present("factor", figures.limit),
  released: ({ figures }) => one(figures.releasedPerSecond),
  transactionLimit: ({ figures }) => one(figures.transactionLimitPerSecond),
  storageLag: ({ figures }) => one(figures.storageLagSeconds),
  durabilityLag: ({ figures }) => one(figures.durabilityLagSeconds),
  dataCenterLag: ({ figures }) => one(figures.dataCenterLagSeconds),
  queue: ({ figures }) =>
    by("role", { storage: figures.storageQueueBytes, log: figures.logQueueBytes }),
  data: ({ figures }) => one(figures.dataBytes),
  diskUsed: ({ figures }) => one(figures.diskBytes),
  moving: ({ figures }) =>
    by("state", { in_flight: figures.movingInFlightBytes, in_queue: figures.movingInQueueBytes }),
  partitions: ({ figures }) => one(figures.partitions),
  leastFree: ({ figures }) =>
    by("role", { storage: figures.freeStorageBytes, log: figures.freeLogBytes }),
  // A database that nobody reaches names no coordinators, which does not mean that there are none.
  coordinators: ({ figures }) => one(figures.coordinators || undefined),
  coordinatorsReachable: ({ figures }) =>
    one(figures.coordinators === 0 ? undefined : figures.coordinatorsReachable),
  processes: ({ figures }) => by("version", figures.versions),
  degraded: ({ figures }) => one(figures.degraded),
  excluded: ({ figures }) =>
    one(figures.redundancyMode === undefined ? undefined : figures.excluded),
  restarts: ({ restarts }) => one(restarts),
  clients: ({ figures }) => one(figures.clients),
  maintenance: ({ figures }) => one(Number(figures.maintenanceZone !== undefined)),
  maintenanceRemaining: ({ figures }) => one(figures.maintenanceSeconds),
  locked: ({ figures }) => one(Number(figures.isLocked)),
  backupRunning: ({ figures }) => byTag(figures, ({ isRunning }) => Number(isRunning)),
  backupRestorable: ({ figures }) => byTag(figures, ({ isRestorable }) => Number(isRestorable)),
  backupLag: ({ figures }) => byTag(figures, ({ lagSeconds }) => lagSeconds),
  backupWritten: ({ figures }) =>
    figures.backupTags.flatMap(({ tag, rangeBytes, logBytes }): Reading[] => [
      [{ tag: short(tag), content: "range" }, rangeBytes],
      [{ tag: short(tag), content: "log" }, logBytes],
    ]),
};

export const processReadings: Readings<keyof typeof databaseProcessMetrics, ProcessRow> = {
  cpu: (row) => one(row.cpuCores),
  runLoopBusy: (row) => one(row.runLoopBusy),
  memory: (row) => one(row.memoryBytes),
  memoryLimit: (row) => one(row.memoryLimitBytes),
  diskBusy: (row) => one(row.diskBusy),
  diskFree: (row) => one(row.diskFreeBytes),
  diskSize: (row) => one(row.diskTotalBytes),
  received: (row) => one(row.receivedBytesPerSecond),
  sent: (row) => one(row.sentBytesPerSecond),
  stored: (row) => one(row.storedBytes),
  queue: (row) => one(row.queueBytes),
  lag: (row) => one(row.lagSeconds),
  durabilityLag: (row) => one(row.durabilityLagSeconds),
  uptime: (row) => one(row.uptimeSeconds),
  role: (row) => rolesOf(row).map((role): Reading => [{ role: short(role) }, 1]),
};

/** Roles of one process that are told. */
export const rolesMax = 8;

function rolesOf({ roles, isCoordinator }: ProcessRow): readonly string[] {
  return [...(isCoordinator ? ["coordinator"] : []), ...roles].slice(0, rolesMax);
}

function one(value: number | undefined): readonly Reading[] {
  return [[{}, value]];
}

function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function by(label: string, values: Readonly<Record<string, number | undefined>>): Reading[] {
  return Object.entries(values).map(([each, value]) => [{ [label]: short(each) }, value]);
}

/** 1 for what is, and no sample for what is not. */
function present(label: string, value: string | undefined): Reading[] {
  return value === undefined ? [] : [[{ [label]: short(value) }, 1]];
}

function byTag(
  { backupTags }: DatabaseFigures,
  of: (tag: DatabaseFigures["backupTags"][number]) => number | undefined,
): Reading[] {
  return backupTags.map((each) => [{ tag: short(each.tag) }, of(each)]);
}

/** Texts of a database may be of any length. */
export function short(text: string): string {
  return text.length > 64 ? `${text.slice(0, 63)}…` : text;
}
