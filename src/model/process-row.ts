// What a database reports of each of its processes, as flat rows: where it runs, what it does, how busy it is.
// A figure that the database does not report stays undefined. Rules: spec/plugin.md [VW5], spec/monitoring.md [MON1].
import type { DatabaseStatus, StatusProcess, StatusRole } from "./database-status.ts";
import { figureIn } from "./figure-in.ts";
import { localityKeys, localityOf } from "./locality.ts";

export interface ProcessRow {
  /** The process group, or the address where a process names none. */
  readonly group: string;
  /** Tells the servers of one pod apart. */
  readonly process: string;
  readonly address: string;
  readonly processClass: string;
  readonly roles: readonly string[];
  readonly isCoordinator: boolean;
  readonly dataCenter: string;
  readonly hall: string;
  readonly zone: string;
  readonly machine: string;
  readonly version: string;
  readonly uptimeSeconds?: number;
  readonly cpuCores?: number;
  readonly runLoopBusy?: number;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
  readonly diskBusy?: number;
  readonly diskFreeBytes?: number;
  readonly diskTotalBytes?: number;
  readonly receivedBytesPerSecond?: number;
  readonly sentBytesPerSecond?: number;
  readonly storedBytes?: number;
  /** What a storage server or a log has taken in and not yet written to its store. */
  readonly queueBytes?: number;
  /** How far a storage server is behind the newest version. */
  readonly lagSeconds?: number;
  /** How far what is on its disk is behind that. */
  readonly durabilityLagSeconds?: number;
  /** Excluded, degraded, under maintenance, and what the process itself complains of. */
  readonly notes: readonly string[];
}

export function processRows({ cluster }: DatabaseStatus): ProcessRow[] {
  return Object.values(cluster?.processes ?? {})
    .map(processRow)
    .toSorted(
      (left, right) => byText(left.group, right.group) || byText(left.process, right.process),
    );
}

function processRow(process: StatusProcess): ProcessRow {
  const roles = process.roles ?? [];
  const { address = "", disk } = process;
  return {
    group: localityOf(process, localityKeys.instance) || address,
    process: localityOf(process, localityKeys.process) || address,
    address,
    processClass: process.class_type ?? "",
    roles: [...new Set(roles.map(({ role }) => role))].filter((role) => role !== "coordinator"),
    isCoordinator: roles.some(({ role }) => role === "coordinator"),
    dataCenter: localityOf(process, localityKeys.dataCenter),
    hall: localityOf(process, localityKeys.dataHall),
    zone: localityOf(process, localityKeys.zone),
    machine: localityOf(process, localityKeys.machine),
    version: process.version ?? "",
    ...known({
      uptimeSeconds: process.uptime_seconds,
      cpuCores: figureIn(process, "cpu", "usage_cores"),
      runLoopBusy: process.run_loop_busy,
      memoryBytes: figureIn(process, "memory", "rss_bytes"),
      memoryLimitBytes: figureIn(process, "memory", "limit_bytes"),
      diskBusy: figureIn(disk, "busy"),
      diskFreeBytes: disk?.free_bytes,
      diskTotalBytes: disk?.total_bytes,
      receivedBytesPerSecond: bytesOfMegabits(
        figureIn(process, "network", "megabits_received", "hz"),
      ),
      sentBytesPerSecond: bytesOfMegabits(figureIn(process, "network", "megabits_sent", "hz")),
      storedBytes: summed(roles, (role) => figureIn(role, "stored_bytes")),
      queueBytes: summed(roles, queueBytes),
      lagSeconds: most(roles, (role) => figureIn(role, "data_lag", "seconds")),
      durabilityLagSeconds: most(roles, (role) => figureIn(role, "durability_lag", "seconds")),
    }),
    notes: notesOf(process),
  };
}

function bytesOfMegabits(megabits: number | undefined): number | undefined {
  return megabits === undefined ? undefined : megabits * 125_000;
}

function queueBytes(role: StatusRole): number | undefined {
  const input = figureIn(role, "input_bytes", "counter");
  const durable = figureIn(role, "durable_bytes", "counter");
  return input === undefined || durable === undefined ? undefined : Math.max(0, input - durable);
}

function notesOf(process: StatusProcess): string[] {
  return [
    ...(process.excluded === true ? ["excluded"] : []),
    ...(process.degraded === true ? ["degraded"] : []),
    ...(process.under_maintenance === true ? ["under maintenance"] : []),
    ...(process.messages ?? []).map(({ name }) => name.replaceAll("_", " ")),
  ];
}

type Known<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that are undefined. */
function known<T extends Record<string, number | undefined>>(all: T): Known<T> {
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Known<T>;
}

function figures(
  roles: readonly StatusRole[],
  of: (role: StatusRole) => number | undefined,
): number[] {
  return roles.flatMap((role) => of(role) ?? []);
}

function summed(
  roles: readonly StatusRole[],
  of: (role: StatusRole) => number | undefined,
): number | undefined {
  const found = figures(roles, of);
  return found.length === 0 ? undefined : found.reduce((sum, one) => sum + one, 0);
}

function most(
  roles: readonly StatusRole[],
  of: (role: StatusRole) => number | undefined,
): number | undefined {
  const found = figures(roles, of);
  return found.length === 0 ? undefined : found.reduce((left, right) => Math.max(left, right));
}

/** `storage-2` before `storage-10`. */
export function byText(left: string, right: string): number {
  const [leftHead, leftNumber] = parted(left);
  const [rightHead, rightNumber] = parted(right);
  if (leftHead !== rightHead) return leftHead < rightHead ? -1 : 1;
  if (leftNumber !== rightNumber) return leftNumber - rightNumber;
  return left === right ? 0 : left < right ? -1 : 1;
}

function parted(text: string): [head: string, number: number] {
  const match = /^(.*?)(\d{1,15})$/.exec(text);
  return match === null ? [text, -1] : [match[1] ?? "", Number(match[2])];
}
