// What `npm start` shows of a backup: its state, the last point that can be restored and how far that is behind, and what it
// waits for. Pure, but for the lines that are told. Rules: spec/cli.md [CLI1], [CLI3], [CLI23].
import type { FoundationDBBackup } from "../api/backup.ts";
import { isUnmanaged } from "../api/effective-backup.ts";
import { clip, formatElapsed } from "./progress-view.ts";
import type { ViewOptions } from "./progress-view.ts";
import type { Output } from "./terminal.ts";

/** The newest generation is in force, and where a backup is to run it can be restored. */
export function isBackupSettled({ metadata, spec, status }: FoundationDBBackup): boolean {
  if (status?.generations?.reconciled !== metadata.generation) return false;
  const isAwaited =
    !isUnmanaged(spec) &&
    spec.schedule === undefined &&
    (spec.backupState ?? "Running") === "Running";
  return !isAwaited || status?.backupDetails?.restorable === true;
}

/** Why it is not, in one line. */
export function whyNotSettled({ status }: FoundationDBBackup): string {
  const [wait] = status?.blockedBy ?? [];
  if (wait?.reason === "InvalidSpec") {
    return `${wait.object ?? ""}: ${wait.message} (${wait.remedy ?? ""})`;
  }
  if (wait !== undefined) return `${wait.step} waits: ${wait.message}`;
  return status === undefined
    ? "the operator has not looked at it yet"
    : "it cannot be restored yet";
}

/** For a view that is drawn again and again. */
export function renderBackup(
  name: string,
  backup: FoundationDBBackup,
  options: ViewOptions,
): string[] {
  const waits = (backup.status?.blockedBy ?? []).slice(0, 2);
  return [
    "",
    `backup ${name}  ${stateOf(backup)}${windowOf(backup)}`,
    ...waits.map(({ step, message }) => `  waits  ${step}: ${message}`),
  ].map((line) => clip(line, options));
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

export type BackupTeller = (name: string, backup: FoundationDBBackup, nowMs: number) => void;

/** Lines whenever something has changed that a person would want to know. Figures alone are no news. */
export function backupTeller(output: Output, startedMs: number): BackupTeller {
  const told = new Map<string, string>();
  const isNews = (what: string, text: string): boolean => {
    if ((told.get(what) ?? "") === text) return false;
    told.set(what, text);
    return true;
  };
  return (name, backup, nowMs) => {
    const { status } = backup;
    if (status === undefined) return;
    const runs = (status.runs ?? []).map(({ time, result }) => `${time} ${result}`);
    const state = [stateOf(backup), status.backupDetails?.restorable, ...runs].join("\n");
    const waits = (status.blockedBy ?? []).map(({ step, message }) => `${message} (${step})`);
    const time = formatElapsed(nowMs - startedMs);
    if (isNews(`${name} state`, state)) {
      output.line(`${time}  ${name}  backup ${stateOf(backup)}${windowOf(backup)}`);
    }
    if (!isNews(`${name} waits`, waits.join("\n"))) return;
    for (const wait of waits) output.line(`${time}  ${name}  waits: ${wait}`);
  };
}
