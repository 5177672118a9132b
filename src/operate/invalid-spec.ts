// What happens to a resource whose spec cannot be right: a condition and an event, and nothing else until the spec
// changes. Rules: spec/operate.md [OP40], [OP41].
import type { ClusterStatus, Condition, FoundationDBCluster } from "../api/cluster.ts";
import { describeProblem } from "../api/problem.ts";
import type { ValidationProblem } from "../api/problem.ts";
import { formatTime } from "../kube/time.ts";
import { datedConditions } from "../plan/status-conditions.ts";

export const invalidSpecReason = "InvalidSpec";

export function invalidStatus(
  cluster: FoundationDBCluster,
  problems: readonly ValidationProblem[],
  nowMs: number,
): ClusterStatus {
  const message = problemText(problems).slice(0, 4096);
  const invalid = { status: "False", reason: invalidSpecReason, message } as const;
  const before = new Map((cluster.status?.conditions ?? []).map((entry) => [entry.type, entry]));
  const since = cluster.status?.blockedBy?.find(
    (entry) => entry.reason === invalidSpecReason,
  )?.since;
  return {
    ...cluster.status,
    conditions: datedConditions(cluster, nowMs, {
      Available: kept(before.get("Available"), message),
      Degraded: kept(before.get("Degraded"), message),
      Progressing: invalid,
      Reconciled: invalid,
    }),
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

/** Nobody looks at the database of a resource that cannot be understood, so the last finding stands. */
function kept(
  condition: Condition | undefined,
  message: string,
): Pick<Condition, "status" | "reason" | "message"> {
  if (condition === undefined) return { status: "Unknown", reason: invalidSpecReason, message };
  return { status: condition.status, reason: condition.reason, message: condition.message };
}

export function problemText(problems: readonly ValidationProblem[]): string {
  return problems.map(describeProblem).join("; ");
}
