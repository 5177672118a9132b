// When a changed status is written. What others or our own next steps rest on is written at once; what only tells of
// progress is collected for a while, so that bringing up a cluster takes a handful of writes.
// Rules: spec/operate.md [OP31]-[OP34], spec/explain.md [E8].
import type { ClusterStatus } from "../api/cluster.ts";
import { parseTime } from "../kube/time.ts";
import { isSameJson } from "../plan/same-json.ts";

export type StatusDue = "unchanged" | "now" | "later";

/** Judges a new status against the stored one. */
export function statusDue(stored: ClusterStatus | undefined, next: ClusterStatus): StatusDue {
  if (stored === undefined) return "now";
  if (isUrgent(stored, next)) return "now";
  const isSame = isSameJson(forComparison(stored), forComparison(next));
  return isSame && !areWaitsOutdated(stored, next) ? "unchanged" : "later";
}

/** By the next look at a lasting wait a reader sees that an operator is there, so it is renewed now and then. */
const renewWaitsMs = 300_000;

function areWaitsOutdated(stored: ClusterStatus, next: ClusterStatus): boolean {
  const [was, is] = [stored, next].map(({ blockedBy = [] }) =>
    Math.max(0, ...blockedBy.map(({ retryAt }) => parseTime(retryAt) ?? 0)),
  );
  return (was ?? 0) > 0 && (is ?? 0) - (was ?? 0) >= renewWaitsMs;
}

/** When a wait is looked at again is no news. */
function forComparison(status: ClusterStatus): unknown {
  if (status.blockedBy === undefined) return status;
  return { ...status, blockedBy: status.blockedBy.map((entry) => ({ ...entry, retryAt: "" })) };
}

function isUrgent(stored: ClusterStatus, next: ClusterStatus): boolean {
  return (
    stored.connectionString !== next.connectionString ||
    stored.configured !== next.configured ||
    stored.runningVersion !== next.runningVersion ||
    stored.generations?.reconciled !== next.generations?.reconciled ||
    !isSameJson(stored.requiredAddresses, next.requiredAddresses) ||
    !isSameJson(decisions(stored), decisions(next)) ||
    !isSameJson(verdicts(stored), verdicts(next))
  );
}

/** Which process groups exist and which of them shall go: nothing may be done before this is stored. */
function decisions(status: ClusterStatus): unknown {
  return (status.processGroups ?? []).map((group) => [
    group.processGroupID,
    group.removalTimestamp,
    group.exclusionTimestamp,
    group.exclusionSkipped,
  ]);
}

/** The conditions that people and tools wait for. */
function verdicts(status: ClusterStatus): unknown {
  return (status.conditions ?? [])
    .filter(({ type }) => type === "Available" || type === "Reconciled")
    .map(({ type, status: value, observedGeneration }) => [type, value, observedGeneration]);
}
