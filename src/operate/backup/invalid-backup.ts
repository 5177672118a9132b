// The status of a backup whose spec cannot be right: nothing is done for it until the spec changes. Rules: spec/backup.md [BK97].
import type { BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import { datedConditions } from "../../plan/status/status-conditions.ts";
import type { Judgement } from "../../plan/status/status-conditions.ts";
import { invalidBlockedBy, invalidSpecReason, problemText } from "../invalid-spec.ts";

export function invalidBackupStatus(
  backup: FoundationDBBackup,
  problems: readonly ValidationProblem[],
  nowMs: number,
): BackupStatus {
  const { conditions = [], blockedBy = [] } = backup.status ?? {};
  const message = problemText(problems).slice(0, 4096);
  const invalid: Judgement = { status: "False", reason: invalidSpecReason, message };
  const kept = Object.fromEntries(
    conditions
      .filter(({ type }) => type !== "Reconciled")
      .map(({ type, status, reason, message: text }) => [type, { status, reason, message: text }]),
  );
  return {
    ...backup.status,
    conditions: datedConditions(backup, nowMs, { Reconciled: invalid, ...kept }),
    blockedBy: invalidBlockedBy(blockedBy, problems, nowMs),
  };
}
