// The door in front of what deletes data of a backup: the resource, all other backups and the database are read anew, and
// asked whether the data may go. Local copies are not enough for what cannot be taken back. Rules: spec/backup.md [BK71], [BK75], [BK77],
// [BK79], [BK104].
import { foundationDbBackups } from "../../api/backup.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { deletionPolicyOf } from "../../api/effective-backup.ts";
import { runUrl } from "../../build/backup-url.ts";
import { readBackupLayer } from "../../fdb/backup-layer.ts";
import { keyOf } from "../../kube/path.ts";
import { removalRefusal } from "../../plan/backup/deletion.ts";
import { hasWrittenThere } from "../../plan/backup/destination.ts";
import { expirableBefore } from "../../plan/backup/expiry.ts";
import { isOurs, isRunning, nameOf, recordOf, wantedUrl } from "../../plan/backup/facts.ts";
import { lookBeforeRemoval } from "../../plan/backup/last-backup.ts";
import { inItsPlace } from "../../plan/backup/moved.ts";
import { readerOf } from "../../plan/backup/readers.ts";
import { isRunOf, surplusRuns } from "../../plan/backup/runs.ts";
import type { BackupSnapshot, LayerObservation } from "../../plan/backup/snapshot.ts";
import { clusterOf, observeBackup, questionOf } from "./observe.ts";
import type { BackupPerformInput } from "./perform.ts";

const timeoutMs = 10_000;

/** Why the data must stay; undefined when it may go. */
export async function removalObjection(
  input: BackupPerformInput,
  runTime: string | undefined,
): Promise<string | undefined> {
  const { client, caches, state, backup, nowMs } = input;
  const stored = await client.find(foundationDbBackups, keyOf(backup));
  if (
    stored?.metadata.uid !== backup.metadata.uid ||
    stored?.metadata.deletionTimestamp === undefined
  ) {
    return "the backup is not being deleted";
  }
  if (deletionPolicyOf(stored.spec) !== "cleanup")
    return "spec.deletionPolicy is not cleanup any more";
  const { items } = await client.listAll(foundationDbBackups, watched(input));
  const others = items.filter(({ metadata }) => metadata.uid !== stored.metadata.uid);
  const database = input.database;
  const snapshot: BackupSnapshot = inItsPlace({
    ...observeBackup({
      ...{ backup: stored, caches, state, nowMs: nowMs(), database },
      ...{ serverAheadMs: 0, terminalPodMinimumAgeMs: 0 },
    }),
    others,
    restores: await restoresNow(input),
    layer: await layerNow(input),
  });
  const { layer } = snapshot;
  if (layer.kind === "missing" && layer.reason !== "NoCluster") {
    return "the database does not say whether the backup still runs";
  }
  const record = recordOf(snapshot);
  if (record !== undefined && isRunning(record) && isOurs(snapshot, record)) {
    return "the backup still runs";
  }
  if (runTime === undefined && !hasWrittenThere(snapshot))
    return "this backup has written nothing there";
  const run = stored.status?.runs?.find(({ time }) => time === runTime);
  const url = run === undefined ? wantedUrl(snapshot) : runUrl(stored, run.backupName);
  return (removalRefusal(snapshot) ?? storeRefusal(snapshot, url))?.message;
}

function storeRefusal(snapshot: BackupSnapshot, url: string): { message: string } | undefined {
  const look = lookBeforeRemoval(snapshot, url);
  if (!("result" in look)) return undefined;
  return look.result.waits?.[0] ?? { message: "nobody has looked into the store" };
}

/** Why nothing may be expired that leaves only what is restorable from this version on; undefined when it may. */
export async function expiryObjection(
  input: BackupPerformInput,
  restorableAfter: number,
): Promise<string | undefined> {
  const { client, caches, state, backup, nowMs, database } = input;
  const stored = await client.find(foundationDbBackups, keyOf(backup));
  if (stored?.metadata.uid !== backup.metadata.uid || stored === undefined) {
    return "the backup is another one by now";
  }
  if (stored.metadata.deletionTimestamp !== undefined) return "the backup is being deleted";
  const fresh = observeBackup({
    ...{ backup: stored, caches, state, nowMs: nowMs(), database },
    ...{ serverAheadMs: 0, terminalPodMinimumAgeMs: 0 },
  });
  const layer = await layerNow({ ...input, backup: stored });
  const oldest = expirableBefore(inItsPlace({ ...fresh, layer }));
  if (oldest !== undefined && restorableAfter <= oldest) {
    return reading(await restoresNow(input), wantedUrl(fresh));
  }
  return "spec.retention or the state of the backup does not allow it any more";
}

/** Why the data of a run must stay; undefined when newer ones are kept and nobody writes there. */
export async function runObjection(
  input: BackupPerformInput,
  runTime: string,
): Promise<string | undefined> {
  const { client, backup } = input;
  const stored = await client.find(foundationDbBackups, keyOf(backup));
  if (stored?.metadata.uid !== backup.metadata.uid || stored === undefined) {
    return "the backup is another one by now";
  }
  const { runs = [] } = stored.status ?? {};
  const run = surplusRuns(stored, runs).find(({ time }) => time === runTime);
  if (run === undefined) return "spec.schedule keeps the run now";
  const layer = await layerNow({ ...input, backup: stored });
  if (layer.kind === "missing") return "the database does not say whether the run still goes on";
  const { record, otherWriters } = layer.layer;
  if (record !== undefined && isRunning(record) && isRunOf(run, record)) return "it still runs";
  const writer = otherWriters.find((each) => isRunOf(run, each));
  if (writer !== undefined) return `a backup of the tag ${writer.tag} writes there`;
  return reading(await restoresNow(input), run.url ?? "");
}

function reading(restores: readonly FoundationDBRestore[], url: string): string | undefined {
  const reader = readerOf(restores, [url]);
  return reader && `the restore ${nameOf(reader)} reads it`;
}

function watched({ namespace }: BackupPerformInput): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

async function restoresNow(input: BackupPerformInput): Promise<FoundationDBRestore[]> {
  return (await input.client.listAll(foundationDbRestores, watched(input))).items;
}

async function layerNow({
  caches,
  backup,
  database,
  nowMs,
}: BackupPerformInput): Promise<LayerObservation> {
  const missing = { kind: "missing", message: "" } as const;
  const cluster = clusterOf(caches, backup);
  if (cluster === undefined) return { ...missing, reason: "NoCluster" };
  if (cluster.status?.configured !== true) return { ...missing, reason: "NotReady" };
  if (database?.client === undefined) return { ...missing, reason: "Unreachable" };
  const observedMs = nowMs();
  const layer = await readBackupLayer(database.client, questionOf(backup, observedMs), timeoutMs);
  return { kind: "seen", layer, observedMs };
}
