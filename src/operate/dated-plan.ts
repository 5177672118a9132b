// Since when a cluster waits for what it waits for. A plan knows nothing of the one before it: what its waits have in common
// with earlier ones is found here, for people, and decides nothing. Rules: spec/plan.md [P6], [P84].
import type { ClusterStatus } from "../api/cluster.ts";
import { parseTime } from "../kube/time.ts";
import { toBlockedBy } from "../plan/blocked-by.ts";
import type { Plan } from "../plan/chain.ts";
import { datedWaits } from "../plan/wait.ts";
import type { KnownWait, Wait } from "../plan/wait.ts";

export type DatedPlan = Omit<Plan, "waits" | "status"> & {
  readonly waits: readonly Wait[];
  readonly status: ClusterStatus;
};

export function datedPlan(plan: Plan, before: readonly KnownWait[], nowMs: number): DatedPlan {
  const waits = datedWaits(plan.waits, before, nowMs);
  const { processGroups, ...rest } = plan.status;
  const blocked = waits.length === 0 ? {} : { blockedBy: waits.map(toBlockedBy) };
  return { ...plan, waits, status: { ...rest, ...blocked, processGroups } };
}

/** After a restart the stored status remembers since when the cluster waits. */
export function storedWaits(status: Pick<ClusterStatus, "blockedBy"> | undefined): KnownWait[] {
  return (status?.blockedBy ?? []).map(({ step, reason, object, since }) => ({
    step,
    reason,
    sinceMs: parseTime(since) ?? Infinity,
    ...(object === undefined ? {} : { object }),
  }));
}
