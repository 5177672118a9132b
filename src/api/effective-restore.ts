// The values that hold for a restore where its spec says nothing. Rules: spec/restore.md [RS1], [RS3], [RS4].
import { parseTime } from "../kube/time.ts";
import type { FoundationDBRestore, RestoreSpec } from "./restore.ts";

/** The only tag that the Go operator knows. */
const tagOfGo = "default";

const begunStates: ReadonlySet<string> = new Set([
  "queued",
  "starting",
  "running",
  "completed",
  "aborted",
]);

/**
 * Whether an operator before this one has taken up the restore. It names no tag in the status, as ours does before it starts
 * anything.
 */
export function isOfGoOperator({ status }: FoundationDBRestore): boolean {
  return status?.tag === undefined && (status?.running === true || (status?.state ?? "") !== "");
}

/** Whether the status itself says that the restore was started, by whomever. */
export function wasStarted({ status }: FoundationDBRestore): boolean {
  return status?.running === true || begunStates.has(status?.state ?? "");
}

/** Its end was seen, and nothing is asked about it any more. */
export function isOver(restore: FoundationDBRestore): boolean {
  const { status } = restore;
  const isEnded = status?.state === "completed" || status?.state === "aborted";
  return status?.endTime !== undefined || (isEnded && isOfGoOperator(restore));
}

export function restoreTagOf(restore: FoundationDBRestore): string {
  if (isOfGoOperator(restore) && wasStarted(restore)) return tagOfGo;
  const { status, spec, metadata } = restore;
  return status?.tag ?? (spec.tag || metadata.uid || "");
}

export type RestorePoint =
  | { readonly kind: "latest" }
  | { readonly kind: "version"; readonly version: number }
  | { readonly kind: "time"; readonly time: string; readonly seconds: number };

export function pointOf({ to, backupVersion }: RestoreSpec): RestorePoint {
  const version = to?.version ?? backupVersion ?? undefined;
  if (version !== undefined) return { kind: "version", version };
  if (to?.time === undefined) return { kind: "latest" };
  // A time that cannot be read is before everything: validation has told so, and it never means the latest point.
  const seconds = (parseTime(to.time) ?? -Infinity) / 1000;
  return { kind: "time", time: to.time, seconds };
}

export function isAborting({ deletionPolicy }: RestoreSpec): boolean {
  return (deletionPolicy ?? "abort") === "abort";
}
