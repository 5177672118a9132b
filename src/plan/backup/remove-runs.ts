// Step removeBackupRuns: data of runs that spec.schedule.keepLast does not keep is deleted, one run after the other, while
// no run is under way. Rules: spec/backup.md [BK79], [BK146].
import type { BackupRun } from "../../api/backup.ts";
import { deleteCommand } from "../../build/backup-command.ts";
import { runUrl } from "../../build/backup-url.ts";
import type { CommandEnd } from "./command-end.ts";
import { readerOf, readerWait } from "./readers.ts";
import { isOpen, surplusRuns } from "./runs.ts";
import { lastEnd, runCommand } from "./run-command.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";

const step = "removeBackupRuns";

export function removeBackupRuns(snapshot: BackupSnapshot, draft: BackupDraft): BackupStepResult {
  const { runs = [] } = draft.status;
  const surplus = runs.some(isOpen) ? [] : surplusRuns(snapshot.backup, runs);
  const readerOfRun = (each: BackupRun): ReturnType<typeof readerOf> =>
    readerOf(snapshot.restores, [each.url ?? ""]);
  const run = surplus.find((each) => readerOfRun(each) === undefined);
  if (run === undefined) {
    const [reader] = surplus.flatMap((each) => readerOfRun(each) ?? []);
    return reader === undefined ? nothing : { waits: [readerWait(step, reader)] };
  }
  const message = `The data of the run of ${run.time} was deleted: newer ones are kept`;
  return removalOfRun(snapshot, draft, step, run, [
    { type: "Normal", reason: "BackupRunRemoved", message },
  ]);
}

/** Data that a deletion has found, or has found gone. */
export function isGone(end: CommandEnd | undefined): boolean {
  return end?.isSuccess === true || isMissing(end);
}

/** A command that found nothing there. */
export function isMissing(end: CommandEnd | undefined): boolean {
  return end?.isSuccess !== true && /Backup does not exist/.test(end?.message ?? "");
}

/** Deletes the data of one run; when that is done, the list says so. */
export function removalOfRun(
  snapshot: BackupSnapshot,
  { status }: BackupDraft,
  ownStep: string,
  run: BackupRun,
  events: NonNullable<BackupStepResult["events"]>,
): BackupStepResult {
  const { backup } = snapshot;
  const command = deleteCommand(backup, runUrl(backup, run.backupName), `run ${run.time}`);
  const end = lastEnd(snapshot, command);
  if (!isGone(end)) {
    const begun = runCommand(snapshot, ownStep, command);
    const actions = (begun.actions ?? []).map((action) => ({ ...action, runTime: run.time }));
    return { ...begun, actions };
  }
  const runs = (status.runs ?? []).map((each) =>
    each.time === run.time ? { ...each, result: "Removed" as const } : each,
  );
  return { status: { runs }, events };
}
