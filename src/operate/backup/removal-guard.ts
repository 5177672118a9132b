// The door in front of a deletion of data: the resource, all other backups and the database are read anew, and asked whether
// the data may go. Local copies are not enough for what cannot be taken back. Rules: spec/backup.md [BK75].
import { foundationDbBackups } from "../../api/backup.ts";
import { deletionPolicyOf, tagOf } from "../../api/effective-backup.ts";
import { readBackupLayer } from "../../fdb/backup-layer.ts";
import { keyOf } from "../../kube/path.ts";
import { removalRefusal } from "../../plan/backup/deletion.ts";
import { isOurs, isRunning, recordOf } from "../../plan/backup/facts.ts";
import type { BackupSnapshot, LayerObservation } from "../../plan/backup/snapshot.ts";
import { clusterOf, observeBackup } from "./observe.ts";
import type { BackupPerformInput } from "./perform.ts";

const timeoutMs = 10_000;

/** Why the data must stay; undefined when it may go. */
export async function removalObjection(input: BackupPerformInput): Promise<string | undefined> {
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
  const options = input.namespace === undefined ? {} : { namespace: input.namespace };
  const { items } = await client.listAll(foundationDbBackups, options);
  const others = items.filter(({ metadata }) => metadata.uid !== stored.metadata.uid);
  const database = input.database;
  const snapshot: BackupSnapshot = {
    ...observeBackup({
      ...{ backup: stored, caches, state, nowMs: nowMs(), database },
      ...{ serverAheadMs: 0, terminalPodMinimumAgeMs: 0 },
    }),
    others,
    layer: await layerNow(input),
  };
  const { layer } = snapshot;
  if (layer.kind === "missing" && layer.reason === "Unreachable") {
    return "the database does not say whether the backup still runs";
  }
  const record = recordOf(snapshot);
  if (record !== undefined && isRunning(record) && isOurs(snapshot, record)) {
    return "the backup still runs";
  }
  return removalRefusal(snapshot)?.message;
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
  const layer = await readBackupLayer(database.client, tagOf(backup.spec), timeoutMs);
  return { kind: "seen", layer, observedMs };
}
