// What `npm start` shows of a restore: its state, how far it is, and what it waits for. Pure, but for the lines that are told.
// Rules: spec/cli.md [CLI3], [CLI24].
import type { FoundationDBRestore } from "../api/restore.ts";
import { isOver } from "../api/effective-restore.ts";
import type { ViewOptions } from "./progress-view.ts";
import { resourceLines, resourceTeller, whyWaiting } from "./resource-view.ts";
import type { ResourceTeller } from "./resource-view.ts";
import type { Output } from "./terminal.ts";

/** It has ended, one way or the other. */
export function isRestoreSettled(restore: FoundationDBRestore): boolean {
  return isOver(restore);
}

export function whyNotRestored({ status }: FoundationDBRestore): string {
  return whyWaiting(status, "it is not complete yet");
}

export function renderRestore(
  name: string,
  restore: FoundationDBRestore,
  options: ViewOptions,
): string[] {
  const head = `restore ${name}  ${stateOf(restore)}${progressOf(restore)}`;
  return resourceLines(head, restore.status, options);
}

function stateOf({ metadata, status, spec }: FoundationDBRestore): string {
  if (metadata.deletionTimestamp !== undefined) return "is being deleted";
  return `${status?.state ?? "not started yet"}, into ${spec.destinationClusterName}`;
}

function progressOf({ status }: FoundationDBRestore): string {
  const { target, progress } = status ?? {};
  const version = target?.version === undefined ? "" : `  to version ${target.version}`;
  if (progress === undefined) return version;
  const eta = progress.eta === undefined ? "" : `, expected at ${progress.eta}`;
  return `${version}, ${progress.percent ?? 0} percent${eta}`;
}

export type RestoreTeller = ResourceTeller<FoundationDBRestore>;

export function restoreTeller(output: Output, startedMs: number): RestoreTeller {
  return resourceTeller(output, startedMs, (restore) => ({
    news: stateOf(restore),
    text: `restore ${stateOf(restore)}${progressOf(restore)}`,
  }));
}
