// What holds for a restore, as several steps need it. Rules: spec/restore.md [RS3], [RS4], [RS30].
import type { BackupRun, FoundationDBBackup } from "../../api/backup.ts";
import { isOfGoOperator, pointOf, restoreTagOf, wasStarted } from "../../api/effective-restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { backupUrl, runUrl } from "../../build/backup-url.ts";
import { keptTemplate, lentTemplate, ownAgents } from "../../build/restore-agents.ts";
import { isUnderWay } from "../../fdb/restore-layer.ts";
import type { RestoreLayer, RestoreRecord } from "../../fdb/restore-layer.ts";
import { versionAtTime } from "../../model/backup-time-map.ts";
import type { CommandView } from "../backup/run-command.ts";
import type { RestoreSnapshot } from "./snapshot.ts";

export function layerOf({ layer }: RestoreSnapshot): RestoreLayer | undefined {
  return layer.kind === "seen" ? layer.layer : undefined;
}

/** What the database has under the tag of the restore, also of somebody else. */
function taggedRecord(snapshot: RestoreSnapshot): RestoreRecord | undefined {
  const tag = restoreTagOf(snapshot.restore);
  return layerOf(snapshot)?.restores.find((record) => record.tag === tag);
}

/**
 * The restore of this resource inside the database. Under a tag that somebody else may use, too, it is the one that was not
 * there before and goes to the version that was asked for.
 */
export function recordOf(snapshot: RestoreSnapshot): RestoreRecord | undefined {
  const record = taggedRecord(snapshot);
  return record !== undefined && isOurs(snapshot.restore, record) ? record : undefined;
}

function isOurs(restore: FoundationDBRestore, record: RestoreRecord): boolean {
  const { metadata, status } = restore;
  if (record.tag === metadata.uid || record.uid === status?.restoreUID) return true;
  if (isOfGoOperator(restore)) return wasStarted(restore);
  if (status?.tag === undefined || status.restoreUID !== undefined) return false;
  return record.uid !== status.earlierUID && record.version === status.target?.version;
}

/** A restore of somebody else under the tag of this one. */
export function foreignRecord(snapshot: RestoreSnapshot): RestoreRecord | undefined {
  const record = taggedRecord(snapshot);
  return record === undefined || isOurs(snapshot.restore, record) ? undefined : record;
}

/** Whether it was started, as far as status or database tell: then it is never started again. */
export function isBegun(snapshot: RestoreSnapshot): boolean {
  return wasStarted(snapshot.restore) || recordOf(snapshot) !== undefined;
}

/** Where the backup lies; it may hold a secret. Empty when there is no such backup. */
export function sourceUrl(snapshot: RestoreSnapshot): string {
  const { restore, source } = snapshot;
  const named = restore.spec.fromBackup === undefined ? restore : source;
  const run = runOf(snapshot);
  if (source !== undefined && run !== undefined) return runUrl(source, run.backupName) ?? "";
  return (named && backupUrl(named)) ?? "";
}

/** Of a backup with a schedule: the first successful run that reaches the point, otherwise the newest. */
function runOf({ restore, source, timeline }: RestoreSnapshot): BackupRun | undefined {
  if (source?.spec.schedule === undefined) return undefined;
  const good = (source.status?.runs ?? []).filter(({ result }) => result === "Succeeded");
  const point = pointOf(restore.spec);
  const found = point.kind === "time" ? versionAtTime(timeline, point.seconds) : undefined;
  const fromTime = found?.kind === "found" ? found.version : undefined;
  const version = point.kind === "version" ? point.version : fromTime;
  const reached = good.find((run) => version !== undefined && (run.version ?? 0) >= version);
  return reached ?? good.at(-1);
}

/** Agents of its own: when it asks for them, or when nobody else has any. Once made they stay until the end. */
export function hasOwnAgents({ restore, helpers, deployment }: RestoreSnapshot): boolean {
  return restore.spec.agents !== undefined || helpers.length === 0 || deployment !== undefined;
}

/** The backup that lends its template was deleted after the start. */
export function isTemplateLost({ restore, source }: RestoreSnapshot): boolean {
  const { fromBackup, agents } = restore.spec;
  return fromBackup !== undefined && source === undefined && agents?.podTemplateSpec === undefined;
}

export function isOwnDeployment({ restore, deployment }: RestoreSnapshot): boolean {
  const { uid } = restore.metadata;
  return deployment?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/** Each template whose agents may take a task of the restore: the restore's own, and those of backups of the destination. */
export function lenders(snapshot: RestoreSnapshot): FoundationDBBackup[] {
  const { restore, source, cluster, helpers, deployment } = snapshot;
  const isKept = isTemplateLost(snapshot) && isOwnDeployment(snapshot);
  const kept = isKept && cluster && deployment && keptTemplate(restore, cluster, deployment);
  const own = cluster === undefined ? [] : [kept || ownAgents(restore, source, cluster)];
  const { blobStoreConfiguration = source?.spec.blobStoreConfiguration } = restore.spec;
  const keyPath = restore.spec.encryptionKeyPath ?? source?.spec.encryptionKeyPath;
  const theirs = helpers.map(({ backup: { spec } }) =>
    lentTemplate(restore, {
      ...spec,
      ...(blobStoreConfiguration === undefined ? {} : { blobStoreConfiguration }),
      ...(keyPath === undefined ? {} : { encryptionKeyPath: keyPath }),
    }),
  );
  return hasOwnAgents(snapshot) ? [...own, ...theirs] : theirs;
}

/** A command of the restore, in a pod with this template. */
export function commandView(snapshot: RestoreSnapshot, backup: FoundationDBBackup): CommandView {
  const { nowMs, serverAheadMs, cluster, commandPods, layer } = snapshot;
  return { nowMs, serverAheadMs, cluster, commandPods, layer, backup };
}

export function isSameDestination(left: FoundationDBRestore, right: FoundationDBRestore): boolean {
  return (
    left.metadata.namespace === right.metadata.namespace &&
    left.spec.destinationClusterName === right.spec.destinationClusterName
  );
}

/** Other restores into the database that go on, by tag. */
export function otherUnderWay(snapshot: RestoreSnapshot): RestoreRecord | undefined {
  const own = recordOf(snapshot);
  const all = layerOf(snapshot)?.restores ?? [];
  return all.find((record) => record.uid !== own?.uid && isUnderWay(record));
}
