// What holds for a backup, as several steps need it. Rules: spec/backup.md [BK36]-[BK38].
import type { FoundationDBBackup } from "../../api/backup.ts";
import { isContinuous, isUnmanaged, snapshotSecondsOf, tagOf } from "../../api/effective-backup.ts";
import { backupUrl, maskedUrl, runUrl } from "../../build/backup-url.ts";
import { isRunningState } from "../../fdb/backup-layer.ts";
import type { BackupLayer, BackupRecord } from "../../fdb/backup-layer.ts";
import { isOpen, isRunOf } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";

/** When the database was stopped, while it sleeps. */
export function asleepSince({ layer }: BackupSnapshot): string | undefined {
  return layer.kind === "missing" && layer.reason === "Asleep" ? layer.message : undefined;
}

/** Whether this generation had been brought about when the database fell asleep. */
export function isAtRest({ backup: { metadata, status } }: BackupSnapshot): boolean {
  const { generation, deletionTimestamp } = metadata;
  return deletionTimestamp === undefined && status?.generations?.reconciled === generation;
}

export function layerOf({ layer }: BackupSnapshot): BackupLayer | undefined {
  return layer.kind === "seen" ? layer.layer : undefined;
}

export function recordOf(snapshot: BackupSnapshot): BackupRecord | undefined {
  return layerOf(snapshot)?.record;
}

export function isRunning(record: BackupRecord | undefined): boolean {
  return isRunningState(record?.state);
}

export function isRestorable(record: BackupRecord | undefined): boolean {
  return record?.restorableTo !== undefined;
}

/** It may hold a secret. */
export function wantedUrl({ backup, run }: BackupSnapshot): string {
  return run === undefined ? (backupUrl(backup) ?? "") : runUrl(backup, run.backupName);
}

/**
 * Whether the backup that the tag stands for is the one of this resource: it was seen as such, it goes to the wanted
 * place, it is a run of the schedule, or the operator before this one has followed it.
 */
export function isOurs(snapshot: BackupSnapshot, record: BackupRecord): boolean {
  const { status } = snapshot.backup;
  if (isOfFirst(snapshot, record)) return false;
  if (status?.runs?.some((run) => isRunOf(run, record)) === true) return true;
  if (status?.backupUID !== undefined && status.backupUID !== "") {
    return status.backupUID === record.uid || record.url === wantedUrl(snapshot);
  }
  const followed = status?.backupDetails?.url ?? "";
  return record.url === wantedUrl(snapshot) || (followed !== "" && isSameUrl(followed, record.url));
}

/** Another resource was there first with this tag: what runs is its own, unless this one has seen another as its own. */
function isOfFirst(snapshot: BackupSnapshot, record: BackupRecord): boolean {
  const first = tagOwner(snapshot);
  if (first === undefined) return false;
  const seen = snapshot.backup.status?.backupUID ?? "";
  return seen === "" || first.status?.backupUID === record.uid;
}

/** The older resource that has the tag of this one. */
export function tagOwner({
  backup,
  others,
}: Pick<BackupSnapshot, "backup" | "others">): FoundationDBBackup | undefined {
  return others.find(
    (other) => !isUnmanaged(other.spec) && isSameTag(other, backup) && wasFirst(other, backup),
  );
}

/** What the status tells about: the backup of this resource, or whatever runs under the tag that others manage. */
export function ownRecord(snapshot: BackupSnapshot): BackupRecord | undefined {
  const record = recordOf(snapshot);
  if (record === undefined || isUnmanaged(snapshot.backup.spec)) return record;
  return isOurs(snapshot, record) ? record : undefined;
}

/** A status of the Go operator shows the secret, ours does not. */
function isSameUrl(shown: string, url: string): boolean {
  return maskedUrl(shown) === maskedUrl(url);
}

/** A one-time backup that has become restorable is done; one with a schedule runs while a run is to be made. */
export function shouldRun(snapshot: BackupSnapshot): boolean {
  const { backup, run } = snapshot;
  if (backup.spec.backupState === "Stopped") return false;
  if (isContinuous(backup.spec)) return true;
  const record = recordOf(snapshot);
  if (backup.spec.schedule !== undefined) {
    if (run === undefined || !isOpen(run)) return false;
    return record === undefined || !isRunOf(run, record) || !isRestorable(record);
  }
  return record === undefined || !isRestorable(record) || !isOurs(snapshot, record);
}

export interface Modification {
  readonly url?: string;
  readonly snapshotSeconds?: number;
}

/** How a running continuous backup differs from what is wanted; undefined when it does not. */
export function modificationOf(snapshot: BackupSnapshot): Modification | undefined {
  const record = recordOf(snapshot);
  const { spec } = snapshot.backup;
  if (record === undefined || !isRunning(record) || !isContinuous(spec)) return undefined;
  if (!isOurs(snapshot, record)) return undefined;
  const [url, snapshotSeconds] = [wantedUrl(snapshot), snapshotSecondsOf(spec)];
  // The period is not stored before an agent has taken up the backup.
  const hasPeriod = record.snapshotSeconds > 0;
  const change = {
    ...(url === record.url ? {} : { url }),
    ...(snapshotSeconds === record.snapshotSeconds || !hasPeriod ? {} : { snapshotSeconds }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** The same database, as far as names tell. */
export function isSameCluster(left: FoundationDBBackup, right: FoundationDBBackup): boolean {
  return (
    left.metadata.namespace === right.metadata.namespace &&
    left.spec.clusterName === right.spec.clusterName
  );
}

export function isSameTag(left: FoundationDBBackup, right: FoundationDBBackup): boolean {
  return isSameCluster(left, right) && tagOf(left.spec) === tagOf(right.spec);
}

type Named = Pick<FoundationDBBackup, "metadata">;

/** Of two resources that want the same, the one that was made first has it. */
export function wasFirst(left: Named, right: Named): boolean {
  const [one, two] = [left, right].map(({ metadata }) => {
    const { creationTimestamp = "", uid = "" } = metadata;
    return `${creationTimestamp ?? ""}/${uid}`;
  });
  return (one ?? "") < (two ?? "");
}

export function nameOf({ metadata }: Named): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}
