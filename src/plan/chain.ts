// The ordered list of steps, under the names by which people know them, and the function that runs a snapshot
// through it. Rules: spec/plan.md [P1]-[P4], [P100].
import { append } from "../env/long-lists.ts";
import type { ClusterStatus } from "../api/cluster.ts";
import type { Action } from "./action.ts";
import { planNewProcessGroups } from "./add-process-groups.ts";
import { planPods } from "./add-pods.ts";
import { planServices } from "./add-services.ts";
import { planVolumeClaims } from "./add-pvcs.ts";
import { planBounce } from "./bounce-processes.ts";
import { planCoordinators } from "./change-coordinators.ts";
import { planCoordination } from "./operator-coordination.ts";
import { withCertificatesFirst } from "./certificates-first.ts";
import { planClientCheck } from "./check-client-compatibility.ts";
import { concludeStatus } from "./conclude-status.ts";
import { planBuggifiedPods } from "./delete-pods-for-buggification.ts";
import { planDeletionProtection } from "./deletion-protection.ts";
import { planTerminalPods } from "./delete-terminal-pods.ts";
import { withSafeNames } from "./family-change.ts";
import { planInitialClusterFile } from "./generate-initial-cluster-file.ts";
import { planMaintenance } from "./maintenance-mode.ts";
import { mergedPatch } from "./metadata-check.ts";
import { distinctQuestions } from "./questions.ts";
import type { DatabaseQuestion } from "./questions.ts";
import { planShrink } from "./choose-removals.ts";
import { planExclusions } from "./exclude-processes.ts";
import { planRemovals } from "./remove-process-groups.ts";
import { planServiceRemoval } from "./remove-services.ts";
import { planFailedReplacements } from "./replace-failed.ts";
import { planMisconfiguredReplacements } from "./replace-misconfigured.ts";
import { planIncompatibleRemoval } from "./remove-incompatible-processes.ts";
import { sidecarQuestions } from "./sidecar-questions.ts";
import type { SidecarQuestion } from "./sidecar-questions.ts";
import { mergedUpdates } from "./set-membership.ts";
import type { Snapshot, ZoneAttempt } from "./snapshot.ts";
import type { Draft, PlanEvent, Step } from "./step.ts";
import { planConfigMap } from "./update-config-map.ts";
import { planDatabaseConfiguration } from "./update-database-configuration.ts";
import { lockRelease, planLockConfiguration } from "./update-lock-configuration.ts";
import { planMetadata } from "./update-metadata.ts";
import { planPodConfig } from "./update-pod-config.ts";
import { planIdlePods } from "./update-pods-idle.ts";
import { planPodUpdates } from "./update-pods.ts";
import { lastingAttempt } from "./zone-seeker.ts";
import { planSidecarVersions } from "./update-sidecar-versions.ts";
import { planObservedStatus } from "./update-status.ts";
import type { NewWait, Wait } from "./wait.ts";

/** Between updateStatus, which begins and ends every pass. */
export const chain: readonly Step[] = [
  // In global mode: what this instance tells the others, and takes back.
  { name: "operatorCoordination", run: planCoordination },
  // A finalizer for a cluster that must not be deleted by mistake.
  { name: "protectFromDeletion", run: planDeletionProtection },
  // Who may not take the lock.
  { name: "updateLockConfiguration", run: planLockConfiguration },
  // The ConfigMap that all pods mount.
  { name: "updateConfigMap", run: planConfigMap },
  // A change of version is possible, and all clients could follow.
  { name: "checkClientCompatibility", run: planClientCheck },
  // Pods that should begin or end to misbehave for a test.
  { name: "deletePodsForBuggification", run: planBuggifiedPods },
  // Pods that ended for good make room for their successors.
  { name: "deleteTerminalPods", run: planTerminalPods },
  // Pods of an older specification that have not started lose nothing by being made anew.
  { name: "updatePods", run: planIdlePods },
  // Process groups that cannot be made right in place, and those that have failed for long, are replaced.
  { name: "replaceMisconfiguredProcessGroups", run: planMisconfiguredReplacements },
  { name: "replaceFailedProcessGroups", run: planFailedReplacements },
  // Every class gets its number of process groups.
  { name: "addProcessGroups", run: planNewProcessGroups },
  // The headless service, and services with public addresses.
  { name: "addServices", run: planServices },
  // Volume claims of the process groups that keep data.
  { name: "addPVCs", run: planVolumeClaims },
  // Pods of the process groups that have none.
  { name: "addPods", run: planPods },
  // The first coordinators of a new database.
  { name: "generateInitialClusterFile", run: planInitialClusterFile },
  // Processes that stayed behind in an upgrade come back with the right version.
  { name: "removeIncompatibleProcesses", run: planIncompatibleRemoval },
  // Binaries for an upgrade in which all processes change at once.
  { name: "updateSidecarVersions", run: planSidecarVersions },
  // A changed ConfigMap reaches the pods.
  { name: "updatePodConfig", run: planPodConfig },
  // Labels and annotations are put back.
  { name: "updateMetadata", run: planMetadata },
  // The database is created and keeps its configuration.
  { name: "updateDatabaseConfiguration", run: planDatabaseConfiguration },
  // Classes that are too large choose who goes.
  { name: "chooseRemovals", run: planShrink },
  // Who goes is excluded, so that the database moves everything away.
  { name: "excludeProcesses", run: planExclusions },
  // Coordinators that are gone or unfit give way to others.
  { name: "changeCoordinators", run: planCoordinators },
  // Processes with an old command line start anew, all at once.
  { name: "bounceProcesses", run: planBounce },
  // A maintenance ends when its processes are back.
  { name: "maintenanceModeChecker", run: planMaintenance },
  // Pods of an older specification are made anew, one fault domain after the other.
  { name: "updatePods", run: planPodUpdates },
  // Who holds nothing any more loses pod and volume, and leaves.
  { name: "removeProcessGroups", run: planRemovals },
  // The headless service when nobody needs its names.
  { name: "removeServices", run: planServiceRemoval },
];

export interface Plan {
  /** In the order in which they are to be performed. */
  actions: readonly Action[];
  waits: readonly Wait[];
  status: ClusterStatus;
  events: readonly PlanEvent[];
  /** Sidecars that the next pass should know more about. */
  questions: readonly SidecarQuestion[];
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
  given: Snapshot,
  steps: readonly Step[] = chain,
  isTimeUp: () => boolean = () => false,
): Plan {
  const snapshot = withCertificatesFirst(withSafeNames(given));
  const observed = planObservedStatus(snapshot);
  const events: PlanEvent[] = [...observed.events];
  const asked: DatabaseQuestion[] = [];
  let attempt: ZoneAttempt | undefined;
  let draft: Draft = { ...observed, actions: [], waits: [] };
  for (const step of steps) {
    if (isTimeUp()) {
      draft = { ...draft, waits: appended(draft.waits, [cutBefore(step)]) };
      break;
    }
    const result = step.run(snapshot, draft);
    append(events, result.events ?? []);
    append(asked, result.questions ?? []);
    attempt ??= result.zoneAttempt;
    draft = {
      status: result.status === undefined ? draft.status : { ...draft.status, ...result.status },
      groups: result.groups ?? draft.groups,
      desired: draft.desired,
      actions: appended(draft.actions, result.actions),
      waits: appended(draft.waits, result.waits),
    };
    if (result.stop === true) break;
  }
  const conclusion = concludeStatus(snapshot, draft);
  const release = lockRelease(snapshot, conclusion.isReconciled);
  append(asked, release.questions ?? []);
  const questions = sidecarQuestions(snapshot, draft);
  const all = oneCoordinationUpdate(appended(draft.actions, release.actions));
  const actions = onePatchPerObject(all);
  const databaseQuestions = distinctQuestions(asked);
  const isMade = (observed.status.connectionString ?? "") === "";
  const { connectionString = "" } = conclusion.status;
  const made = isMade && connectionString !== "" ? { madeConnectionString: connectionString } : {};
  const zoneAttempt = attempt ?? lastingAttempt(snapshot, draft);
  return { ...conclusion, ...made, zoneAttempt, actions, events, questions, databaseQuestions };
}

function cutBefore({ name }: Step): NewWait {
  return {
    step: name,
    reason: "PlanTooLong",
    message: `Deciding what to do took so long that it was ended before ${name}`,
    retryAfterMs: 60_000,
    remedy: "Give the operator more CPU, or ask for fewer process groups in this resource",
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
    merged[place] = { ...earlier, patch: mergedPatch(earlier.patch, action.patch) };
  }
  return merged;
}
