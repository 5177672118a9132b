// The ordered list of steps, under the names by which people know them, and the function that runs a snapshot
// through it. Rules: spec/plan.md [P1]-[P4], [P100].
import { append } from "../env/long-lists.ts";
import type { Action } from "./action.ts";
import { addProcessGroups } from "./process-groups/add-process-groups.ts";
import { addPods } from "./pods/add-pods.ts";
import { addServices } from "./services/add-services.ts";
import { addPVCs } from "./volumes/add-pvcs.ts";
import { adoptVolumes } from "./volumes/adopt-volumes.ts";
import { deleteQuarantined } from "./volumes/delete-quarantined.ts";
import { growVolumes } from "./volumes/grow-volumes.ts";
import { resizePods } from "./resize/resize-pods.ts";
import { bounceProcesses } from "./restart/bounce-processes.ts";
import { upgradeBounce } from "./upgrade/upgrade-bounce.ts";
import { isUpgradingIncompatibly } from "./view/running-version.ts";
import { changeCoordinators } from "./coordinators/change-coordinators.ts";
import { operatorCoordination } from "./coordination/operator-coordination.ts";
import { checkClientCompatibility } from "./upgrade/check-client-compatibility.ts";
import { concludeStatus } from "./status/conclude-status.ts";
import type { PlannedStatus } from "./status/conclude-status.ts";
import { certificateTargetsOf } from "./certificates/certificate-targets.ts";
import type { CertificateTarget } from "./certificates/certificate-targets.ts";
import { deletePodsForBuggification } from "./pods/delete-pods-for-buggification.ts";
import { protectFromDeletion } from "./removal/protect-from-deletion.ts";
import { fenceProcesses } from "./fencing/fence-processes.ts";
import { fallAsleep, hibernate, isStopped } from "./hibernation/hibernate.ts";
import { deleteTerminalPods } from "./pods/delete-terminal-pods.ts";
import { generateInitialClusterFile } from "./coordinators/generate-initial-cluster-file.ts";
import { maintenanceModeChecker } from "./restart/maintenance-mode-checker.ts";
import { mergedPatch } from "./view/metadata-check.ts";
import { distinctQuestions } from "./questions.ts";
import type { DatabaseQuestion } from "./questions.ts";
import { chooseRemovals } from "./removal/choose-removals.ts";
import { excludeProcesses } from "./exclusion/exclude-processes.ts";
import { updateNetworkPolicy } from "./network/update-network-policy.ts";
import { updateDisruptionBudget } from "./evictions/update-disruption-budget.ts";
import { removeProcessGroups } from "./removal/remove-process-groups.ts";
import { removeServices } from "./services/remove-services.ts";
import { replaceFailedProcessGroups } from "./replacement/replace-failed-process-groups.ts";
import { replaceMisconfiguredProcessGroups } from "./replacement/replace-misconfigured-process-groups.ts";
import { removeIncompatibleProcesses } from "./restart/remove-incompatible-processes.ts";
import { sidecarQuestions } from "./config-map/sidecar-questions.ts";
import type { SidecarQuestion } from "./config-map/sidecar-questions.ts";
import { mergedUpdates } from "./coordination/set-membership.ts";
import type { ClusterFacts } from "./facts.ts";
import type { Snapshot, ZoneAttempt } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { Draft, PlanEvent, StatusFields, Step, StepResult } from "./step.ts";
import { updateConfigMap } from "./config-map/update-config-map.ts";
import { updateDatabaseConfiguration } from "./configuration/update-database-configuration.ts";
import { lockRelease, updateLockConfiguration } from "./locks/update-lock-configuration.ts";
import { updateMetadata } from "./pods/update-metadata.ts";
import { updatePodConfig } from "./config-map/update-pod-config.ts";
import { updateIdlePods } from "./pods/update-idle-pods.ts";
import { updatePods } from "./pods/update-pods.ts";
import { lastingAttempt } from "./coordinators/zone-seeker.ts";
import { updateSidecarVersions } from "./upgrade/update-sidecar-versions.ts";
import { planObservedStatus } from "./status/update-status.ts";
import type { NewWait } from "./wait.ts";
import {
  throughWindows,
  versionWaits,
  withLastingWork,
  withoutFutileWork,
} from "./safety/window-gate.ts";

/** Between updateStatus, which begins and ends every pass. */
export const chain: readonly Step[] = [
  // In global mode: what this instance tells the others, and takes back.
  { name: "operatorCoordination", run: operatorCoordination },
  // A finalizer for a cluster that must not be deleted by mistake.
  { name: "protectFromDeletion", run: protectFromDeletion },
  // A database that comes back from its disks: the claims are looked at before anything is made for them.
  { name: "adoptVolumes", run: adoptVolumes },
  // A database that sleeps is left asleep; one that is to sleep says what it waits for.
  { name: "hibernate", run: hibernate },
  // Who may not take the lock.
  { name: "updateLockConfiguration", run: updateLockConfiguration },
  // Who may connect to the pods; before anything listens on a port that was closed.
  { name: "updateNetworkPolicy", run: updateNetworkPolicy },
  // The ConfigMap that all pods mount.
  { name: "updateConfigMap", run: updateConfigMap },
  // A change of version is possible, and all clients could follow.
  { name: "checkClientCompatibility", run: checkClientCompatibility },
  // Pods that should begin or end to misbehave for a test.
  { name: "deletePodsForBuggification", run: deletePodsForBuggification },
  // Pods that ended for good make room for their successors.
  { name: "deleteTerminalPods", run: deleteTerminalPods },
  // Pods of an older specification that have not started lose nothing by being made again.
  { name: "updatePods", run: updateIdlePods },
  // Volumes that are too small become larger in place, where they can.
  { name: "growVolumes", run: growVolumes },
  // Pods get other CPU and memory in place, where they can.
  { name: "resizePods", run: resizePods },
  // Process groups that cannot be made right in place, and those that have failed for long, are replaced.
  { name: "replaceMisconfiguredProcessGroups", run: replaceMisconfiguredProcessGroups },
  { name: "replaceFailedProcessGroups", run: replaceFailedProcessGroups },
  // Every class gets its number of process groups.
  { name: "addProcessGroups", run: addProcessGroups },
  // How many pods others may evict; before pods are made, so that it holds for them.
  { name: "updateDisruptionBudget", run: updateDisruptionBudget },
  // The headless service, and services with public addresses.
  { name: "addServices", run: addServices },
  // Volume claims of the process groups that keep data.
  { name: "addPVCs", run: addPVCs },
  // Pods of the process groups that have none.
  { name: "addPods", run: addPods },
  // The first coordinators of a new database.
  { name: "generateInitialClusterFile", run: generateInitialClusterFile },
  // Processes that stayed behind in an upgrade come back with the right version.
  { name: "removeIncompatibleProcesses", run: removeIncompatibleProcesses },
  // Binaries for an upgrade in which all processes change at once.
  { name: "updateSidecarVersions", run: updateSidecarVersions },
  // A changed ConfigMap reaches the pods.
  { name: "updatePodConfig", run: updatePodConfig },
  // Labels and annotations are put back.
  { name: "updateMetadata", run: updateMetadata },
  // The database is created and keeps its configuration.
  { name: "updateDatabaseConfiguration", run: updateDatabaseConfiguration },
  // Classes that are too large choose who goes.
  { name: "chooseRemovals", run: chooseRemovals },
  // Who goes is excluded, so that the database moves everything away.
  { name: "excludeProcesses", run: excludeProcesses },
  // Coordinators that are gone or unfit give way to others.
  { name: "changeCoordinators", run: changeCoordinators },
  // Processes that a person wants to look at are stopped, and started again.
  { name: "fenceProcesses", run: fenceProcesses },
  // Processes start again, all at once: with the new version, or with the new command line.
  {
    name: "bounceProcesses",
    run: (snapshot, draft) =>
      isUpgradingIncompatibly(draft)
        ? upgradeBounce(snapshot, draft)
        : bounceProcesses(snapshot, draft),
  },
  // A maintenance ends when its processes are back.
  { name: "maintenanceModeChecker", run: maintenanceModeChecker },
  // Pods of an older specification are made again, one fault domain after the other.
  { name: "updatePods", run: updatePods },
  // Who holds nothing any more loses pod and volume, and leaves.
  { name: "removeProcessGroups", run: removeProcessGroups },
  // Volumes whose quarantine is over are deleted.
  { name: "deleteQuarantined", run: deleteQuarantined },
  // The headless service when nobody needs its names.
  { name: "removeServices", run: removeServices },
  // When nothing else is left to do, a database that is to sleep is stopped.
  { name: "hibernate", run: fallAsleep },
];

export interface Plan {
  /** In the order in which they are to be performed. */
  actions: readonly Action[];
  /** For people; causes first. */
  waits: readonly NewWait[];
  /** All but blockedBy, which tells since when each wait lasts. */
  status: PlannedStatus;
  /** What the next pass has to know. */
  facts: ClusterFacts;
  events: readonly PlanEvent[];
  /** Sidecars that the next pass should know more about. */
  questions: readonly SidecarQuestion[];
  /** Processes whose certificates are to be looked at now and then. */
  certificateTargets: readonly CertificateTarget[];
  /** What only a question to the database can tell. */
  databaseQuestions: readonly DatabaseQuestion[];
  isReconciled: boolean;
  /** A connection string that this plan has made up for a new database. */
  madeConnectionString?: string;
  /** What the next pass has to know of a replacement for the sake of coordinators, once this one is stored. */
  zoneAttempt: ZoneAttempt | undefined;
}

/** `isTimeUp` cuts a plan that takes too long: the steps that are left wait for the next one. */
export function planCluster(
  seen: Snapshot,
  steps: readonly Step[] = chain,
  isTimeUp: () => boolean = () => false,
): Plan {
  const planning = planInPieces(seen, steps, isTimeUp);
  for (;;) {
    const { done, value } = planning.next();
    if (done === true) return value;
  }
}

/** The same with pauses in which somebody else may have a turn. Nothing that it looks at may change meanwhile. */
export function* planInPieces(
  seen: Snapshot,
  steps: readonly Step[] = chain,
  isTimeUp: () => boolean = () => false,
): Generator<undefined, Plan, undefined> {
  const snapshot = withoutFutileWork(seen);
  yield;
  const observed = planObservedStatus(snapshot);
  yield;
  const events: PlanEvent[] = [...observed.events];
  const asked: DatabaseQuestion[] = [];
  let attempt: ZoneAttempt | undefined;
  const waits: NewWait[] = versionWaits(snapshot);
  let draft: Draft = {
    ...observed,
    ...{ actions: [], isUnfinished: false, isHeldByWindow: waits.length > 0 },
  };
  const before = { ...draft, groups: snapshot.cluster.status?.processGroups ?? [] };
  const marked = throughWindows(snapshot, before, "updateStatus", { groups: draft.groups });
  append(waits, marked.waits ?? []);
  draft = {
    ...draft,
    groups: marked.groups ?? draft.groups,
    isHeldByWindow: draft.isHeldByWindow || marked.isHeldByWindow === true,
  };
  for (const step of steps) {
    if (isTimeUp()) {
      waits.push(cutBefore(step));
      draft = { ...draft, isUnfinished: true };
      break;
    }
    const result = throughWindows(snapshot, draft, step.name, step.run(snapshot, draft));
    yield;
    // Most steps of most passes have nothing to say.
    if (result === nothing) continue;
    append(events, result.events ?? []);
    append(waits, result.waits ?? []);
    append(asked, result.questions ?? []);
    attempt ??= result.zoneAttempt;
    draft = advanced(draft, result);
    if (result.stop === true) break;
  }
  const certificateTargets = certificateTargetsOf(snapshot, draft);
  const conclusion = concludeStatus(snapshot, draft, waits, certificateTargets);
  yield;
  const release = isStopped(snapshot) ? nothing : lockRelease(snapshot, conclusion.isReconciled);
  append(asked, release.questions ?? []);
  const questions = sidecarQuestions(snapshot, draft);
  const all = oneCoordinationUpdate(appended(draft.actions, release.actions));
  const actions = onePatchPerObject(all);
  const databaseQuestions = distinctQuestions(asked);
  // One that was read from volumes was made by another.
  const isMade =
    (observed.status.connectionString ?? "") === "" && snapshot.cluster.spec.adopt === undefined;
  const { connectionString = "" } = conclusion.status;
  const made = isMade && connectionString !== "" ? { madeConnectionString: connectionString } : {};
  const zoneAttempt = attempt ?? lastingAttempt(snapshot, draft);
  const { facts } = draft;
  const wishes = { actions, events, questions, certificateTargets, databaseQuestions };
  const status = withLastingWork(snapshot, conclusion.status, actions);
  return { ...conclusion, status, ...made, ...wishes, facts, zoneAttempt };
}

/** The same draft when the step leaves it as it is, so that what was found of it stands. */
function advanced(draft: Draft, result: StepResult): Draft {
  const { status, groups = draft.groups, actions = [], isUnfinished, isHeldByWindow } = result;
  const isSame =
    isSet(draft.status, status) &&
    groups === draft.groups &&
    actions.length === 0 &&
    (isUnfinished !== true || draft.isUnfinished) &&
    (isHeldByWindow !== true || draft.isHeldByWindow);
  if (isSame) return draft;
  return {
    status: status === undefined ? draft.status : { ...draft.status, ...status },
    groups,
    desired: draft.desired,
    facts: draft.facts,
    actions: appended(draft.actions, actions),
    isUnfinished: draft.isUnfinished || isUnfinished === true,
    isHeldByWindow: draft.isHeldByWindow || isHeldByWindow === true,
  };
}

function isSet(known: StatusFields, fields: Partial<StatusFields> | undefined): boolean {
  return Object.entries(fields ?? {}).every(
    ([name, value]) => Object.hasOwn(known, name) && Reflect.get(known, name) === value,
  );
}

function cutBefore({ name }: Step): NewWait {
  return {
    step: name,
    reason: "PlanTooLong",
    message: `Deciding what to do took so long that it was ended before ${name}`,
    retryAfterMs: 60_000,
  };
}

function appended<T>(list: readonly T[], more: readonly T[] | undefined): readonly T[] {
  return more === undefined || more.length === 0 ? list : [...list, ...more];
}

/** Several steps tell the other instances something: it is one transaction, in the place of the first. */
function oneCoordinationUpdate(actions: readonly Action[]): readonly Action[] {
  const isUpdate = (action: Action): action is Action & { type: "updateCoordination" } =>
    action.type === "updateCoordination";
  const [first, ...rest] = actions.filter(isUpdate);
  if (first === undefined || rest.length === 0) return actions;
  const updates = rest.reduce((all, next) => mergedUpdates(all, next.updates), first.updates);
  return actions
    .filter((action) => action === first || !isUpdate(action))
    .map((action) => (action === first ? { ...first, updates } : action));
}

/** Several steps may want to change the metadata of one object: it is written once. */
function onePatchPerObject(actions: readonly Action[]): Action[] {
  const places = new Map<string, number>();
  const merged: Action[] = [];
  for (const action of actions) {
    if (action.type !== "patchPod" && action.type !== "patchPvc") {
      merged.push(action);
      continue;
    }
    const key = `${action.type}/${action.basis.name}`;
    const place = places.get(key);
    const earlier = place === undefined ? undefined : merged[place];
    if (place === undefined || earlier?.type !== action.type) {
      places.set(key, merged.length);
      merged.push(action);
      continue;
    }
    const isExact = earlier.isExact ?? action.isExact;
    const patch = mergedPatch(earlier.patch, action.patch);
    merged[place] = { ...earlier, patch, ...(isExact === true ? { isExact } : {}) };
  }
  return merged;
}
