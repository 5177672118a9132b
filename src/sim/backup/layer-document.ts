// What an agent writes about itself and the backups for `status json`, every forty seconds; it is believed for a hundred and
// twenty million versions. The documents of all agents together are `cluster.layers.backup`. Carries rule BSIM22.
import { bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import type { Database } from "../database/database.ts";
import type { KeyValueStore } from "../key-value/store.ts";
import { backupStates, isActive, restorableVersion, viewBackup } from "./backup-view.ts";
import { listTags, prefixRange } from "./layer-config.ts";
import type { KeyChanges } from "./layer-config.ts";
import { isPaused } from "./task-bucket.ts";

export interface AgentFigures {
  readonly id: string;
  readonly address: string;
  readonly processId: number;
  readonly version: string;
  readonly locality: Readonly<Record<string, string>>;
  /** Since the document before. */
  readonly recent: RequestFigures & { readonly seconds: number };
  readonly total: RequestFigures;
  /** Encryption key files that it has tried to read. */
  readonly encryptionKeys: readonly { path: string; success: boolean }[];
}

export interface RequestFigures {
  readonly bytesSent: number;
  readonly failed: number;
  readonly successful: number;
}

export const documentPeriodMs = 40_000;
const documentVersions = 120_000_000;
const workers = 10;
const documents = "\xff\x02/backupstatus/backup/json";

export const backupDescriptions: Readonly<Record<number, string>> = {
  [backupStates.submitted]: "has been submitted",
  [backupStates.running]: "has been started",
  [backupStates.differential]: "is differential",
  [backupStates.completed]: "has been completed",
  [backupStates.aborted]: "has been aborted",
};

interface AgentDocument {
  readonly expiresVersion: number;
  readonly instance: Readonly<Record<string, unknown>>;
  readonly id: string;
  readonly recent: Readonly<Record<string, number>>;
  readonly lastUpdated: number;
  readonly paused: boolean;
  readonly tags: Readonly<Record<string, unknown>>;
}

/** The keys that an agent writes: its document, and where status finds all documents. */
export function documentChanges(database: Database, figures: AgentFigures): KeyChanges {
  const { store, fabric } = database;
  const lastUpdated = fabric.clock.nowMs() / 1000;
  const { version } = store.readNow({ begin: "", end: "" });
  const recent = ioFigures(figures.recent, figures.recent.seconds);
  const instance = {
    blob_stats: { recent, total: totals(figures.total) },
    configured_workers: workers,
    encryption_keys: figures.encryptionKeys,
    id: figures.id,
    last_updated: lastUpdated,
    locality: figures.locality,
    main_thread_cpu_seconds: 1,
    memory_usage: 443_600_896,
    networkAddress: figures.address,
    processID: figures.processId,
    process_cpu_seconds: 1,
    resident_size: 51_769_344,
    version: figures.version,
  };
  const body = {
    blob_recent_io: summed(recent),
    instances: { [figures.id]: instance },
    instances_running: { $sum: 1 },
    last_updated: { $max: lastUpdated },
    paused: { $latest: isPaused(store) },
    tags: { $latest: tagFigures(store, version), timestamp: lastUpdated },
    total_workers: { $sum: workers },
  };
  const document = { backup: { $expires: body, version: version + documentVersions } };
  return new Map([
    ["\xff\x02/status/json/backup", bytesOfText(documents)],
    [`${documents}/agent-${figures.id}`, bytesOfText(JSON.stringify(document))],
  ]);
}

function ioFigures(figures: RequestFigures, seconds: number) {
  const bytesPerSecond = seconds > 0 ? figures.bytesSent / seconds : 0;
  return { bytes_per_second: bytesPerSecond, ...totals(figures) };
}

function totals(figures: RequestFigures) {
  return {
    bytes_sent: figures.bytesSent,
    requests_failed: figures.failed,
    requests_successful: figures.successful,
  };
}

function summed(figures: Readonly<Record<string, number>>): Record<string, { $sum: number }> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, { $sum: value }]),
  );
}

/** Every tag that was ever used. */
function tagFigures(store: KeyValueStore, version: number): Record<string, unknown> {
  const entries = listTags(store, "backup").map(({ tag, uid }): [string, unknown] => {
    const backup = viewBackup(store, uid);
    const restorable = restorableVersion(backup);
    const isRunning = isActive(backup.state);
    return [
      tag,
      {
        current_container: backup.url,
        current_status: backupDescriptions[backup.state] ?? "has errored",
        ...(backup.encryptionKeyFile === ""
          ? {}
          : { encryption_key_file: backup.encryptionKeyFile }),
        file_level_encryption: backup.encryptionKeyFile !== "",
        ...(restorable === undefined
          ? {}
          : {
              last_restorable_seconds_behind: (version - restorable) / 1_000_000,
              last_restorable_version: restorable,
            }),
        mutation_log_bytes_written: backup.logBytes,
        mutation_stream_id: uid,
        range_bytes_written: backup.rangeBytes,
        running_backup: isRunning,
        running_backup_is_restorable: isRunning && restorable !== undefined,
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** `cluster.layers.backup`; undefined when no agent has written for too long. */
export function backupLayer(database: Database): Record<string, unknown> | undefined {
  const { store } = database;
  const { version, items } = store.readNow(prefixRange(`${documents}/`));
  const alive = items
    .map(({ value }) => readDocument(textOfBytes(value)))
    .filter((document) => document.expiresVersion > version)
    .toSorted((left, right) => left.lastUpdated - right.lastUpdated);
  const newest = alive.at(-1);
  if (newest === undefined) return undefined;
  const sum = (name: string): number =>
    alive.reduce((total, document) => total + (document.recent[name] ?? 0), 0);
  const byId = alive.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  return {
    blob_recent_io: Object.fromEntries(Object.keys(newest.recent).map((name) => [name, sum(name)])),
    instances: Object.fromEntries(byId.map(({ id, instance }) => [id, instance])),
    instances_running: alive.length,
    last_updated: newest.lastUpdated,
    paused: newest.paused,
    tags: newest.tags,
    total_workers: alive.length * workers,
  };
}

function readDocument(text: string): AgentDocument {
  const { backup } = JSON.parse(text) as {
    backup: {
      version: number;
      $expires: {
        blob_recent_io: Record<string, { $sum: number }>;
        instances: Record<string, Record<string, unknown>>;
        last_updated: { $max: number };
        paused: { $latest: boolean };
        tags: { $latest: Record<string, unknown> };
      };
    };
  };
  const body = backup.$expires;
  const [[id, instance] = ["", {}]] = Object.entries(body.instances);
  return {
    expiresVersion: backup.version,
    ...{ id, instance },
    recent: Object.fromEntries(
      Object.entries(body.blob_recent_io).map(([name, { $sum }]) => [name, $sum]),
    ),
    lastUpdated: body.last_updated.$max,
    paused: body.paused.$latest,
    tags: body.tags.$latest,
  };
}
