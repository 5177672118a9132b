// What happens to a resource whose spec cannot be right: a condition and an event, and nothing else until the spec
// changes. Rules: spec/operate.md [OP40], [OP41].
import { isHibernated } from "../api/hibernation.ts";
import type { BlockedBy, ClusterStatus, Condition, FoundationDBCluster } from "../api/cluster.ts";
import { describeProblem } from "../api/problem.ts";
import type { ValidationProblem } from "../api/problem.ts";
import { formatTime } from "../kube/time.ts";
import type { DatabaseObservation } from "../plan/snapshot.ts";
import { datedConditions, judgeAvailability } from "../plan/status/status-conditions.ts";
import type { Judgement } from "../plan/status/judgement.ts";

export const invalidSpecReason = "InvalidSpec";

export function invalidStatus(
  cluster: FoundationDBCluster,
  problems: readonly ValidationProblem[],
  nowMs: number,
  database: DatabaseObservation,
): ClusterStatus {
  const message = problemText(problems).slice(0, 4096);
  const invalid = { status: "False", reason: invalidSpecReason, message } as const;
  const isConfigured = cluster.status?.configured === true;
  const before = new Map((cluster.status?.conditions ?? []).map((entry) => [entry.type, entry]));
  return {
    ...cluster.status,
    conditions: datedConditions(cluster, nowMs, {
      Available: availability(cluster, database) ?? kept(before.get("Available"), message),
      Degraded: isConfigured ? unjudged : kept(before.get("Degraded"), message),
      Progressing: invalid,
      Reconciled: invalid,
      // A stopped database is not asked, so it goes on sleeping whatever the spec says.
      ...sleep(cluster, before),
    }),
    blockedBy: invalidBlockedBy(cluster.status?.blockedBy, problems, nowMs),
  };
}

function sleep(
  cluster: FoundationDBCluster,
  before: ReadonlyMap<string, Condition>,
): Record<string, Judgement> {
  const [available, hibernated] = [before.get("Available"), before.get("Hibernated")];
  if (!isHibernated(cluster) || available === undefined || hibernated === undefined) return {};
  return { Available: kept(available, ""), Hibernated: kept(hibernated, "") };
}

/** One entry for each problem, since the spec was found wrong for the first time. */
export function invalidBlockedBy(
  before: readonly BlockedBy[] = [],
  problems: readonly ValidationProblem[],
  nowMs: number,
): BlockedBy[] {
  const since = before.find(({ reason }) => reason === invalidSpecReason)?.since;
  return problems.slice(0, 100).map((problem) => ({
    step: "validateSpec",
    reason: invalidSpecReason,
    message: problem.message.slice(0, 4096),
    object: problem.field.slice(0, 512),
    since: since ?? formatTime(nowMs),
    remedy: problem.remedy.slice(0, 2048),
  }));
}

const unjudged = {
  status: "Unknown",
  reason: invalidSpecReason,
  message: "Process groups are not looked at while the spec is refused",
} as const;

/** The database is still watched, whatever the spec says; undefined when there is nothing new to say about it. */
function availability(
  cluster: FoundationDBCluster,
  database: DatabaseObservation,
): Judgement | undefined {
  const isPending = database.kind === "missing" && database.reason === "Asking";
  if (cluster.status?.configured !== true || isPending) return undefined;
  return judgeAvailability(true, database);
}

function kept(condition: Condition | undefined, message: string): Judgement {
  if (condition === undefined) return { status: "Unknown", reason: invalidSpecReason, message };
  return { status: condition.status, reason: condition.reason, message: condition.message };
}

export function problemText(problems: readonly ValidationProblem[]): string {
  return problems.map(describeProblem).join("; ");
}
