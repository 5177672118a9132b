// `fdbbackup status`, as text and as JSON, field by field as the real tool prints it. The JSON's list of errors is always
// empty, whatever went wrong. Carries rule BSIM8.
import type { Database } from "../database/database.ts";
import { backupStates, isActive, restorableVersion, viewBackup } from "./backup-view.ts";
import type { BackupView } from "./backup-view.ts";
import { findTag } from "./layer-config.ts";
import { backupDescriptions } from "./layer-document.ts";
import { jsonLine } from "./number-text.ts";
import type { JsonValue } from "./number-text.ts";
import { isPaused } from "./task-bucket.ts";
import { secondOfVersion, timeText } from "./time-keeper.ts";
import { served } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import type { ToolOptions } from "./tool-options.ts";

/** What the status is made from; the versions and times of one moment. */
export interface StatusInput {
  readonly tag: string;
  readonly backup: BackupView | undefined;
  readonly isPaused: boolean;
  readonly nowVersion: number;
  readonly secondOf: (version: number) => number;
}

const stateNames: Readonly<Record<number, string>> = {
  [backupStates.submitted]: "Submitted",
  [backupStates.running]: "Running",
  [backupStates.differential]: "RunningDifferentially",
  [backupStates.completed]: "Completed",
  [backupStates.aborted]: "Aborted",
};

const versionsPerSecond = 1_000_000;

export async function showStatus(context: ToolContext, options: ToolOptions): Promise<number> {
  const tag = options.get("--tagname") ?? "default";
  const database = await served(context, options.get("--cluster-file"));
  const input = statusInput(database, tag);
  const limit = Number(options.get("--errorlimit") ?? 10);
  context.out(options.has("--json") ? `${statusJson(input)}\n` : `${statusText(input, limit)}\n`);
  return 0;
}

function statusInput(database: Database, tag: string): StatusInput {
  const { store } = database;
  const entry = findTag(store, "backup", tag);
  return {
    tag,
    backup: entry && viewBackup(store, entry.uid),
    isPaused: isPaused(store),
    nowVersion: store.readNow({ begin: "", end: "" }).version,
    secondOf: (version) => secondOfVersion(database, version),
  };
}

export function statusJson(input: StatusInput): string {
  const { backup, tag } = input;
  const head = { SchemaVersion: "1.0.0", BackupAgentsPaused: input.isPaused, Tag: tag };
  if (backup === undefined) return jsonLine(head);
  const restorable = restorableVersion(backup);
  const lagSeconds =
    restorable === undefined || backup.state === backupStates.completed
      ? undefined
      : Math.floor((input.nowVersion - restorable) / versionsPerSecond);
  return jsonLine({
    ...head,
    UID: backup.uid,
    Status: {
      Name: stateNames[backup.state] ?? "Errored",
      Description: backupDescriptions[backup.state] ?? "has errored",
      Completed: backup.state === backupStates.completed,
      Running: isActive(backup.state),
    },
    Restorable: restorable !== undefined,
    LatestRestorablePoint:
      restorable === undefined ? undefined : point(input, restorable, lagSeconds),
    DestinationURL: backup.url,
    ...(isRunning(backup) ? runningFields(input, backup) : {}),
    Errors: [],
  });
}

function isRunning({ state }: BackupView): boolean {
  return state === backupStates.running || state === backupStates.differential;
}

function runningFields(
  input: StatusInput,
  backup: BackupView,
): Record<string, JsonValue | undefined> {
  const version = (value: number | undefined): JsonValue | undefined =>
    value === undefined ? undefined : point(input, value);
  return {
    StopAfterSnapshot: backup.stopWhenDone,
    SnapshotIntervalSeconds: backup.snapshotIntervalSeconds,
    LogBytesWritten: backup.logBytes,
    RangeBytesWritten: backup.rangeBytes,
    LatestLogEnd: version(backup.latestLogEnd),
    LatestSnapshotEnd: version(backup.latestSnapshotEnd),
    CurrentSnapshot: snapshotFields(input, backup),
  };
}

function snapshotFields(input: StatusInput, backup: BackupView): JsonValue | undefined {
  const { snapshotBegin: begin, snapshotTargetEnd: end, dispatchVersion } = backup;
  if (begin === undefined || end === undefined) return undefined;
  return {
    Begin: point(input, begin),
    EndTarget: point(input, end),
    IntervalSeconds: (end - begin) / versionsPerSecond,
    ExpectedProgress: progress(input, begin, end),
    LastDispatch:
      dispatchVersion === undefined
        ? undefined
        : { ...point(input, dispatchVersion), ShardsBehind: backup.dispatchShardsBehind },
  };
}

function point(input: StatusInput, version: number, lagSeconds?: number) {
  const second = input.secondOf(version);
  return {
    Version: version,
    EpochSeconds: second,
    Timestamp: timeText(second),
    LagSeconds: lagSeconds,
  };
}

/** How much of the time for the snapshot has gone by, in percent. */
function progress({ nowVersion }: StatusInput, begin: number, end: number): number {
  return end <= begin ? 100 : (100 * (nowVersion - begin)) / (end - begin);
}

export function statusText(input: StatusInput, errorLimit = 10): string {
  const { backup } = input;
  const paused = input.isPaused ? "\nAll backup agents have been paused.\n" : "";
  if (backup === undefined) return `No previous backups found.\n${paused}`;
  const own = `BackupUID: ${backup.uid}\nBackupURL: ${backup.url}\n`;
  const details = isRunning(backup) ? detailsText(input, backup) : "";
  return `${headline(backup)}\n${own}${details}${errorsText(input, backup, errorLimit)}${paused}`;
}

function headline(backup: BackupView): string {
  const { tag, url } = backup;
  switch (backup.state) {
    case backupStates.submitted:
      return `The backup on tag \`${tag}' is in progress (just started) to ${url}.`;
    case backupStates.running:
      return `The backup on tag \`${tag}' is in progress to ${url}.`;
    case backupStates.differential:
      return `The backup on tag \`${tag}' is restorable but continuing to ${url}.`;
    case backupStates.completed:
      return `The previous backup on tag \`${tag}' at ${url} completed at version ${restorableVersion(backup) ?? -1}.`;
    default:
      return `The previous backup on tag \`${tag}' at ${url} ${backupDescriptions[backup.state] ?? "has errored"}.`;
  }
}

function detailsText(input: StatusInput, backup: BackupView): string {
  const { snapshotBegin: begin, snapshotTargetEnd: end } = backup;
  const shown = (version: number | undefined): string =>
    version === undefined ? "N/A, N/A" : `${version}, ${timeText(input.secondOf(version))}`;
  const isInitial = backup.state === backupStates.running;
  const percent = progress(input, begin ?? 0, end ?? 0).toFixed(2);
  const about = isInitial
    ? "The initial snapshot is still running."
    : `Current snapshot progress target is ${percent}% (>100% means the snapshot is supposed to be done)`;
  return [
    `Snapshot interval is ${backup.snapshotIntervalSeconds} seconds.  ${about}\n\n`,
    "Details:\n",
    ` LogBytes written - ${backup.logBytes}\n`,
    ` RangeBytes written - ${backup.rangeBytes}\n`,
    ` Last complete log version and timestamp        - ${shown(backup.latestLogEnd)}\n`,
    ` Last complete snapshot version and timestamp   - ${shown(backup.latestSnapshotEnd)}\n`,
    ` Current Snapshot start version and timestamp   - ${shown(begin)}\n`,
    ` Expected snapshot end version and timestamp    - ${shown(end)}\n`,
    ` Backup supposed to stop at next snapshot completion - ${backup.stopWhenDone ? "Yes" : "No"}\n`,
  ].join("");
}

/** Errors behind the latest restorable point are recent, the others are old. */
function errorsText(input: StatusInput, backup: BackupView, limit: number): string {
  const errors = backup.errors.slice(0, limit);
  const restorable = restorableVersion(backup);
  const recent = errors.filter(({ version }) => restorable === undefined || version > restorable);
  const older = errors.filter((error) => !recent.includes(error));
  const ago = (version: number): string =>
    durationText((input.nowVersion - version) / versionsPerSecond);
  const lines = (list: typeof errors): string =>
    list.map(({ text, version }) => `${ago(version)} ago : ${text}\n`).join("");
  const since =
    restorable === undefined ? "initialization" : `latest restorable point ${ago(restorable)} ago`;
  return [
    recent.length === 0 ? "" : `Recent Errors (since ${since})\n${lines(recent)}`,
    older.length === 0 ? "" : `Older Errors\n${lines(older)}`,
  ].join("");
}

/** 45 second(s), 1.78 minute(s), and so on. */
function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} second(s)`;
  const units = [
    ["minute(s)", 60],
    ["hour(s)", 3_600],
    ["day(s)", 86_400],
  ] as const;
  const [unit, length] = units.findLast(([, size]) => seconds >= size) ?? units[0];
  return `${(seconds / length).toFixed(2)} ${unit}`;
}
