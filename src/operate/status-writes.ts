// When a changed status is written. What others or our own next steps rest on is written at once; what only tells of
// progress is collected for a while, so that bringing up a cluster takes a handful of writes.
// Rules: spec/operate.md [OP31]-[OP34], spec/explain.md [E8].
import { conditionIn } from "../kube/condition.ts";
import { leastOf, mostOf } from "../env/long-lists.ts";
import type { BlockedBy, ClusterStatus } from "../api/cluster.ts";
import { parseTime } from "../kube/time.ts";
import { isSameJson } from "../plan/view/same-json.ts";
import { concernOf } from "../plan/reasons/concern.ts";

type ProcessGroups = NonNullable<ClusterStatus["processGroups"]>;

/** "soon": somebody may have to look; "later": all goes its way. */
export type StatusDue = "unchanged" | "now" | "soon" | "later";

/** Judges a new status against the stored one. */
export function statusDue(stored: ClusterStatus | undefined, next: ClusterStatus): StatusDue {
  if (stored === undefined) return "now";
  if (isUrgent(stored, next)) return "now";
  const isSame = isSameJson(withoutRetryTimes(stored), withoutRetryTimes(next));
  if (isSame && !areWaitsOutdated(stored, next)) return "unchanged";
  return isSameJson(concerns(stored), concerns(next)) ? "later" : "soon";
}

/** How long news may wait for more of them, when they come every so often at most. */
export function holdMs(due: "soon" | "later", intervalMs: number): number {
  return due === "soon" ? intervalMs : 3 * intervalMs;
}

/** By the next look at a lasting wait a reader sees that an operator is there, so it is renewed now and then. */
const renewWaitsMs = 300_000;

/** The longer the waits have lasted, the more rarely: each time when they have become twice as old. */
function areWaitsOutdated(stored: ClusterStatus, next: ClusterStatus): boolean {
  const [was, is] = [latestLookMs(stored), latestLookMs(next)];
  return was > 0 && is - was >= Math.max(renewWaitsMs, was - earliestWaitMs(stored));
}

function latestLookMs({ blockedBy = [] }: ClusterStatus): number {
  return mostOf(
    blockedBy.map(({ retryAt }) => parseTime(retryAt) ?? 0),
    0,
  );
}

function earliestWaitMs({ blockedBy = [] }: ClusterStatus): number {
  return leastOf(blockedBy.map(({ since }) => parseTime(since) ?? Infinity));
}

/** When a wait is looked at again is no news. */
export function withoutRetryTimes<T extends { readonly blockedBy?: readonly BlockedBy[] }>(
  status: T,
): T {
  if (status.blockedBy === undefined) return status;
  return { ...status, blockedBy: status.blockedBy.map((entry) => ({ ...entry, retryAt: "" })) };
}

function isUrgent(stored: ClusterStatus, next: ClusterStatus): boolean {
  return (
    stored.connectionString !== next.connectionString ||
    stored.configured !== next.configured ||
    stored.runningVersion !== next.runningVersion ||
    stored.databaseConfigurationHash !== next.databaseConfigurationHash ||
    stored.generations?.reconciled !== next.generations?.reconciled ||
    !isSameJson(stored.hibernation, next.hibernation) ||
    !isSameJson(stored.requiredAddresses, next.requiredAddresses) ||
    !areSameDecisions(stored.processGroups ?? [], next.processGroups ?? []) ||
    !isSameJson(stored.begunWork, next.begunWork) ||
    !isSameJson(verdicts(stored), verdicts(next))
  );
}

/** Which process groups exist, where, and which of them shall go: nothing may be done before this is stored. */
function areSameDecisions(stored: ProcessGroups, next: ProcessGroups): boolean {
  if (stored.length !== next.length) return false;
  return stored.every((was, index) => {
    const is = next[index];
    return (
      was === is ||
      (was.processGroupID === is?.processGroupID &&
        was.hall === is.hall &&
        was.removalTimestamp === is.removalTimestamp &&
        was.exclusionTimestamp === is.exclusionTimestamp &&
        was.exclusionSkipped === is.exclusionSkipped)
    );
  });
}

/** What may ask for a person: trouble of the cluster, and waits that do not pass by themselves. */
function concerns(status: ClusterStatus): unknown {
  const degraded = conditionIn(status, "Degraded");
  const waits = (status.blockedBy ?? [])
    .filter(({ reason }) => concernOf(reason) !== "passing")
    .map(({ step, reason, object }) => [step, reason, object]);
  return [degraded?.status, degraded?.reason, waits];
}

/** The conditions that people and tools wait for. */
function verdicts(status: ClusterStatus): unknown {
  return (status.conditions ?? [])
    .filter(({ type }) => type === "Available" || type === "Reconciled")
    .map(({ type, status: value, observedGeneration }) => [type, value, observedGeneration]);
}
