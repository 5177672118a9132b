// The checks of the one door: whether a disruptive act may happen now. A pure function of what is known at this moment,
// so that the guard asks it right before it acts. Rules: spec/safety.md [S70]-[S88], [S100], [S102], spec/fencing.md [FENCE3].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { takesNothing } from "../action.ts";
import type { DisruptiveAction, RemovalOrder } from "../action.ts";
import { leavingIds, modeInCommand } from "./hall-readiness.ts";
import { absentFenceRefusal } from "./absent-fence.ts";
import { isSkipOutdated } from "./skipped-exclusion.ts";
import { mayCreateUnseen } from "./unseen-creation.ts";
import { isLossAccepted } from "./accepted-loss.ts";
import { takeDownProblem } from "./budget.ts";
import { isCoordinator, majorityProblem } from "./coordinators.ts";
import {
  evidenceRefusal,
  freshnessRefusal,
  isFullyRecovered,
  staleRefusal,
  unreadableRefusal,
} from "./evidence.ts";
import type { EvidenceLimits } from "./evidence.ts";
import { changedObjects, unlistedProblem } from "./changed-objects.ts";
import { evictionRefusal } from "./evictions.ts";
import { faultToleranceProblem } from "./fault-tolerance.ts";
import { lowerLimitsRefusal } from "./lower-limits.ts";
import { stopRefusal } from "./sleep-obstacles.ts";
import { groupsMerelyAhead, versionRefusal } from "./version-refusal.ts";
import {
  claimWithOtherLayout,
  databaseDoubt,
  isBoundToAddress,
  silenceDoubt,
} from "./no-database.ts";
import { handsOffRefusal } from "./persons-maintenance.ts";
import { quarantineRefusal } from "./quarantine.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { chargedGroups, groupsNamed, isServing, unprovenGroups } from "./touched-groups.ts";
import { unnoticedLossProblem } from "./unnoticed-loss.ts";
import { groupsOf, knownDeadAddresses, zoneOfGroup } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { withGroups } from "../view/cluster-view.ts";
import { fenceWish } from "../view/fence.ts";
import { claimStateText, isDataInPod, volumeProblem } from "./volumes.ts";

/** Why the act may not happen now; undefined when it may. */
export function actRefusal(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  const changed = changedObjects(view, action);
  if (changed !== undefined) return refusal("EvidenceStale", changed);
  const volumes = view.checks.volumes(view, action);
  if (volumes !== undefined) return volumes;
  if (action.type === "configureDatabase" && action.isNew) {
    const doubt = creationRefusal(view);
    if (doubt !== undefined) return doubt;
  }
  // A pod that ended, or has not started, takes nothing with it.
  if (takesNothing(action)) return undefined;
  const unlisted = unlistedProblem(view, action);
  if (unlisted !== undefined) return refusal("EvidenceStale", unlisted);
  if (action.type === "deletePods" && action.because === "early") return earlyRefusal(view, action);
  if (action.type === "deletePods" && action.because === "hibernate") return stopRefusal(view);
  return (
    evidenceProblem(view, action) ??
    view.checks.flight(view, action) ??
    handsOffRefusal(view, action) ??
    evictionRefusal(view, action) ??
    particularProblem(view, action)
  );
}

/** What speaks of a database, though coordinators have never heard of one. */
function creationRefusal(view: SafetyView): Refusal | undefined {
  if (view.cluster.spec.adopt !== undefined) {
    return refusal("CertificateMissing", "spec.adopt says that there is a database already");
  }
  const claim = claimWithOtherLayout(view, groupsOf(view));
  if (claim === undefined) return undefined;
  return refusal("CertificateMissing", `data may lie elsewhere on the volume of ${claim}`);
}

/** A pod that goes takes the data with it when its claim does not stay, whatever the pod goes for. */
export function volumeRefusal(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  if (action.type !== "deletePods") return undefined;
  for (const group of groupsNamed(view, action.pods)) {
    const problem = volumeProblem(view, group);
    const id = group.processGroupID;
    const isPlanned = action.because === "update" || action.because === "hibernate";
    if (isPlanned && isDataInPod(view, group)) {
      return refusal("VolumeAtRisk", `the data of ${id} lies in its pod alone`);
    }
    if (problem === undefined) continue;
    const { claimName, state } = problem;
    const message = `the volume claim ${claimName} ${claimStateText(state)}, and the data of ${id} would go with its pod`;
    return refusal("VolumeAtRisk", message);
  }
  return undefined;
}

/** Before there is a database, pods are no loss to anybody, as long as its coordinators will be found again. */
function earlyRefusal(
  view: SafetyView,
  action: DisruptiveAction & { type: "deletePods" },
): Refusal | undefined {
  const doubt = databaseDoubt(view) ?? silenceDoubt(view, action.pods);
  if (doubt !== undefined) return doubt;
  const bound = groupsNamed(view, action.pods).find((group) => isBoundToAddress(view, group));
  if (bound === undefined) return undefined;
  const id = bound.processGroupID;
  return refusal("CertificateMissing", `${id} is a coordinator that is known by its address`);
}

export function evidenceLimits(view: SafetyView): EvidenceLimits {
  return {
    lastWriteMs: view.lastDatabaseWriteMs,
    nowMs: view.nowMs,
    maximumAgeMs: view.options.evidenceMaximumAgeMs,
    isKnownDead: knownDeadAddresses(view),
    memory: view.memory,
  };
}

/** A new database has nothing to show, and faults that people inject need no healthy database. */
function needsWholeStatus(action: DisruptiveAction): boolean {
  if (action.type === "configureDatabase") return !action.isNew;
  if (action.type === "deletePods") return action.because === "update";
  return action.type !== "resetMaintenanceZone";
}

function evidenceProblem(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  if (isUnseenCreation(action)) return unseenRefusal(view);
  const limits = view.checks.evidence(view);
  // The decision may rest on an older status than the one that is known by now.
  const stale = staleRefusal(action.evidenceMs, limits);
  if (stale !== undefined && !isInjected(action)) return stale;
  if (needsWholeStatus(action)) return evidenceRefusal(view.database, limits);
  if (isInjected(action) || action.type === "configureDatabase") return undefined;
  return freshnessRefusal(view.database, limits) ?? unreadableRefusal(view.database);
}

/** A new database that was decided on without any status. */
function isUnseenCreation(action: DisruptiveAction): boolean {
  return action.type === "configureDatabase" && action.isNew && action.evidenceMs === 0;
}

function unseenRefusal(view: SafetyView): Refusal | undefined {
  if (view.database.kind === "seen") {
    return refusal("EvidenceStale", "a status has come since the decision");
  }
  if (mayCreateUnseen(view)) return undefined;
  return refusal("StatusIncomplete", "no status shows that there is no database");
}

function isInjected(action: DisruptiveAction): boolean {
  return action.type === "deletePods" && action.because === "buggify";
}

/** While processes restart in place nothing else happens, and they restart only when nothing else happens. */
export function flightRefusal(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  if (isInjected(action) || isApart(view, action)) return undefined;
  const isAlone = action.type === "killProcesses";
  const entry = view.ledger.find(({ type }) => isAlone || type === "killProcesses");
  if (entry === undefined) return undefined;
  const what = entry.type === "killProcesses" ? "a restart is not over" : "another act is not over";
  return refusal("ActInFlight", `${what}: ${entry.processGroupIds.slice(0, 3).join(", ")}`);
}

/** Pods of processes that cannot speak with the database are no part of it; a restart may even wait for their return. */
function isApart(view: SafetyView, action: DisruptiveAction): boolean {
  if (action.type !== "deletePods" || action.because !== "incompatible") return false;
  return chargedGroups(view, action).length === 0;
}

function particularProblem(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  if (view.database.kind !== "seen") return undefined;
  const { status } = view.database;
  switch (action.type) {
    case "deletePods": {
      if (action.because === "buggify") return undefined;
      const groups = groupsNamed(view, action.pods);
      const living = groups.filter((group) => isServing(view, group, status));
      if (action.because === "update" && isLossAccepted(view, status, living)) return undefined;
      return (
        majorityRefusal(view, status, living) ??
        budgetRefusal(view, living) ??
        hallRefusal(view, living)
      );
    }
    case "fencePods":
      return fenceRefusal(view, status, groupsNamed(view, action.pods));
    case "lowerLimits":
      return lowerLimitsRefusal(view, status, groupsNamed(view, [action]));
    case "configureDatabase":
      return configureRefusal(view, status, action);
    case "removeProcessGroups":
      return removalRefusal(view, status, action.groups);
    case "deleteQuarantined":
      return quarantineRefusal(
        view,
        status,
        action.claims.map(({ name }) => name),
      );
    case "resetMaintenanceZone": {
      const now = status.cluster?.maintenance_zone ?? "";
      if (now === action.zone) return undefined;
      return refusal("EvidenceStale", `${now || "nothing"} is under maintenance by now`);
    }
    case "killProcesses":
      return view.checks.restart(view, action.isUpgrade);
    default:
      return undefined;
  }
}

/** Nobody knows for how long they stay away, so the database has to be whole before. */
function fenceRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
): Refusal | undefined {
  const unwanted = groups.find((group) => fenceWish(view, group) === undefined);
  if (unwanted !== undefined) {
    return refusal(
      "EvidenceStale",
      `nobody asks for a fence of ${unwanted.processGroupID} any more`,
    );
  }
  const living = groups.filter((group) => isServing(view, group, status));
  if (living.length === 0) return absentFenceRefusal(view, status, groups);
  const short = faultToleranceProblem(status, status.cluster?.configuration?.redundancy_mode);
  if (short !== undefined) return refusal("BudgetExhausted", short);
  return (
    majorityRefusal(view, status, living) ??
    budgetRefusal(view, living) ??
    hallRefusal(view, living)
  );
}

function majorityRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
): Refusal | undefined {
  const problem = majorityProblem(view, status, groups);
  return problem === undefined ? undefined : refusal("BudgetExhausted", problem);
}

function budgetRefusal(view: SafetyView, groups: readonly ProcessGroup[]): Refusal | undefined {
  if (groups.length === 0) return undefined;
  const zones = groups.map((group) => zoneOfGroup(view, group));
  const problem = takeDownProblem(view.checks.budget(view), zones) ?? unnoticedLossProblem(view);
  return problem === undefined ? undefined : refusal("BudgetExhausted", problem);
}

/**
 * A restart in place is not charged by zone, but it needs a database that could bear its worst end. What ran ahead in a
 * upgrade is no loss to its restart, which alone brings it back.
 */
export function restartRefusal(
  view: SafetyView,
  isIncompatibleUpgrade: boolean,
): Refusal | undefined {
  const version = versionRefusal(view, isIncompatibleUpgrade);
  if (version !== undefined) return version;
  const left = [...(isIncompatibleUpgrade ? groupsMerelyAhead(view) : []), ...servingAtRisk(view)];
  const budget = view.checks.budget(without(view, left));
  if (budget.downZones.size <= budget.tolerance) return undefined;
  return refusal("BudgetExhausted", budget.reason);
}

/** Their volumes are about to go, but no restart in place takes them away. */
function servingAtRisk(view: SafetyView): ProcessGroup[] {
  if (view.database.kind !== "seen") return [];
  const { status } = view.database;
  return groupsOf(view).filter(
    (group) => volumeProblem(view, group)?.kind === "atRisk" && isServing(view, group, status),
  );
}

function without(view: SafetyView, left: readonly ProcessGroup[]): SafetyView {
  if (left.length === 0) return view;
  const gone = new Set(left);
  return withGroups(
    view,
    groupsOf(view).filter((group) => !gone.has(group)),
  );
}

function removalRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  orders: readonly RemovalOrder[],
): Refusal | undefined {
  // A certificate knows itself whether it needs a database that has fully recovered.
  const isUnproven = orders.some(({ proof }) => proof !== "certificate");
  if (isUnproven && !isFullyRecovered(status)) {
    return refusal("StatusIncomplete", "the database has not fully recovered");
  }
  const known = new Map(groupsOf(view).map((group) => [group.processGroupID, group]));
  for (const order of orders) {
    const id = order.processGroupId;
    const group = known.get(id);
    if (group === undefined || !isMarkedForRemoval(group)) {
      return refusal("CertificateMissing", `${id} is not marked for removal`);
    }
    if (isCoordinator(view, status, group)) {
      return refusal("CertificateMissing", `${id} is a coordinator`);
    }
    const problem = proofProblem(view, group, order);
    if (problem !== undefined) return refusal("CertificateMissing", `${id}: ${problem}`);
  }
  const charged = unprovenGroups(view, orders, status);
  return (
    majorityRefusal(view, status, charged) ??
    budgetRefusal(view, charged) ??
    hallRefusal(view, groupsNamed(view, orders))
  );
}

function hallRefusal(view: SafetyView, groups: readonly ProcessGroup[]): Refusal | undefined {
  const problem = view.checks.secondHall(view, groups);
  return problem === undefined ? undefined : refusal("ActInFlight", problem);
}

/** A mode over halls that the processes cannot serve makes a database unavailable for good. */
function configureRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  action: DisruptiveAction & { type: "configureDatabase" },
): Refusal | undefined {
  const mode = modeInCommand(action.arguments);
  const isSame = !action.isNew && mode === status.cluster?.configuration?.redundancy_mode;
  if (isSame) return undefined;
  // What is to go anyway does not decide about a database that is only being created.
  const left = action.isNew ? leavingIds(groupsOf(view)) : undefined;
  const problem = view.checks.halls(status, mode, left);
  return problem === undefined ? undefined : refusal("StatusIncomplete", problem);
}

/** Whether the reason that the order gives is true. */
function proofProblem(
  view: SafetyView,
  group: ProcessGroup,
  order: RemovalOrder,
): string | undefined {
  switch (order.proof) {
    case "certificate":
      return view.checks.certificate(view, group);
    case "exclusionSkipped":
      return skipProblem(view, group);
  }
}

function skipProblem(view: SafetyView, group: ProcessGroup): string | undefined {
  if (group.exclusionSkipped !== true) return "nobody allowed to skip its exclusion";
  const status = view.database.kind === "seen" ? view.database.status : undefined;
  if (!isSkipOutdated(view, group, status)) return undefined;
  return "it reports by now, and spec.processGroupsToRemoveWithoutExclusion does not name it";
}
