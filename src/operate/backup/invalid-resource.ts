// The status of a backup or restore whose spec cannot be right: nothing is done for it until the spec changes.
// Rules: spec/backup.md [BK97].
import type { BlockedBy } from "../../api/blocked-by.ts";
import type { Condition } from "../../api/conditions.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { datedConditions } from "../../plan/status/status-conditions.ts";
import type { Judgement } from "../../plan/status/judgement.ts";
import { invalidBlockedBy, invalidSpecReason, problemText } from "../invalid-spec.ts";

interface Judged<S> {
  readonly metadata: ObjectMeta;
  readonly status?: S;
}

interface StatusParts {
  readonly conditions?: readonly Condition[];
  readonly blockedBy?: readonly BlockedBy[];
}

export function invalidResourceStatus<S extends StatusParts>(
  object: Judged<S>,
  problems: readonly ValidationProblem[],
  nowMs: number,
): S {
  const { conditions = [], blockedBy = [] }: StatusParts = object.status ?? {};
  const message = problemText(problems).slice(0, 4096);
  const invalid: Judgement = { status: "False", reason: invalidSpecReason, message };
  const kept = Object.fromEntries(
    conditions
      .filter(({ type }) => type !== "Reconciled")
      .map(({ type, status, reason, message: text }) => [type, { status, reason, message: text }]),
  );
  return {
    ...(object.status as S),
    conditions: datedConditions(object, nowMs, { Reconciled: invalid, ...kept }),
    blockedBy: invalidBlockedBy(blockedBy, problems, nowMs),
  };
}
