// What `npm start` shows of a backup: its state, the last point that can be restored and how far that is behind, and what it
// waits for. Pure, but for the lines that are told. Rules: spec/cli.md [CLI1], [CLI3], [CLI23].
import type { FoundationDBBackup } from "../api/backup.ts";
import { isUnmanaged } from "../api/effective-backup.ts";
import type { ViewOptions } from "./progress-view.ts";
import { resourceLines, resourceTeller, whyWaiting } from "./resource-view.ts";
import type { ResourceTeller } from "./resource-view.ts";
import type { Output } from "./terminal.ts";

/** The newest generation is in force, where a backup is to run it can be restored, and no drill goes on. */
export function isBackupSettled({ metadata, spec, status }: FoundationDBBackup): boolean {
  if (status?.generations?.reconciled !== metadata.generation) return false;
  const isAwaited =
    !isUnmanaged(spec) &&
    spec.schedule === undefined &&
    (spec.backupState ?? "Running") === "Running";
  if (status?.drill !== undefined) return false;
  return !isAwaited || status?.backupDetails?.restorable === true;
}

/** Why it is not, in one line. */
export function whyNotSettled({ status }: FoundationDBBackup): string {
  if (status?.drill !== undefined) return whyWaiting(status, `its drill is ${status.drill.phase}`);
  return whyWaiting(status, "it cannot be restored yet");
}

/** For a view that is drawn again and again. */
export function renderBackup(
  name: string,
  backup: FoundationDBBackup,
  options: ViewOptions,
): string[] {
  const head = `backup ${name}  ${stateOf(backup)}${windowOf(backup)}${drillOf(backup)}`;
  return resourceLines(head, backup.status, options);
}

function stateOf({ metadata, status }: FoundationDBBackup): string {
  if (metadata.deletionTimestamp !== undefined) return "is being deleted";
  return status?.state ?? "not looked at yet";
}

function windowOf({ status }: FoundationDBBackup): string {
  const { restorable, lag, schedule } = status ?? {};
  const next = schedule?.next === undefined ? "" : `, next run at ${schedule.next}`;
  if (restorable?.to === undefined) return next;
  const { time, version = 0 } = restorable.to;
  const point = `  restorable to ${time ?? `version ${version}`}`;
  return `${point}${lag === undefined ? "" : `, ${lag} behind`}${next}`;
}

function drillOf({ status }: FoundationDBBackup): string {
  const { drill, lastVerification } = status ?? {};
  if (drill !== undefined) return `, drill: ${drill.phase}`;
  if (lastVerification === undefined) return "";
  return `, drill of ${lastVerification.time}: ${lastVerification.result}`;
}

export type BackupTeller = ResourceTeller<FoundationDBBackup>;

/** Lines whenever something has changed that a person would want to know. Figures alone are no news. */
export function backupTeller(output: Output, startedMs: number): BackupTeller {
  return resourceTeller(output, startedMs, (backup) => {
    const runs = (backup.status?.runs ?? []).map(({ time, result }) => `${time} ${result}`);
    const isRestorable = backup.status?.backupDetails?.restorable;
    return {
      news: [stateOf(backup), isRestorable, drillOf(backup), ...runs].join("\n"),
      text: `backup ${stateOf(backup)}${windowOf(backup)}${drillOf(backup)}`,
    };
  });
}
