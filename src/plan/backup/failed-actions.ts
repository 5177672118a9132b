// Actions that were refused rest for a while, and are waits meanwhile. Rules: spec/backup.md [BK31].
import type { NewWait } from "../wait.ts";
import { describeBackupAction } from "./action.ts";
import type { BackupAction } from "./action.ts";
import type { BackupSnapshot } from "./snapshot.ts";

type Failures = Pick<BackupSnapshot, "failures" | "nowMs">;

export function failureWaits({ failures, nowMs }: Failures): NewWait[] {
  return failures.map(({ step, what, message, retryAtMs }) => ({
    step,
    reason: "ActionFailed",
    message: `Could not ${what}: ${message}`,
    remedy: "It is tried again; the message says what the API server or the database refused.",
    retryAfterMs: Math.max(1_000, retryAtMs - nowMs),
  }));
}

/** What failed rests for a while. */
export function withoutFailed(
  { failures, nowMs }: Failures,
  actions: readonly BackupAction[],
): BackupAction[] {
  const resting = failures.filter(({ retryAtMs }) => retryAtMs > nowMs).map(({ key }) => key);
  return actions.filter((action) => !resting.includes(describeBackupAction(action)));
}
