// What holds for the runs of a schedule: each has a destination of its own, named by the time at which it was due.
// Rules: spec/backup.md [BK142], [BK146], [BK148].
import type { BackupRun, BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import { otherRunsMax, runsMax } from "../../api/backup-status.ts";
import { maskedUrl, placeOfUrl, runUrl } from "../../build/backup-url.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import { formatTime } from "../../kube/time.ts";

export function newRun(
  backup: FoundationDBBackup,
  dueMs: number,
  result: BackupRun["result"],
  message?: string,
): BackupRun {
  const base = backup.spec.blobStoreConfiguration?.backupName || (backup.metadata.name ?? "");
  const time = formatTime(dueMs);
  const backupName = `${base}-${time.slice(0, 16).replaceAll(/[-:]/g, "")}Z`;
  return {
    ...{ time, backupName, result },
    // Nothing lies anywhere for a run that was skipped.
    ...(result === "Skipped" ? {} : { url: maskedUrl(runUrl(backup, backupName)) }),
    ...(message === undefined ? {} : { message }),
  };
}

/** It is to be started, or has not ended. */
export function isOpen({ result }: BackupRun): boolean {
  return result === "Pending" || result === "Running";
}

/** Whether a backup of the database is this run: it went to the same place, with whatever account. */
export function isRunOf(run: BackupRun, { url }: Pick<BackupRecord, "url">): boolean {
  return run.url !== undefined && placeOfUrl(run.url) === placeOfUrl(url);
}

/** The database had it: a run that could not be started has written nothing, and what lies in its place is of somebody else. */
function hasBegun({ result, ended }: BackupRun): boolean {
  return (
    result === "Running" || result === "Succeeded" || (result === "Failed" && ended !== undefined)
  );
}

/** Data of it may lie where the spec would have it written today; what went elsewhere is left alone. */
export function hasData(backup: FoundationDBBackup, run: BackupRun): boolean {
  return hasBegun(run) && isRunOf(run, { url: runUrl(backup, run.backupName) });
}

export function hasGoneElsewhere(backup: FoundationDBBackup, run: BackupRun): boolean {
  return hasBegun(run) && !hasData(backup, run);
}

/** A point of one of the runs can be restored. */
export function hasSucceeded({ runs }: BackupStatus): boolean {
  return runs?.some(({ result }) => result === "Succeeded") === true;
}

/** Runs whose data is to go: all before the successful ones that stay. */
export function surplusRuns(backup: FoundationDBBackup, runs: readonly BackupRun[]): BackupRun[] {
  const { keepLast } = backup.spec.schedule ?? {};
  if (keepLast === undefined) return [];
  const good = runs.flatMap(({ result }, index) => (result === "Succeeded" ? [index] : []));
  const first = good.length <= keepLast ? 0 : (good.at(-keepLast) ?? 0);
  return runs.slice(0, first).filter((run) => !isOpen(run) && hasData(backup, run));
}

/** As many as are listed: of successful and open ones the newest, and the newest of all others. */
export function listedRuns(runs: readonly BackupRun[]): BackupRun[] {
  const isGood = (run: BackupRun): boolean => run.result === "Succeeded" || isOpen(run);
  const good = new Set(runs.filter(isGood).slice(-runsMax));
  const others = new Set(runs.filter((run) => !isGood(run)).slice(-otherRunsMax));
  return runs.filter((run) => good.has(run) || others.has(run));
}
