// The conditions that tools and people look at: Available, Reconciled, Progressing, Degraded. They are computed
// from the rest of the status, never set by hand. Rules: spec/plan.md [P75]-[P80].
import { isAdopting } from "../../api/adoption.ts";
import { isAvailable } from "../../model/availability.ts";
import { conditionIn } from "../../kube/condition.ts";
import type {
  Condition,
  ConditionType,
  ProcessGroupStatus as ProcessGroup,
} from "../../api/cluster.ts";
import { heldMessage, isDeletionHeld } from "../removal/protect-from-deletion.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { hasAnyCondition, hasCondition, hasReported } from "../../model/process-group.ts";
import { isMarkedForRemoval, isReadyForRemoval } from "../../model/process-group.ts";
import type { ConditionType as GroupCondition } from "../../model/process-group.ts";
import type { PlanWarning } from "../step.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import { isClaimAbsent } from "../safety/volumes.ts";
import { apartWait } from "../coordination/set-presence.ts";
import { isGlobal } from "../view/shared-sets.ts";
import { sentence } from "../hold.ts";
import { silenceOf, unavailabilityOf } from "../view/unavailability.ts";
import { databaseStatus, isStatusPending } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { StatusFields } from "../step.ts";
import { unreadableOf } from "./unreadable-status.ts";
import { wakingJudgement } from "./asleep-status.ts";
import { judge } from "./judgement.ts";
import type { Judgement } from "./judgement.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";
import { concernOf } from "../reasons/concern.ts";

export interface ConditionsInput {
  snapshot: Snapshot;
  status: StatusFields;
  groups: readonly ProcessGroup[];
  waits: readonly NewWait[];
  isReconciled: boolean;
  actionCount: number;
  warnings: readonly PlanWarning[];
  /** Volumes that are about to be lost, or are, while their data is not known to be elsewhere. */
  volumes: readonly NewWait[];
  /** The database comes back from its sleep. */
  isWaking: boolean;
  /** There is a database that nobody can ask. */
  lost: NewWait | undefined;
  /** What is to be said of certificates. */
  certificates: Readonly<Record<string, Judgement>>;
}

export function statusConditions(input: ConditionsInput): Condition[] {
  const { cluster, nowMs } = input.snapshot;
  return datedConditions(cluster, nowMs, {
    Available: (input.isWaking ? undefined : lastFinding(input, "Available")) ?? available(input),
    Degraded: lastFinding(input, "Degraded") ?? degraded(input),
    Progressing: progressing(input),
    Reconciled: reconciled(input),
    ...deletionHeld(cluster),
    ...(input.isWaking ? { Hibernated: wakingJudgement } : {}),
    ...input.certificates,
    ...warning(input),
  });
}

/** Only while a deleted cluster is kept. */
export function deletionHeld(cluster: Snapshot["cluster"]): Readonly<Record<string, Judgement>> {
  if (!isDeletionHeld(cluster)) return {};
  return { DeletionHeld: judge("True", "DeletionProtection", heldMessage) };
}

/** One condition tells all warnings; the first gives it its reason. */
function warning({ warnings }: ConditionsInput): { Warning?: Judgement } {
  const [first] = warnings;
  if (first === undefined) return {};
  const message = warnings.map((each) => each.message).join(" ");
  return { Warning: judge("True", first.reason, message) };
}

/** There is a database, so nobody should read that there is none. */
const adoptedMessage = "The database that spec.adopt brings back has not been seen yet";

function isToBeSeen({ cluster }: Snapshot, { configured }: StatusFields): boolean {
  return configured !== true && isAdopting(cluster);
}

interface ConditionedResource {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A condition whose status did not change keeps its time of transition. */
export function datedConditions(
  resource: ConditionedResource,
  nowMs: number,
  judgements: Readonly<Record<string, Judgement>>,
): Condition[] {
  const old = new Map((resource.status?.conditions ?? []).map((entry) => [entry.type, entry]));
  return Object.entries(judgements).map(([type, judgement]) => {
    const before = old.get(type);
    const isKept = before?.status === judgement.status;
    return {
      type,
      ...judgement,
      observedGeneration: resource.metadata.generation ?? 0,
      lastTransitionTime: isKept ? before.lastTransitionTime : formatTime(nowMs),
    };
  });
}

/** What was found about the database before the first answer of this connection. */
function lastFinding({ snapshot }: ConditionsInput, type: ConditionType): Judgement | undefined {
  if (!isStatusPending(snapshot)) return undefined;
  const found = conditionIn(snapshot.cluster.status, type);
  return found && { status: found.status, reason: found.reason, message: found.message };
}

function available({ snapshot, status, lost, isWaking }: ConditionsInput): Judgement {
  if (lost !== undefined) return judge("Unknown", lost.reason, lost.message);
  if (isWaking) return wakingJudgement;
  if (isToBeSeen(snapshot, status)) return judge("False", "NotConfigured", adoptedMessage);
  return judgeAvailability(status.configured === true, snapshot.database);
}

/** A database that does not answer is neither available nor not. */
export function judgeAvailability(
  isConfigured: boolean,
  database: Snapshot["database"],
): Judgement {
  if (!isConfigured) {
    return judge("False", "NotConfigured", "The database has not been created yet");
  }
  if (database.kind === "missing") {
    return judge("Unknown", "StatusMissing", sentence(silenceOf(database).clause));
  }
  if (isAvailable(database.status)) {
    return judge("True", "DatabaseAvailable", "The database answers reads and writes");
  }
  const why = unavailabilityOf(database.status);
  return judge("False", "DatabaseUnavailable", `The database is not available: ${why}`);
}

function reconciled({ snapshot, waits, isReconciled, actionCount }: ConditionsInput): Judgement {
  const generation = snapshot.cluster.metadata.generation ?? 0;
  if (isReconciled) {
    return judge("True", "ReconciliationComplete", `Reconciled generation ${generation}`);
  }
  const [wait] = waits;
  if (wait !== undefined && actionCount === 0) return judge("False", wait.reason, wait.message);
  return judge("False", "Reconciling", `Generation ${generation} is being brought about`);
}

function progressing({ waits, isReconciled, actionCount, warnings }: ConditionsInput): Judgement {
  const held = warnings.find(({ reason }) => reason === "DeletionStuck");
  if (isReconciled && held !== undefined) return judge("False", held.reason, held.message);
  if (isReconciled) return judge("False", "ReconciliationComplete", "There is nothing to do");
  const moving = waits.find((wait) => concernOf(wait.reason) !== "person");
  if (actionCount > 0) return judge("True", "Acting", "Changes are being made");
  if (moving !== undefined) return judge("True", moving.reason, moving.message);
  const [stuck] = waits;
  if (stuck !== undefined) return judge("False", stuck.reason, stuck.message);
  return judge("True", "Reconciling", "Changes are taking effect");
}

const troubles: readonly GroupCondition[] = [
  "Fenced",
  "MissingProcesses",
  "MissingPod",
  "MissingPVC",
  "PodFailing",
  "ProcessHasIOError",
  "SidecarUnreachable",
];

/** Something that works less well than it should; a cluster that is only being created is not degraded. */
function degraded({ snapshot, status, groups, volumes, lost }: ConditionsInput): Judgement {
  if (lost !== undefined) return judge("Unknown", lost.reason, lost.message);
  if (!status.configured) {
    const message = isToBeSeen(snapshot, status) ? adoptedMessage : "There is no database yet";
    return judge("False", "NotConfigured", message);
  }
  const database = databaseStatus(snapshot);
  const lock = database?.cluster?.database_lock_state;
  if (lock?.locked === true) {
    return judge(
      "True",
      "DatabaseLocked",
      `The database is locked by ${lock.lock_uid ?? "somebody"}`,
    );
  }
  // An instance that does not take part in global mode cannot work until a person has done something.
  const apart = isGlobal(snapshot, status) ? apartWait(snapshot, groups) : undefined;
  if (apart !== undefined) return judge("True", apart.reason, apart.message);
  const [volume] = volumes;
  if (volume !== undefined) return judge("True", volume.reason, volume.message);
  // A process group that never reported is no loss: the database does not rest on it.
  // One that is to go and is not excluded yet may still hold the only copy of something.
  const counting = groups.filter(
    (group) =>
      hasAnyCondition(group) &&
      (!isReadyForRemoval(group) || hasCondition(group, "Fenced")) &&
      hasReported(group),
  );
  for (const trouble of troubles) {
    const ids = counting
      .filter((group) => isInTrouble(snapshot, group, trouble))
      .map((group) => group.processGroupID);
    if (ids.length > 0) return judge("True", trouble, `${trouble}: ${nameList(ids)}`);
  }
  if (snapshot.database.kind === "missing") {
    return judge("Unknown", "StatusMissing", sentence(silenceOf(snapshot.database).clause));
  }
  const unreadable = unreadableOf(snapshot);
  if (unreadable !== undefined) return judge("Unknown", "StatusUnreadable", unreadable);
  if (status.health?.available !== true) {
    return judge("True", "DatabaseUnavailable", "The database is not available");
  }
  if (status.health.fullReplication !== true) {
    return judge("True", "ReplicationReduced", "Some data has fewer copies than it should");
  }
  if (status.health.healthy !== true && !isOnlyMoving(snapshot.database.status, groups)) {
    return judge("True", "DatabaseUnhealthy", "The database says that it is not healthy");
  }
  return judge("False", "Healthy", healthyText(snapshot, groups));
}

function healthyText(snapshot: Snapshot, groups: readonly ProcessGroup[]): string {
  const coming = groups.filter((group) => !isMarkedForRemoval(group) && !hasReported(group));
  const away = awayInMaintenance(snapshot, groups);
  if (coming.length === 0 && away.length === 0) {
    return "All processes run and all data has all its copies";
  }
  const listOf = (some: readonly ProcessGroup[]): string =>
    nameList(some.map(({ processGroupID: id }) => id));
  const exceptions = [
    ...(coming.length === 0
      ? []
      : [`${listOf(coming)}, which ${coming.length === 1 ? "is" : "are"} still starting`]),
    ...(away.length === 0
      ? []
      : [`${listOf(away)}, of whose data no other copies are made during the maintenance`]),
  ];
  const all = away.length === 0 ? "All data has all its copies, and all" : "All";
  return `${all} processes run but ${exceptions.join("; and ")}`;
}

/** Nobody judges them meanwhile, and the database calls itself whole. */
function awayInMaintenance(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
): readonly ProcessGroup[] {
  const status = databaseStatus(snapshot);
  const zone = status?.cluster?.maintenance_zone ?? "";
  if (status === undefined || zone === "") return [];
  const reporting = processesByInstance(snapshot, status);
  return groups.filter(
    ({ processClass, processGroupID: id, faultDomain }) =>
      processClass === "storage" && faultDomain === zone && !reporting.has(id),
  );
}

/** A claim that is there and was made from another specification is a change to come, as an outdated pod is, and no loss. */
function isInTrouble(snapshot: Snapshot, group: ProcessGroup, trouble: GroupCondition): boolean {
  if (!hasCondition(group, trouble)) return false;
  return trouble !== "MissingPVC" || isClaimAbsent(snapshot, group);
}

/** While data leaves process groups that are to go, the database calls itself unhealthy although nothing is missing. */
function isOnlyMoving(database: DatabaseStatus, groups: readonly ProcessGroup[]): boolean {
  return (
    groups.some(isMarkedForRemoval) && faultToleranceProblem(database, undefined) === undefined
  );
}
