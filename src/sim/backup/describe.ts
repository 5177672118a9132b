// What `fdbbackup describe` finds in a container: the snapshots, how far the logs reach without a gap, and to which
// versions one can go back. Pure. Carries rule BSIM5.
import { leastOf, mostOf } from "../../env/long-lists.ts";
import type { ContainerContent, SnapshotFile } from "./container-objects.ts";

export interface DescribedSnapshot {
  readonly file: SnapshotFile;
  readonly isRestorable: boolean;
  readonly expiredPercent: number;
}

export interface Description {
  readonly snapshots: readonly DescribedSnapshot[];
  readonly snapshotBytes: number;
  readonly isEncrypted: boolean;
  readonly isPartitioned: boolean;
  readonly expiredEnd: number | undefined;
  readonly unreliableEnd: number | undefined;
  /** Undefined while there is no log. */
  readonly minLogBegin: number | undefined;
  readonly contiguousLogEnd: number | undefined;
  readonly maxLogEnd: number | undefined;
  readonly minRestorable: number | undefined;
  readonly maxRestorable: number | undefined;
}

/** `logBegin`: as if nothing before it were there any more. */
export function describe(content: ContainerContent, logBegin?: number): Description {
  const { properties } = content;
  const expiredEnd = numberOf(properties.get("expired_end_version"));
  const logs = logWindow(content, Math.max(logBegin ?? 0, expiredEnd ?? 0));
  const window = logs ?? (expiredEnd === undefined ? undefined : emptyWindow(expiredEnd));
  const snapshots = content.snapshots.map((file) => ({
    file,
    isRestorable: logs !== undefined && isRestorable(file, logs),
    expiredPercent: expiredPercent(file, expiredEnd),
  }));
  const restorable = snapshots.filter((snapshot) => snapshot.isRestorable);
  const first = restorable[0];
  const ends = restorable.map(({ file }) => file.endVersion);
  return {
    snapshots,
    snapshotBytes: content.snapshots.reduce((sum, file) => sum + file.bytes, 0),
    isEncrypted: (properties.get("encryption_metadata") ?? "") !== "",
    isPartitioned: properties.get("mutation_log_type") === "1",
    expiredEnd,
    unreliableEnd: numberOf(properties.get("unreliable_end_version")),
    minLogBegin: window?.begin,
    contiguousLogEnd: window?.end,
    maxLogEnd: window?.maxEnd,
    minRestorable: first === undefined ? undefined : leastOf(ends),
    maxRestorable: first === undefined || logs === undefined ? undefined : logs.end - 1,
  };
}

interface LogWindow {
  readonly begin: number;
  /** Where the first gap begins. */
  readonly end: number;
  readonly maxEnd: number;
}

function emptyWindow(at: number): LogWindow {
  return { begin: at, end: at, maxEnd: at };
}

function logWindow(content: ContainerContent, from: number): LogWindow | undefined {
  const logs = content.logs.filter((log) => log.endVersion > from);
  const [first] = logs;
  if (first === undefined) return undefined;
  const begin = Math.max(from, first.beginVersion);
  let end = begin;
  for (const log of logs) {
    if (log.beginVersion <= end) end = Math.max(end, log.endVersion);
  }
  return { begin, end, maxEnd: mostOf(logs.map((log) => log.endVersion)) };
}

/** The logs begin before it does, and go on without a gap beyond its end. */
function isRestorable(file: SnapshotFile, logs: LogWindow): boolean {
  return file.beginVersion >= logs.begin && file.endVersion < logs.end;
}

function expiredPercent(file: SnapshotFile, expiredEnd: number | undefined): number {
  if (expiredEnd === undefined || expiredEnd <= file.beginVersion) return 0;
  if (expiredEnd >= file.endVersion) return 100;
  return (100 * (expiredEnd - file.beginVersion)) / (file.endVersion - file.beginVersion);
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
