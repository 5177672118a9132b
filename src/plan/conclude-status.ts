// Step updateStatus, the last of the chain: the status as it will be written, with everything that the steps decided
// and the reasons why the cluster is not finished. Rules: spec/plan.md [P35]-[P39], [P75], [P84]-[P88].
import { routingOf } from "../api/effective.ts";
import type { BlockedBy, ClusterStatus } from "../api/cluster.ts";
import { formatTime } from "../kube/time.ts";
import { isMarkedForRemoval } from "../model/process-group.ts";
import { coordinatorProblem } from "./coordinator-validity.ts";
import { podWaits } from "./pod-waits.ts";
import { judgeReconciliation } from "./reconciliation.ts";
import { replacementNeed } from "./replacement-need.ts";
import { databaseStatus, isStatusPending } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import { statusConditions } from "./status-conditions.ts";
import type { Draft, StatusFields } from "./step.ts";
import { isAvailable } from "./update-status.ts";
import { isConfigMapCurrent } from "./update-config-map.ts";
import { liveOf } from "./update-database-configuration.ts";
import { datedWaits, nameList } from "./wait.ts";
import type { NewWait, Wait } from "./wait.ts";

export interface Conclusion {
  status: ClusterStatus;
  waits: readonly Wait[];
  isReconciled: boolean;
}

export function concludeStatus(snapshot: Snapshot, draft: Draft): Conclusion {
  const { cluster, nowMs } = snapshot;
  const database = databaseStatus(snapshot);
  const coordinators = coordinatorsFinding(snapshot, draft);
  const replacement = replacementNeed(snapshot, draft);
  const status: StatusFields = {
    ...draft.status,
    hasIncorrectConfigMap:
      snapshot.configMap === undefined ||
      !isConfigMapCurrent(snapshot.configMap, draft.desired.configMap),
    hasIncorrectServiceConfig:
      snapshot.services.has(cluster.metadata.name ?? "") !==
      routingOf(cluster.spec).needsHeadlessService,
    needsNewCoordinators: coordinators.isNeeded,
  };
  const { isReconciled, ...counts } = judgeReconciliation({
    cluster,
    status,
    groups: draft.groups,
    counts: draft.desired.counts,
    live: database && isAvailable(snapshot) ? liveOf(database, snapshot) : undefined,
    desired: draft.desired.configuration,
    isStatusPending: isStatusPending(snapshot),
    needsReplacement: replacement.waits.length > 0,
    hasActions: draft.actions.length > 0,
  });
  const found = causesFirst([
    ...failureWaits(snapshot),
    ...draft.waits,
    ...podWaits(snapshot, draft),
    ...coordinators.waits,
    ...groupWaits(draft),
    ...replacement.waits,
    ...serviceWaits(snapshot, status),
  ]);
  const waits = isReconciled ? [] : datedWaits(found, snapshot.previousWaits, nowMs);
  const conditions = statusConditions({
    snapshot,
    status,
    groups: draft.groups,
    waits,
    oldVolumes: replacement.oldVolumes,
    isReconciled,
    actionCount: draft.actions.length,
  });
  return {
    waits,
    isReconciled,
    status: {
      ...status,
      ...counts,
      conditions,
      ...(waits.length === 0 ? {} : { blockedBy: waits.map(toBlockedBy) }),
      processGroups: draft.groups,
    },
  };
}

/** Pods that cannot start explain most of what else is waited for, so they are named before it. */
const causes: ReadonlySet<string> = new Set([
  "ActionFailed",
  "PodCrashLooping",
  "PodImageUnavailable",
  "PodTemplateUnusable",
  "PodUnschedulable",
  "ServiceAddressMissing",
  "SidecarUnreachable",
  "VolumePending",
]);

function causesFirst(waits: readonly NewWait[]): NewWait[] {
  const isCause = (wait: NewWait): boolean => causes.has(wait.reason);
  return [...waits.filter(isCause), ...waits.filter((wait) => !isCause(wait))];
}

function toBlockedBy(wait: Wait): BlockedBy {
  return {
    step: wait.step,
    reason: wait.reason,
    message: wait.message.slice(0, 4096),
    ...(wait.object === undefined ? {} : { object: wait.object }),
    since: formatTime(wait.sinceMs),
    retryAt: formatTime(wait.retryAtMs),
    remedy: wait.remedy,
  };
}

/** Only a database that answers can tell; until then the last finding stands. */
function coordinatorsFinding(
  snapshot: Snapshot,
  draft: Draft,
): { isNeeded: boolean; waits: NewWait[] } {
  const database = databaseStatus(snapshot);
  const { connectionString = "", configured } = draft.status;
  if (!configured || connectionString === "") return { isNeeded: false, waits: [] };
  if (database === undefined || !isAvailable(snapshot)) {
    return { isNeeded: draft.status.needsNewCoordinators === true, waits: [] };
  }
  const problem = coordinatorProblem({
    spec: snapshot.cluster.spec,
    configuration: draft.desired.configuration,
    connectionString,
    status: database,
  });
  if (problem === undefined) return { isNeeded: false, waits: [] };
  const wait: NewWait = {
    step: "changeCoordinators",
    reason: "CoordinatorsUnfit",
    message: problem,
    retryAfterMs: 15_000,
    remedy:
      "Bring the process back, or change the coordinators with `fdbcli --exec 'coordinators auto'`.",
    isForDatabase: true,
  };
  return { isNeeded: true, waits: [wait] };
}

/** Process groups that are too many or marked for removal stay until somebody takes them out of the database. */
function groupWaits(draft: Draft): NewWait[] {
  const marked = draft.groups.filter(isMarkedForRemoval).map((group) => group.processGroupID);
  const waits: NewWait[] = [];
  if (marked.length > 0) {
    waits.push({
      step: "removeProcessGroups",
      reason: "RemovalPending",
      message: `Marked for removal and still there: ${nameList(marked)}`,
      retryAfterMs: 60_000,
      remedy: "Exclude them with fdbcli, wait until they hold nothing, then delete pod and volume.",
    });
  }
  const surplus = surplusClasses(draft);
  if (surplus.length > 0) {
    waits.push({
      step: "chooseRemovals",
      reason: "ShrinkPending",
      message: `More process groups than wanted: ${surplus.join(", ")}`,
      retryAfterMs: 60_000,
      remedy: "Name the ones to go in spec.processGroupsToRemove.",
    });
  }
  return waits;
}

/** Nobody but a person can know whether clients still use the names that the service gives. */
function serviceWaits(snapshot: Snapshot, status: StatusFields): NewWait[] {
  const name = snapshot.cluster.metadata.name ?? "";
  if (status.hasIncorrectServiceConfig !== true || !snapshot.services.has(name)) return [];
  return [
    {
      step: "removeServices",
      reason: "ServiceSurplus",
      message: `The headless service ${name} is not needed any more`,
      object: `service/${name}`,
      retryAfterMs: 60_000,
      remedy: "Delete it when no coordinator is known by a host name any more.",
    },
  ];
}

function surplusClasses(draft: Draft): string[] {
  const counts: Readonly<Record<string, number | undefined>> = draft.desired.counts;
  const present = new Map<string, number>();
  for (const group of draft.groups) {
    if (isMarkedForRemoval(group)) continue;
    present.set(group.processClass, (present.get(group.processClass) ?? 0) + 1);
  }
  return [...present]
    .filter(([processClass, count]) => count > (counts[processClass] ?? 0))
    .map(([processClass]) => processClass);
}

function failureWaits(snapshot: Snapshot): NewWait[] {
  return snapshot.failures.map((failure) => ({
    step: failure.step,
    reason: "ActionFailed" as const,
    message: `Could not ${failure.what}: ${failure.message}`,
    retryAfterMs: Math.max(0, failure.retryAtMs - snapshot.nowMs),
    remedy: "The answer names the cause: a quota, a missing permission, an admission webhook.",
  }));
}
