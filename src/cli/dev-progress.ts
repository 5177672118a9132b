// Turns FoundationDBCluster resources and what the operator reports into the state that the terminal shows. Pure.
import { conditionIn } from "../kube/condition.ts";
import type { FoundationDBBackup } from "../api/backup.ts";
import type { FoundationDBRestore } from "../api/restore.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { isReconciled } from "../sim/world.ts";
import type { ClassProgress, ProgressState } from "./progress-view.ts";

export function progressOf(
  cluster: FoundationDBCluster,
  context: { nowMs: number; startedMs: number; actions: readonly string[] },
): ProgressState {
  const status = cluster.status ?? {};
  return {
    name: cluster.metadata.name ?? "",
    version: status.runningVersion ?? cluster.spec.version,
    redundancyMode: cluster.spec.databaseConfiguration?.redundancy_mode ?? "double",
    elapsedMs: context.nowMs - context.startedMs,
    classes: classesOf(cluster),
    conditions: (status.conditions ?? []).map(({ type, status: value, reason, message }) => ({
      type,
      status: value,
      reason,
      message,
    })),
    waits: (status.blockedBy ?? []).map((wait) => ({
      step: wait.step,
      reason: wait.reason,
      message: wait.message,
      waitedMs: Math.max(0, context.nowMs - Date.parse(wait.since ?? "")),
    })),
    actions: context.actions,
  };
}

function classesOf(cluster: FoundationDBCluster): ClassProgress[] {
  const classes = new Map<
    string,
    { desired: number; ready: number; troubles: Record<string, number> }
  >();
  for (const group of cluster.status?.processGroups ?? []) {
    const entry = classes.get(group.processClass) ?? { desired: 0, ready: 0, troubles: {} };
    classes.set(group.processClass, entry);
    const conditions = group.processGroupConditions ?? [];
    entry.desired += 1;
    if (conditions.length === 0 && group.removalTimestamp === undefined) entry.ready += 1;
    for (const { type } of conditions) entry.troubles[type] = (entry.troubles[type] ?? 0) + 1;
  }
  return [...classes]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([processClass, entry]) => ({ processClass, ...entry }));
}

/** Whether there is nothing to wait for: the newest generation is in force, or the operator is told to leave it alone. */
export function isSettled(cluster: FoundationDBCluster): boolean {
  return cluster.spec.skip === true || isReconciled(cluster);
}

/** Settled, and the database as well as its mode promises: the last of its data may still be on its way. */
export function isCalm(cluster: FoundationDBCluster): boolean {
  if (!isSettled(cluster)) return false;
  const degraded = conditionIn(cluster.status, "Degraded");
  return cluster.spec.skip === true || degraded?.status === "False";
}

/** The operator has judged the newest generation and does nothing for it. */
export function isRefused({
  metadata,
  status,
}: Pick<
  FoundationDBCluster | FoundationDBBackup | FoundationDBRestore,
  "metadata" | "status"
>): boolean {
  const condition = conditionIn(status, "Reconciled");
  const isCurrent = condition?.observedGeneration === metadata.generation;
  return condition?.reason === "InvalidSpec" && isCurrent;
}

/** Why a cluster is not reconciled, in one line. */
export function whyNotReconciled(cluster: FoundationDBCluster): string {
  const [wait] = cluster.status?.blockedBy ?? [];
  if (wait?.reason === "InvalidSpec") {
    return `${wait.object ?? ""}: ${wait.message} (${wait.remedy ?? ""})`;
  }
  if (wait !== undefined) return `${wait.step} waits: ${wait.message}`;
  const condition = conditionIn(cluster.status, "Reconciled");
  return condition === undefined ? "the operator has not looked at it yet" : condition.message;
}
