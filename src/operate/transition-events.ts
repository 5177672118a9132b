// Events about how the cluster is, told when it changes and not while it stays so: a wait that concerns people is one
// Warning, the loss of the database another, and some waits have an event of their own when they begin. Pure. Rules: spec/explain.md [E20]-[E24].
import { conditionIn } from "../kube/condition.ts";
import type { BlockedBy } from "../api/blocked-by.ts";
import type { ClusterStatus } from "../api/cluster.ts";
import { formatTime, parseTime } from "../kube/time.ts";
import type { PlanEvent } from "../plan/step.ts";
import { hibernatedReason } from "../plan/status/asleep-status.ts";
import { waitKey } from "./dated-plan.ts";
import type { Wait } from "./dated-plan.ts";
import { concernAt, concernOf } from "../plan/reasons/concern.ts";

/** What was told of waits. Undefined before the first pass. */
export type ToldWaits =
  | {
      /** Waits whose beginning was told, by step, reason and object. */
      readonly begun: ReadonlySet<string>;
      /** Those that were told when they concerned people, by step, reason and beginning. */
      readonly due: ReadonlySet<string>;
    }
  | undefined;

export function waitEvents(
  waits: readonly Wait[],
  told: ToldWaits,
  stored: Pick<ClusterStatus, "blockedBy"> | undefined,
  nowMs: number,
): { begun: PlanEvent[]; events: PlanEvent[]; told: NonNullable<ToldWaits> } {
  // What the status had before this operator started was told by the one before it.
  const before = told ?? toldBefore(stored?.blockedBy ?? []);
  const begun = waits.flatMap((wait) =>
    wait.event === undefined || before.begun.has(waitKey(wait)) ? [] : [wait.event],
  );
  const events: PlanEvent[] = [];
  const due = new Set<string>();
  for (const wait of waits) {
    const isUsual = concernOf(wait.reason) === "passing";
    if (isUsual || concernAt(wait.reason, nowMs - wait.sinceMs) === "passing") continue;
    const key = keyOf(wait.step, wait.reason, formatTime(wait.sinceMs));
    if (!due.has(key) && !before.due.has(key)) {
      events.push({ type: "Warning", reason: wait.reason, message: wait.message });
    }
    due.add(key);
  }
  return { begun, events, told: { begun: new Set(waits.map(waitKey)), due } };
}

function toldBefore(blockedBy: readonly BlockedBy[]): NonNullable<ToldWaits> {
  return {
    begun: new Set(blockedBy.map(waitKey)),
    due: new Set(blockedBy.map((entry) => keyOf(entry.step, entry.reason, entry.since))),
  };
}

function keyOf(step: string, reason: string, since: string | undefined): string {
  return `${step}/${reason}/${since ?? ""}`;
}

/** What became of the database and of the wanted generation between two statuses of the resource. */
export function statusEvents(
  before: ClusterStatus | undefined,
  after: ClusterStatus,
  nowMs: number,
): PlanEvent[] {
  return [
    ...availability(before, after),
    ...lock(before, after),
    ...warning(before, after),
    ...certificates(before, after),
    ...completion(before, after, nowMs),
  ];
}

/** A change that is brought about while its author still looks is told by the condition alone. */
const quickChangeMs = 60_000;

function completion(
  before: ClusterStatus | undefined,
  after: ClusterStatus,
  nowMs: number,
): PlanEvent[] {
  const was = before?.generations?.reconciled;
  const is = after.generations?.reconciled;
  if (is === undefined || is === was) return [];
  const sinceMs = parseTime(conditionIn(before, "Reconciled")?.lastTransitionTime) ?? 0;
  if (was !== undefined && nowMs - sinceMs < quickChangeMs) return [];
  return [
    { type: "Normal", reason: "ReconciliationComplete", message: `Reconciled generation ${is}` },
  ];
}

function availability(before: ClusterStatus | undefined, after: ClusterStatus): PlanEvent[] {
  const was = conditionIn(before, "Available");
  const is = conditionIn(after, "Available");
  if (was === undefined || is === undefined || was.status === is.status) return [];
  // A new database is announced when everything is reconciled.
  if (was.reason === "NotConfigured") return [];
  // A sleep was asked for.
  const isWanted = is.status === "True" || is.reason === hibernatedReason;
  const type = isWanted ? "Normal" : "Warning";
  return [{ type, reason: is.reason, message: is.message }];
}

function lock(before: ClusterStatus | undefined, after: ClusterStatus): PlanEvent[] {
  const was = conditionIn(before, "Degraded")?.reason === "DatabaseLocked";
  const is = conditionIn(after, "Degraded");
  if (is === undefined || was === (is.reason === "DatabaseLocked")) return [];
  if (!was) return [{ type: "Warning", reason: is.reason, message: is.message }];
  return [
    { type: "Normal", reason: "DatabaseUnlocked", message: "The database is not locked any more" },
  ];
}

function warning(before: ClusterStatus | undefined, after: ClusterStatus): PlanEvent[] {
  const is = conditionIn(after, "Warning");
  if (is === undefined || conditionIn(before, "Warning")?.reason === is.reason) return [];
  // Where a wait says the same, it is told in its own time.
  if (after.blockedBy?.some(({ reason }) => reason === is.reason) === true) return [];
  return [{ type: "Warning", reason: is.reason, message: is.message }];
}

/** That they expire soon is one event, that they have expired another. */
function certificates(before: ClusterStatus | undefined, after: ClusterStatus): PlanEvent[] {
  const is = conditionIn(after, "CertificateExpiring");
  if (is === undefined || conditionIn(before, is.type)?.reason === is.reason) return [];
  return [{ type: "Warning", reason: is.reason, message: is.message }];
}
