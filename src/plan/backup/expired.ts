// The condition Expired: what is older than the retention is gone. Rules: spec/backup.md [BK106].
import type { Judgement } from "../status/judgement.ts";
import { expirableBefore, isRefused, nextLookMs } from "./expiry.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const overdueMs = 3_600_000;

/** Undefined when it cannot be judged now: what was found before stands. */
export function expired(snapshot: BackupSnapshot): Judgement | undefined {
  const { layer, nowMs } = snapshot;
  if (layer.kind === "missing") return undefined;
  if (isRefused(snapshot)) {
    return judge("False", "Refused", "FoundationDB refused the last expiry: nothing was deleted");
  }
  if (expirableBefore(snapshot) === undefined) {
    return judge("True", "NothingOld", "Nothing is to be expired");
  }
  const nextMs = nextLookMs(snapshot);
  if (nextMs === undefined) return undefined;
  if (nowMs - nextMs <= overdueMs) {
    return judge("True", "Expired", "What is older than the retention was expired");
  }
  return judge("False", "Overdue", "Old data could not be expired for more than an hour");
}

function judge(status: Judgement["status"], reason: string, message: string): Judgement {
  return { status, reason, message };
}
