// Actions that were refused rest for a while, and are waits meanwhile. Rules: spec/backup.md [BK31], [BK171].
import type { NewWait } from "../wait.ts";
import { describeBackupAction } from "./action.ts";
import type { BackupAction } from "./action.ts";
import type { BackupFailure, BackupSnapshot } from "./snapshot.ts";

type Failures = Pick<BackupSnapshot, "failures" | "nowMs">;

export function failureWaits({ failures, nowMs }: Failures): NewWait[] {
  return failures.map((failure) => {
    const { step, what, message, retryAtMs } = failure;
    return {
      step,
      message: `Could not ${what}: ${message}`,
      retryAfterMs: Math.max(1_000, retryAtMs - nowMs),
      ...(isDrillForbidden(failure) ? drillForbidden : tried),
    };
  });
}

const tried = {
  reason: "ActionFailed",
  remedy: "It is tried again; the message says what the API server or the database refused.",
} as const;

/** Its rights are not among those that every operator has. */
function isDrillForbidden({ what, isForbidden }: BackupFailure): boolean {
  return isForbidden && / FoundationDB(Cluster|Restore) /.test(what);
}

const drillForbidden = {
  reason: "BackupDrillForbidden",
  remedy:
    "Give the operator the right to create and delete clusters and restores: set drillAccess of the chart to true, or apply deploy/kustomize/namespaced-drills or cluster-wide-drills. Or take spec.verification out of the backup.",
} as const;

/** What failed rests for a while. */
export function withoutFailed(
  { failures, nowMs }: Failures,
  actions: readonly BackupAction[],
): BackupAction[] {
  const resting = failures.filter(({ retryAtMs }) => retryAtMs > nowMs).map(({ key }) => key);
  return actions.filter((action) => !resting.includes(describeBackupAction(action)));
}
