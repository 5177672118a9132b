// The status of a backup whose spec cannot be right: nothing is done for it until the spec changes. Rules: spec/backup.md [BK97].
import type { BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import { formatTime } from "../../kube/time.ts";
import { datedConditions } from "../../plan/status/status-conditions.ts";
import type { Judgement } from "../../plan/status/status-conditions.ts";
import { invalidSpecReason, problemText } from "../invalid-spec.ts";

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
  const since = blockedBy.find(({ reason }) => reason === invalidSpecReason)?.since;
  return {
    ...backup.status,
    conditions: datedConditions(backup, nowMs, { Reconciled: invalid, ...kept }),
    blockedBy: problems.slice(0, 100).map((problem) => ({
      step: "validateSpec",
      reason: invalidSpecReason,
      message: problem.message.slice(0, 4096),
      object: problem.field.slice(0, 512),
      since: since ?? formatTime(nowMs),
      remedy: problem.remedy.slice(0, 2048),
    })),
  };
}
