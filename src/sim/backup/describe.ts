// What `fdbbackup describe` finds in a container: the snapshots, how far the logs reach without a gap, and to which
// versions one can go back. It notes in the container how far
// the logs reach and believes the note the next time, unless it is to look deeply: a log that is lost meanwhile is not
// missed. Pure. Carries rule BSIM5.
import { mostOf } from "../../env/long-lists.ts";
import { compareVersions, parseVersion } from "../../model/version.ts";
import type { ContainerContent, LogFile, PropertyName, SnapshotFile } from "./container-objects.ts";

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
  readonly minRestorable?: number | undefined;
  readonly maxRestorable?: number | undefined;
}

export interface DescribeOptions {
  /** As if nothing before it were there any more. */
  readonly logBegin?: number;
  /** Looks at every log. */
  readonly isDeep?: boolean;
  /** Finds snapshots behind a gap in the logs, as tools from 7.3.64 on do. */
  readonly seesBehindGap?: boolean;
}

const firstBehindGap = { major: 7, minor: 3, patch: 64, releaseCandidate: 0 };

/** Whether the tools of a version find what lies behind a gap in the logs. */
export function seesBehindGap(toolVersion: string): boolean {
  const version = parseVersion(toolVersion);
  return version !== undefined && compareVersions(version, firstBehindGap) >= 0;
}

export function describe(content: ContainerContent, options: DescribeOptions = {}): Description {
  const { properties } = content;
  const { logBegin = 0, isDeep = false } = options;
  const expiredEnd = numberOf(properties.get("expired_end_version"));
  const noticedEnd = numberOf(properties.get("unreliable_end_version"));
  const unreliableEnd = Math.max(logBegin, expiredEnd ?? 0, noticedEnd ?? 0);
  const noted = isDeep ? undefined : notedWindow(content, unreliableEnd);
  const logs = noted ?? logWindow(content, Math.max(logBegin, expiredEnd ?? 0));
  const behind = options.seesBehindGap === true ? (logs?.seen ?? []) : undefined;
  const window = logs ?? (expiredEnd === undefined ? undefined : emptyWindow(expiredEnd));
  const snapshots = content.snapshots.map((file) => ({
    file,
    isRestorable: isOfOneVersion(file) || (logs !== undefined && isRestorable(file, logs, behind)),
    expiredPercent: expiredPercent(file, expiredEnd),
  }));
  const files = snapshots.flatMap(({ file, isRestorable: isGood }) => (isGood ? [file] : []));
  return {
    snapshots,
    snapshotBytes: content.snapshots.reduce((sum, file) => sum + file.bytes, 0),
    isEncrypted: (properties.get("encryption_metadata") ?? "") !== "",
    isPartitioned: properties.get("mutation_log_type") === "1",
    expiredEnd,
    unreliableEnd: noticedEnd,
    minLogBegin: window?.begin,
    contiguousLogEnd: window?.end,
    maxLogEnd: window?.maxEnd,
    ...restorableWindow(files, logs, behind),
  };
}

interface LogWindow {
  readonly begin: number;
  /** Where the first gap begins. */
  readonly end: number;
  readonly maxEnd: number;
  /** The logs that were looked at, sorted. */
  readonly seen: readonly LogFile[];
}

function emptyWindow(at: number): LogWindow {
  return { begin: at, end: at, maxEnd: at, seen: [] };
}

/** What an earlier look noted, and the logs that came since; undefined when there is nothing to believe. */
function notedWindow(content: ContainerContent, unreliableEnd: number): LogWindow | undefined {
  const begin = numberOf(content.properties.get("log_begin_version"));
  const end = numberOf(content.properties.get("log_end_version"));
  if (begin === undefined || end === undefined || end <= begin || end < unreliableEnd) {
    return undefined;
  }
  const newer = content.logs.filter((log) => log.endVersion > end);
  return {
    begin: Math.max(begin, unreliableEnd),
    end: contiguousEnd(newer, end),
    maxEnd: mostOf(
      newer.map((log) => log.endVersion),
      end,
    ),
    seen: newer,
  };
}

function logWindow(content: ContainerContent, from: number): LogWindow | undefined {
  const logs = content.logs.filter((log) => log.endVersion > from);
  const [first] = logs;
  if (first === undefined) return undefined;
  const begin = Math.max(from, first.beginVersion);
  const maxEnd = mostOf(logs.map((log) => log.endVersion));
  return { begin, end: contiguousEnd(logs, begin), maxEnd, seen: logs };
}

/** How far sorted logs go on from a version without a gap. */
function contiguousEnd(logs: readonly LogFile[], from: number): number {
  let end = from;
  for (const log of logs) {
    if (log.beginVersion <= end) end = Math.max(end, log.endVersion);
  }
  return end;
}

/** The properties that a look leaves in the container; those that are there already are left out. */
export function notesOf(content: ContainerContent, shown: Description): [PropertyName, string][] {
  const notes: [PropertyName, number | undefined][] = [
    ["log_begin_version", shown.minLogBegin],
    ["log_end_version", shown.contiguousLogEnd],
  ];
  return notes.flatMap(([property, version]): [PropertyName, string][] => {
    const text = String(version);
    const isKnown = version === undefined || content.properties.get(property) === text;
    return isKnown ? [] : [[property, text]];
  });
}

/** The logs begin before it does, and go on without a gap beyond its end; so do those behind a gap, where they are seen. */
function isRestorable(
  file: SnapshotFile,
  logs: LogWindow,
  behind: readonly LogFile[] | undefined,
): boolean {
  if (isBehindGap(file, logs)) {
    return logsEndFrom(behind ?? [], file.beginVersion) > file.endVersion;
  }
  return file.beginVersion >= logs.begin && file.endVersion < logs.end;
}

function isBehindGap(file: SnapshotFile, logs: LogWindow): boolean {
  return logs.end <= file.beginVersion;
}

/** How far logs go on without a gap from the one that a version lies in; that version when it lies in none. */
export function logsEndFrom(logs: readonly LogFile[], version: number): number {
  const first = logs.findIndex((log) => log.beginVersion <= version && version < log.endVersion);
  return first === -1 ? version : contiguousEnd(logs.slice(first), version);
}

/** All its ranges were copied at one version: it needs no log. */
function isOfOneVersion({ beginVersion, endVersion }: SnapshotFile): boolean {
  return beginVersion === endVersion;
}

/**
 * Snapshot by snapshot, the oldest first. Before the first gap the window grows; one that lies behind a gap, or is of one version
 * and ahead of the logs, begins it anew where such are seen.
 */
function restorableWindow(
  files: readonly SnapshotFile[],
  logs: LogWindow | undefined,
  behind: readonly LogFile[] | undefined,
): Pick<Description, "minRestorable" | "maxRestorable"> {
  let [min, max]: [number | undefined, number | undefined] = [undefined, undefined];
  for (const file of files) {
    const { beginVersion, endVersion } = file;
    const isOne = isOfOneVersion(file);
    const isReached = logs === undefined || behind === undefined || logs.end >= beginVersion;
    if (isOne && isReached) {
      min = Math.min(min ?? endVersion, endVersion);
      max = Math.max(max ?? endVersion, endVersion);
    }
    if (logs === undefined) continue;
    if (beginVersion >= logs.begin && endVersion < logs.end) {
      min = Math.min(min ?? endVersion, endVersion);
      max = Math.max(max ?? 0, logs.end - 1);
    }
    const isBehind = logs.end < beginVersion || (logs.end === beginVersion && !isOne);
    if (behind === undefined || !isBehind) continue;
    const isJoined = min !== undefined && logsEndFrom(behind, min) > endVersion;
    if (!isJoined) min = endVersion;
    const end = logsEndFrom(behind, endVersion);
    max = end === endVersion ? endVersion : end - 1;
  }
  return min === undefined ? {} : { minRestorable: min, maxRestorable: max };
}

function expiredPercent(file: SnapshotFile, expiredEnd: number | undefined): number {
  if (expiredEnd === undefined || expiredEnd <= file.beginVersion) return 0;
  if (expiredEnd >= file.endVersion) return 100;
  return (100 * (expiredEnd - file.beginVersion)) / (file.endVersion - file.beginVersion);
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
