// What every step wants passes here: acts that have to wait for a maintenance window are taken out of its result, and process
// groups that it would let go stay; a wait says so instead. So no step asks for the time itself, and none can forget it.
// Rules: spec/windows.md [WIN6]-[WIN12], [WIN27].
import type { ClusterStatus, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { formatTime } from "../../kube/time.ts";
import { isAvailable } from "../../model/availability.ts";
import { processesOf } from "../../model/locality.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { describeAction } from "../describe-action.ts";
import type { Action } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { operatorTimeMs } from "../view/server-time.ts";
import { withGroups } from "../view/cluster-view.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";
import { dividedByVersion, isPartOf, needsWindow, workOf } from "./maintenance-window.ts";
import type { BegunWork, Work } from "./maintenance-window.ts";
import { isServing } from "./touched-groups.ts";
import { beginningOf } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { heldVersion } from "./version-window.ts";
import { volumeProblem } from "./volumes.ts";
import { hasWindows, windowState } from "./window-state.ts";

/** What the window is looked at again for at the latest, should somebody set the clock. */
const lookMs = 3_600_000;

export function throughWindows(
  snapshot: Snapshot,
  draft: Draft,
  step: string,
  result: StepResult,
): StepResult {
  if (result === nothing || !hasWindows(snapshot)) return result;
  const held: string[] = [];
  let work: Work = {};
  const actions = result.actions?.flatMap((action) => {
    const view = withGroups(snapshot, result.groups ?? draft.groups);
    if (snapshot.checks.window(view, action) !== undefined) {
      const { now, later } = dividedByVersion(view, action);
      held.push(describeHeld(later ?? action, result.groups ?? draft.groups));
      return now ?? [];
    }
    work = { ...work, ...begunWith(view, action) };
    return action;
  });
  const marks = heldMarks(snapshot, draft.groups, result.groups ?? draft.groups, step);
  if (marks.ids.length > 0) held.push(`let ${nameList(marks.ids)} go`);
  if (marks.isWork) work = { ...work, ...workOf(snapshot, "replacement") };
  const begun = noted(snapshot, draft, work);
  const status = begun === undefined ? result.status : { ...result.status, begunWork: begun };
  const passed: StepResult = {
    ...result,
    ...(actions === undefined ? {} : { actions }),
    ...(result.groups === undefined ? {} : { groups: marks.groups }),
    ...(status === undefined ? {} : { status }),
  };
  if (held.length === 0) return passed;
  const { zoneAttempt: _attempt, ...rest } = passed;
  return {
    ...rest,
    // What is told as begun has not.
    events: (result.events ?? []).filter(({ type }) => type !== "Normal"),
    waits: [...(result.waits ?? []), heldWait(snapshot, step, held)],
    isHeldByWindow: true,
  };
}

/** One process goes first in a restart: those that follow wait for the window, too. */
function describeHeld(action: Action, groups: readonly ProcessGroup[]): string {
  const text = describeAction(action);
  if (action.type !== "killProcesses" || action.isUpgrade) return text;
  const followers = groups
    .filter((group) => hasCondition(group, "IncorrectCommandLine") && !isMarkedForRemoval(group))
    .map(({ processGroupID }) => processGroupID)
    .filter((id) => !action.processGroupIds.includes(id))
    .toSorted();
  return followers.length === 0 ? text : `${text} first, then ${nameList(followers)}`;
}

/** Only what happens in a window begins something; what finishes an upgrade does not bring other work with it. */
function begunWith(view: SafetyView, action: Action): Work {
  if (!needsWindow(view, action)) return {};
  if (windowState(view).kind === "open") return workOf(view, action.type);
  const isUpgrade = action.type === "killProcesses" && action.isUpgrade;
  return isUpgrade ? { upgrade: view.cluster.spec.version } : {};
}

/** Where a process group is let go that serves, and neither its node nor its volume is a reason to hurry. */
function heldMarks(
  snapshot: Snapshot,
  before: readonly ProcessGroup[],
  after: readonly ProcessGroup[],
  step: string,
): { groups: readonly ProcessGroup[]; ids: readonly string[]; isWork: boolean } {
  const marked = new Set(before.filter(isMarkedForRemoval).map((group) => group.processGroupID));
  const isNew = (group: ProcessGroup): boolean =>
    isMarkedForRemoval(group) && !marked.has(group.processGroupID);
  const wanted = after.filter((group) => isNew(group) && isLeavingInOrder(snapshot, step, group));
  const isReplacement = step === "replaceMisconfiguredProcessGroups";
  const isBegun =
    isReplacement && isPartOf(snapshot.cluster.status?.begunWork, workOf(snapshot, "replacement"));
  const isOpen = windowState(snapshot).kind === "open";
  if (wanted.length === 0 || isBegun || isOpen) {
    return { groups: after, ids: [], isWork: isOpen && isReplacement && wanted.length > 0 };
  }
  const ids = wanted.map((group) => group.processGroupID);
  const groups = after.map((group) =>
    ids.includes(group.processGroupID) ? unmarked(group) : group,
  );
  return { groups, ids, isWork: false };
}

function isLeavingInOrder(snapshot: Snapshot, step: string, group: ProcessGroup): boolean {
  if (step === "replaceFailedProcessGroups" || snapshot.cluster.status?.configured !== true) {
    return false;
  }
  if (volumeProblem(snapshot, group) !== undefined) return false;
  if (hasCondition(group, "NodeDraining")) return false;
  // While the database says nothing, everybody may serve. A status without coordinators names no process at all.
  const { database } = snapshot;
  if (database.kind !== "seen" || !isAvailable(database.status)) return true;
  return isServing(snapshot, group, database.status);
}

function unmarked(group: ProcessGroup): ProcessGroup {
  const { removalTimestamp: _r, exclusionTimestamp: _e, exclusionSkipped: _s, ...rest } = group;
  return rest;
}

/** What begins with this step, beside what has begun; undefined when nothing new does. */
function noted(snapshot: Snapshot, draft: Draft, work: Work): BegunWork | undefined {
  const { begunWork } = draft.status;
  const names = ["processes", "configuration", "upgrade"] as const;
  const isNews = names.some((name) => work[name] !== undefined && begunWork?.[name] !== work[name]);
  if (!isNews) return undefined;
  const running = draft.status.runningVersion ?? snapshot.cluster.spec.version;
  const { upgrade, ...rest } = work;
  const isUpgrade = upgrade !== undefined && upgrade !== running;
  return {
    since: formatTime(snapshot.nowMs),
    ...without(begunWork),
    ...rest,
    ...(isUpgrade ? { upgrade } : {}),
  };
}

function without(begun: BegunWork | undefined): Work {
  if (begun === undefined) return {};
  const { since: _since, ...work } = begun;
  return work;
}

function heldWait(snapshot: Snapshot, step: string, held: readonly string[]): NewWait {
  const state = windowState(snapshot);
  const [opensMs, text] =
    state.kind === "closed" ? [state.opensMs, state.text] : [undefined, "it opens now"];
  const leftMs = (opensMs ?? Infinity) - snapshot.nowMs;
  return {
    step,
    reason: "MaintenanceWindowClosed",
    message: `Waits for a maintenance window (${text}), in which the operator itself will ${held.join("; ").slice(0, 1000)}`,
    remedy: remedyOf(snapshot),
    retryAfterMs: Math.min(lookMs, Math.max(1_000, leftMs)),
  };
}

function remedyOf({ cluster: { metadata } }: Snapshot): string {
  const { name = "", namespace = "", generation = 0 } = metadata;
  return (
    "Nothing: it happens then. If it cannot wait: " +
    `kubectl annotate foundationdbcluster ${name} -n ${namespace} --overwrite foundationdb.org/urgent-generation=${generation}`
  );
}

/** A version that waits is not in force, so no step knows of it. */
export function versionWaits(snapshot: Snapshot): NewWait[] {
  const version = heldVersion(snapshot);
  if (version === undefined || windowState(snapshot).kind === "open") return [];
  return [heldWait(snapshot, "checkClientCompatibility", [`bring the database to ${version}`])];
}

/** What began is noted until nothing of it is left. */
export function withLastingWork<
  S extends Pick<ClusterStatus, "generations" | "begunWork" | "runningVersion">,
>(snapshot: Snapshot, status: S, actions: readonly Action[]): S {
  if (status.begunWork === undefined || isWorkLeft(snapshot, status, actions)) return status;
  const { begunWork: _begun, ...rest } = status;
  return rest as S;
}

function isWorkLeft(
  snapshot: Snapshot,
  status: Pick<ClusterStatus, "generations" | "runningVersion">,
  actions: readonly Action[],
): boolean {
  const { spec } = snapshot.cluster;
  if (!hasWindows(snapshot)) return false;
  return (
    openWork.some((name) => status.generations?.[name] !== undefined) ||
    (status.runningVersion ?? spec.version) !== spec.version ||
    snapshot.runningCommand !== undefined ||
    snapshot.ledger.length > 0 ||
    actions.some((action) => needsWindow(snapshot, action))
  );
}

const openWork = [
  "needsBounce",
  "needsPodDeletion",
  "needsConfigurationChange",
  "needsCoordinatorChange",
  "needsShrink",
  "hasExtraListeners",
] as const;

/** Work that was decided in a window, and of which every act was refused until it closed, has not begun. */
export function withoutFutileWork(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const begun = cluster.status?.begunWork;
  if (begun === undefined || snapshot.refusals.length === 0) return snapshot;
  if (snapshot.runningCommand !== undefined || windowState(snapshot).kind === "open")
    return snapshot;
  const sinceMs = operatorTimeMs(snapshot, begun.since) ?? -Infinity;
  if (snapshot.lastDatabaseWriteMs >= sinceMs || isShown(snapshot, sinceMs)) return snapshot;
  const { begunWork: _begun, ...status } = cluster.status ?? {};
  return { ...snapshot, cluster: { ...cluster, status } };
}

/** What an operator before this one did is seen at processes that have started since. */
function isShown({ database, lastDatabaseWriteMs, memory }: Snapshot, sinceMs: number): boolean {
  if (lastDatabaseWriteMs > 0 || database.kind !== "seen") return false;
  return memory
    .once(processesOf, database.status)
    .some((process) => (beginningOf(database, process)?.earliestMs ?? -Infinity) >= sinceMs);
}
