// What agents do for a backup: start it, copy the ranges of a snapshot over the time that it may take, copy the mutation
// log in pieces of twenty million versions, and complete it. Carries rules BSIM13, BSIM14 and BSIM15.
import { leastOf, mostOf } from "../../env/long-lists.ts";
import { bytesOfBinary, bytesOfText } from "../../fdb/bytes.ts";
import { decodeTuple, encodeTuple } from "../../fdb/tuple.ts";
import { randomHex } from "../database/fabric.ts";
import type { RecordedCommit } from "../key-value/commit-record.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { follow } from "./agent-work.ts";
import type { AgentWork, Outcome, TaskRunner } from "./agent-work.ts";
import { backupStates, restorableVersion, viewBackup } from "./backup-view.ts";
import type { BackupView } from "./backup-view.ts";
import { logObject, propertyObject, rangeObject, snapshotObject } from "./container-objects.ts";
import type { RangeFile } from "./container-objects.ts";
import { LayerConfig, merged, textOf } from "./layer-config.ts";
import type { KeyChanges } from "./layer-config.ts";
import { keyParameter } from "./task-bucket.ts";
import { ToolError } from "./tool-error.ts";

const logVersions = 20_000_000;
/** A backup that is to stop is completed so much later than its last log is written. */
const completionVersions = 13_000_000;
const versionsPerSecond = 1_000_000;
/** The data is copied in at most so many pieces. */
const piecesMax = 4;

const type = {
  start: "file_backup_start_5.2",
  logs: "file_backup_write_logs_5.2",
  dispatchLogs: "file_backup_dispatch_logs_5.2",
  dispatch: "file_backup_dispatch_ranges_5.2",
  range: "file_backup_write_range_5.2",
  snapshot: "file_backup_write_snapshot_5.2",
} as const;

export const backupStartType: string = type.start;

export const backupTasks: Readonly<Record<string, TaskRunner>> = {
  [type.start]: start,
  [type.logs]: writeLogs,
  [type.dispatchLogs]: async (work, task) => () =>
    logsWritten(work, task.uid, Number(task.parameters["endVersion"])),
  [type.dispatch]: async (work, task) => () => dispatchRanges(work, task.uid),
  [type.range]: writeRange,
  [type.snapshot]: writeSnapshot,
};

function now(work: AgentWork): number {
  return work.database.store.readNow({ begin: "", end: "" }).version;
}

function configOf(work: AgentWork, uid: string): LayerConfig {
  return new LayerConfig(work.database.store, "backup", uid);
}

async function start(work: AgentWork, task: { uid: string }): Promise<Outcome> {
  const { uid } = task;
  const { store } = work.database;
  const backup = viewBackup(store, uid);
  const container = work.open(backup.url);
  const { isPartitioned } = backup;
  await container.put(
    propertyObject(container.name, "mutation_log_type", isPartitioned ? "1" : "0"),
  );
  return () => {
    const version = now(work);
    const config = configOf(work, uid);
    const intervalSeconds = config.number("initialSnapshotIntervalSeconds") ?? 0;
    return merged(
      config.changes({
        stateEnum: [backupStates.running],
        latestLogEndVersion: [version],
        ...beginSnapshot(version, intervalSeconds),
      }),
      follow(work, "backup", uid, type.logs, { beginVersion: version }, version + logVersions),
      follow(work, "backup", uid, type.dispatch),
    );
  };
}

function beginSnapshot(version: number, intervalSeconds: number) {
  return {
    snapshotBeginVersion: [version],
    snapshotTargetEndVersion: [version + intervalSeconds * versionsPerSecond],
    snapshotDispatchLastVersion: [version],
    snapshotDispatchLastShardsBehind: [intervalSeconds === 0 ? 0 : 1],
  };
}

/** Plans the pieces of the snapshot evenly over the time that it may take. */
function dispatchRanges(work: AgentWork, uid: string): KeyChanges {
  const { store } = work.database;
  const backup = viewBackup(store, uid);
  const version = now(work);
  const begin = backup.snapshotBegin ?? version;
  const span = Math.max(0, (backup.snapshotTargetEnd ?? begin) - begin);
  const pieces = backup.ranges.flatMap((range) => split(work, range));
  const config = configOf(work, uid);
  return merged(
    config.changes({
      snapshotDispatchLastVersion: [version],
      snapshotDispatchLastShardsBehind: [span === 0 ? pieces.length : 1],
    }),
    ...pieces.map((piece, index) => {
      const due = begin + Math.floor((span * (index + 1)) / (pieces.length + 1));
      const parameters = {
        beginKey: bytesOfBinary(piece.begin),
        endKey: bytesOfBinary(piece.end),
        pieces: pieces.length,
        snapshotBegin: begin,
      };
      return follow(work, "backup", uid, type.range, parameters, due);
    }),
  );
}

function split(work: AgentWork, range: KeyRange): KeyRange[] {
  const { items } = work.database.store.readNow(range);
  const count = Math.max(1, Math.min(piecesMax, items.length));
  const cuts = Array.from({ length: count - 1 }, (_, index) => {
    const at = Math.floor((items.length * (index + 1)) / count);
    return items[at]?.key ?? range.end;
  });
  const edges = [range.begin, ...cuts, range.end];
  return cuts.concat(range.end).map((end, index) => ({ begin: edges[index] ?? range.begin, end }));
}

async function writeRange(work: AgentWork, task: Parameters<TaskRunner>[1]): Promise<Outcome> {
  const { store, fabric } = work.database;
  const backup = viewBackup(store, task.uid);
  const range = { begin: keyParameter(task, "beginKey"), end: keyParameter(task, "endKey") };
  const { version, items } = store.readNow(range);
  const container = work.open(backup.url);
  const file: RangeFile = { kind: "range", range, version, items };
  const snapshotBegin = Number(task.parameters["snapshotBegin"]);
  checkEncryptionKey(work, backup);
  const object = rangeObject(container.name, snapshotBegin, randomHex(fabric, 32), file);
  await container.put(object);
  return () => {
    const config = configOf(work, task.uid);
    const done = config.entries("snapshotRangeFileMap");
    const key = config.key("snapshotRangeFileMap", bytesOfBinary(range.end));
    const path = bytesOfText(object.key);
    const entry = encodeTuple([bytesOfBinary(range.begin), version, path, object.bytes]);
    const others = done.filter(({ item }) => item.key !== key);
    const isLast = others.length + 1 >= Number(task.parameters["pieces"]);
    return merged(
      new Map([[key, entry]]),
      config.changes({
        rangeBytesWritten: { count: config.count("rangeBytesWritten") + object.bytes },
        snapshotRangeFileCount: { count: others.length + 1 },
      }),
      isLast ? follow(work, "backup", task.uid, type.snapshot) : new Map(),
    );
  };
}

/** Agents read the key at the path that was given to `start`. */
function checkEncryptionKey(work: AgentWork, backup: BackupView): void {
  if (backup.encryptionKeyFile === "") return;
  if (work.readFile(backup.encryptionKeyFile) === undefined) throw new ToolError(1511);
}

async function writeSnapshot(work: AgentWork, task: { uid: string }): Promise<Outcome> {
  const { store } = work.database;
  const backup = viewBackup(store, task.uid);
  const container = work.open(backup.url);
  const files = configOf(work, task.uid)
    .entries("snapshotRangeFileMap")
    .map(({ item }) => {
      const [, version, path, bytes] = decodeTuple(item.value);
      return { version: Number(version), path: textOf(path), bytes: Number(bytes) };
    });
  const versions = files.map((file) => file.version);
  const endVersion = mostOf(versions);
  await container.put(
    snapshotObject(container.name, {
      kind: "snapshot",
      beginVersion: leastOf(versions),
      endVersion,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      files: files.map((file) => file.path),
    }),
  );
  return () => snapshotWritten(work, task.uid, endVersion);
}

function snapshotWritten(work: AgentWork, uid: string, endVersion: number): KeyChanges {
  const config = configOf(work, uid);
  const backup = viewBackup(work.database.store, uid);
  const version = now(work);
  const map = config.entries("snapshotRangeFileMap").map(({ item }) => item.key);
  const cleared: KeyChanges = new Map(map.map((key) => [key, undefined]));
  const written = config.changes({
    latestSnapshotEndVersion: [endVersion],
    firstSnapshotEndVersion: [backup.firstSnapshotEnd ?? endVersion],
  });
  if (backup.stopWhenDone) return merged(cleared, written);
  return merged(
    cleared,
    written,
    config.changes(beginSnapshot(version, backup.snapshotIntervalSeconds)),
    follow(work, "backup", uid, type.dispatch),
  );
}

async function writeLogs(work: AgentWork, task: Parameters<TaskRunner>[1]): Promise<Outcome> {
  const { store, fabric } = work.database;
  const backup = viewBackup(store, task.uid);
  const container = work.open(backup.url);
  const beginVersion = Number(task.parameters["beginVersion"]);
  const endVersion = beginVersion + logVersions;
  const commits = store
    .record()
    .between(beginVersion, endVersion)
    .flatMap((commit) => restricted(commit, backup.ranges));
  const file = { kind: "log" as const, beginVersion, endVersion, commits };
  const object = logObject(container.name, randomHex(fabric, 32), file);
  await container.put(object);
  return () => {
    const current = viewBackup(store, task.uid);
    const next = { beginVersion: endVersion };
    const written = configOf(work, task.uid).changes({
      logBytesWritten: { count: current.logBytes + object.bytes },
    });
    const isEnding = current.stopWhenDone && current.state !== backupStates.differential;
    if (!isEnding) {
      return merged(
        written,
        logsWritten(work, task.uid, endVersion),
        follow(work, "backup", task.uid, type.logs, next, endVersion + logVersions),
      );
    }
    const due = now(work) + completionVersions;
    return merged(
      written,
      follow(work, "backup", task.uid, type.dispatchLogs, { endVersion }, due),
    );
  };
}

/** The log reaches further: the backup may have become restorable, or may be done. */
function logsWritten(work: AgentWork, uid: string, endVersion: number): KeyChanges {
  const config = configOf(work, uid);
  const backup = { ...viewBackup(work.database.store, uid), latestLogEnd: endVersion };
  const isRestorable = restorableVersion(backup) !== undefined;
  const state = isRestorable ? stateWhenRestorable(backup) : backup.state;
  const changes = config.changes({ latestLogEndVersion: [endVersion], stateEnum: [state] });
  const goesOn = backup.stopWhenDone && !isRestorable;
  if (!goesOn) return changes;
  const next = { beginVersion: endVersion };
  return merged(changes, follow(work, "backup", uid, type.logs, next, endVersion + logVersions));
}

function stateWhenRestorable(backup: BackupView): number {
  return backup.stopWhenDone ? backupStates.completed : backupStates.differential;
}

/** What a commit changed in the ranges of the backup; nothing for one that touched none of them. */
function restricted(commit: RecordedCommit, ranges: readonly KeyRange[]): RecordedCommit[] {
  const isWanted = (key: string): boolean =>
    ranges.some(({ begin, end }) => key >= begin && key < end);
  const written = new Map([...commit.written].filter(([key]) => isWanted(key)));
  const cleared = commit.cleared.flatMap((range) =>
    ranges
      .map(({ begin, end }) => ({
        begin: range.begin > begin ? range.begin : begin,
        end: range.end < end ? range.end : end,
      }))
      .filter(({ begin, end }) => begin < end),
  );
  if (written.size + cleared.length === 0) return [];
  return [{ version: commit.version, written, cleared }];
}
