// When the status of a backup is written, and which events its changes are. Figures move all the time: they are renewed
// with other news, and every ten minutes. Pure. Rules: spec/backup.md [BK95], [BK96].
import { conditionIn } from "../../kube/condition.ts";
import type { BackupStatus } from "../../api/backup.ts";
import type { Condition } from "../../api/conditions.ts";
import { isSameJson } from "../../plan/view/same-json.ts";
import type { PlanEvent } from "../../plan/step.ts";
import { withoutRetryTimes } from "../status-writes.ts";

export const figuresMs = 600_000;

/** "figures": nothing but them has changed. */
export function backupStatusDue(
  stored: BackupStatus | undefined,
  next: BackupStatus,
): "unchanged" | "figures" | "now" {
  if (stored === undefined || !isSameJson(gist(stored), gist(next))) return "now";
  return isSameJson(withoutRetryTimes(stored), withoutRetryTimes(next)) ? "unchanged" : "figures";
}

function gist(status: BackupStatus): unknown {
  const { restorable, lag, bytes: _b, snapshot: _s, ...rest } = withoutRetryTimes(status);
  // The begin of the window moves only when something was expired.
  return { ...rest, from: restorable?.from?.version, isLagKnown: lag !== undefined };
}

const bad: ReadonlySet<string> = new Set(["Errored", "Aborted", "PartiallyAborted"]);

export function backupEvents(before: BackupStatus | undefined, after: BackupStatus): PlanEvent[] {
  return [
    ...completion(before, after),
    ...changed(before, after, "Running").map(({ status, reason, message }) => ({
      type: status === "False" && bad.has(reason) ? ("Warning" as const) : ("Normal" as const),
      reason: status === "True" ? "BackupRunning" : `Backup${reason}`,
      message,
    })),
    ...changed(before, after, "Restorable").map(({ status, reason, message }) => ({
      type: status === "True" ? ("Normal" as const) : ("Warning" as const),
      reason: `Backup${reason}`,
      message,
    })),
    ...changed(before, after, "Behind").map(({ status, message }) => ({
      type: status === "True" ? ("Warning" as const) : ("Normal" as const),
      reason: status === "True" ? "BackupBehind" : "BackupCaughtUp",
      message,
    })),
    ...changed(before, after, "Expired").map(({ status, reason, message }) => ({
      type: status === "True" ? ("Normal" as const) : ("Warning" as const),
      reason: status === "True" ? "BackupExpiryCaughtUp" : `BackupExpiry${reason}`,
      message,
    })),
  ];
}

/** A condition whose status is another one, both known. */
function changed(before: BackupStatus | undefined, after: BackupStatus, type: string): Condition[] {
  const [was, is] = [conditionIn(before, type), conditionIn(after, type)];
  if (is === undefined || was === undefined || was.status === is.status) return [];
  // A first look is no change.
  return was.status === "Unknown" ? [] : [is];
}

function completion(before: BackupStatus | undefined, after: BackupStatus): PlanEvent[] {
  const is = after.generations?.reconciled;
  if (is === undefined || is === before?.generations?.reconciled) return [];
  const message = `Reconciled generation ${is}`;
  return [{ type: "Normal", reason: "ReconciliationComplete", message }];
}
