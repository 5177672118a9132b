// Which pods have to be made anew in place, and which pods are on their way so that the others wait for them.
// Rules: spec/restart.md [T40]-[T46], [T58].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf, faultDomainOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { zoneVariableOf } from "../../model/fault-domain.ts";
import { isStateful } from "../../model/process-class.ts";
import {
  conditionOf,
  hasCondition,
  hasReported,
  isMarkedForRemoval,
} from "../../model/process-group.ts";
import {
  isReplacedByStrategy,
  isUnstarted,
  misconfigurationOf,
} from "../replacement/misconfiguration.ts";
import { isLeaving } from "../drains/leaving-groups.ts";
import { isToBeMadeAgain } from "../resize/resize-state.ts";
import { isResizedAtStart } from "../volumes/resize-conditions.ts";
import { packingChangeOf } from "../placement/packing-migration.ts";
import { substitutionsOf } from "../view/pod-configuration.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { ownTimeMs } from "../view/server-time.ts";
import { hold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { isUpgradingIncompatibly } from "../view/running-version.ts";
import { isConvertingTls } from "../view/tls-switch.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface PodUpdate {
  group: ProcessGroup;
  pod: Stored<Pod>;
  zone: string;
  /** It leaves its node, or its file system grows only when it starts again, whether it is as specified or not. */
  why?: "drain" | "volume";
}

export interface PodSelection {
  /** Pods that run, in the order of their ids. */
  updates: readonly PodUpdate[];
  /** A pod that is on its way, as a sentence; while there is one, no running pod is touched. */
  unsettled: string | undefined;
}

/** FoundationDB takes a process for lost after 60 s; a pod that is missing for longer is no race any more. */
const missingPodMs = 90_000;
/** A pod that runs for less may be about to report. */
export const youngPodMs = 60_000;

export function selectPods(snapshot: Snapshot, draft: Draft): PodSelection {
  const updates: PodUpdate[] = [];
  let unsettled: string | undefined;
  if (!hasToUpdate(snapshot, draft)) return { updates, unsettled };
  const view = viewOf(snapshot);
  for (const group of draft.groups) {
    // The pod of a fenced one stays for a look: it is made anew when the fence is taken back.
    if (isMarkedForRemoval(group) || hasCondition(group, "Fenced")) continue;
    const { pod, processes: reporting } = view.of(group);
    const isForVolume = pod !== undefined && isResizedAtStart(snapshot, group, pod);
    const isForDrain = pod !== undefined && isLeaving(group);
    const isForced = isForVolume || isForDrain;
    if (isReplacedByStrategy(draft.desired, group) && !isForced) continue;
    if (pod === undefined) {
      unsettled ??= missingPod(snapshot, group);
      continue;
    }
    unsettled ??= unsettledPod(snapshot, group, pod, reporting);
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    if (idlenessOf(group, pod, reporting) !== undefined) continue;
    if (!isForced && !isToBeMadeAgain(snapshot, draft.desired, group, pod)) continue;
    if (misconfigurationOf(snapshot, draft.desired, group) !== undefined) continue;
    if (packingChangeOf(snapshot.cluster.spec, group) !== undefined) continue;
    const why = isForDrain
      ? { why: "drain" as const }
      : isForVolume
        ? { why: "volume" as const }
        : {};
    updates.push({ group, pod, zone: zoneOf(snapshot, group, pod), ...why });
  }
  return { updates, unsettled };
}

export interface IdlePods {
  /** Their containers have not all started. */
  unstarted: readonly PodUpdate[];
  /** They run something, and the database has never seen a process of them. */
  unreported: readonly PodUpdate[];
}

/** Outdated pods without a process: nothing is lost when they are made anew at once, whatever the strategy. */
export function idlePods(snapshot: Snapshot, draft: Draft): IdlePods {
  const unstarted: PodUpdate[] = [];
  const unreported: PodUpdate[] = [];
  if (!hasOutdated(snapshot, draft)) return { unstarted, unreported };
  const view = viewOf(snapshot);
  for (const group of draft.groups) {
    const { pod, processes } = view.of(group);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    if (isMarkedForRemoval(group) || hasCondition(group, "Fenced")) continue;
    if (!isToBeMadeAgain(snapshot, draft.desired, group, pod)) continue;
    const idleness = idlenessOf(group, pod, processes);
    if (idleness === undefined) continue;
    if (misconfigurationOf(snapshot, draft.desired, group) !== undefined) continue;
    if (packingChangeOf(snapshot.cluster.spec, group) !== undefined) continue;
    const found = idleness === "unstarted" ? unstarted : unreported;
    found.push({ group, pod, zone: zoneOf(snapshot, group, pod) });
  }
  return { unstarted, unreported };
}

function hasToUpdate(snapshot: Snapshot, draft: Draft): boolean {
  if (hasOutdated(snapshot, draft)) return true;
  const view = viewOf(snapshot);
  return draft.groups.some((group) => {
    const { pod } = view.of(group);
    return pod !== undefined && (isLeaving(group) || isResizedAtStart(snapshot, group, pod));
  });
}

/** At rest nothing is, and then nothing else needs to be looked at. */
function hasOutdated(snapshot: Snapshot, draft: Draft): boolean {
  const view = viewOf(snapshot);
  return draft.groups.some((group) => {
    const { pod } = view.of(group);
    return pod !== undefined && isToBeMadeAgain(snapshot, draft.desired, group, pod);
  });
}

export function isOutdated(draft: Draft, group: ProcessGroup, pod: Stored<Pod>): boolean {
  const wanted = draft.desired.pod(group);
  if (wanted === undefined) return false;
  return pod.metadata.annotations?.[annotationKeys.lastAppliedSpec] !== wanted.specHash;
}

/** No process of it is in the database, and its containers have not all started, or there never was one. */
function idlenessOf(
  group: ProcessGroup,
  pod: Stored<Pod>,
  reporting: readonly StatusProcess[],
): keyof IdlePods | undefined {
  if (reporting.length > 0) return undefined;
  if (isUnstarted(pod)) return "unstarted";
  return hasReported(group) ? undefined : "unreported";
}

function missingPod(snapshot: Snapshot, group: ProcessGroup): string | undefined {
  const sinceSeconds = conditionOf(group, "MissingPod")?.timestamp;
  const isOld = sinceSeconds !== undefined && snapshot.nowMs - sinceSeconds * 1000 >= missingPodMs;
  return isOld ? undefined : `Pod ${viewOf(snapshot).of(group).podName} is being made`;
}

function unsettledPod(
  snapshot: Snapshot,
  group: ProcessGroup,
  pod: Stored<Pod>,
  reporting: readonly StatusProcess[],
): string | undefined {
  const { nowMs } = snapshot;
  const name = pod.metadata.name ?? "";
  const automation = snapshot.memory.once(automationOf, snapshot.cluster.spec);
  const deletedMs = ownTimeMs(snapshot, pod.metadata.deletionTimestamp);
  if (deletedMs !== undefined) {
    const isOld = nowMs - deletedMs >= automation.ignoreTerminatingPodsSeconds * 1000;
    return isOld ? undefined : `Pod ${name} is being deleted`;
  }
  const pendingSeconds = conditionOf(group, "PodPending")?.timestamp;
  if (
    pendingSeconds !== undefined &&
    nowMs - pendingSeconds * 1000 > automation.ignorePendingPodsMs
  )
    return undefined;
  const ageMs = nowMs - (ownTimeMs(snapshot, pod.metadata.creationTimestamp) ?? 0);
  if (ageMs >= youngPodMs) return undefined;
  if (reporting.length === 0) return `The processes of pod ${name} have not started yet`;
  // An uptime from before the pod belongs to the pod before it; times of pods are whole seconds.
  const isStale = reporting.some((process) => (process.uptime_seconds ?? 0) * 1000 > ageMs + 1_000);
  return isStale ? `The status still shows the process of the pod before ${name}` : undefined;
}

/** The database knows best; otherwise what the pod was told; otherwise it shares its fault domain with nobody. */
export function zoneOf(snapshot: Snapshot, group: ProcessGroup, pod: Stored<Pod>): string {
  const known = group.faultDomain ?? "";
  if (known !== "") return known;
  const variable = zoneVariableOf(faultDomainOf(snapshot.cluster.spec));
  const told = substitutionsOf(snapshot, pod).values?.[variable];
  return told || pod.spec?.nodeName || group.processGroupID;
}

/** Fault domains in which something with data is not up, whatever the cause. */
export function unavailableZones(snapshot: Snapshot, draft: Draft): ReadonlySet<string> {
  const zones = new Set<string>();
  for (const group of draft.groups) {
    if (!isStateful(group.processClass)) continue;
    const pod = viewOf(snapshot).of(group).pod;
    const isDown =
      pod === undefined ||
      pod.metadata.deletionTimestamp !== undefined ||
      hasCondition(group, "PodPending") ||
      hasCondition(group, "MissingProcesses") ||
      hasCondition(group, "PodFailing");
    if (isDown) zones.add(group.faultDomain ?? "");
  }
  return zones;
}

// What all updates of running pods wait for: a change that touches every process together comes first, or a pod made
// now would have to be made again. Rules: spec/restart.md [T52].
export function interruptionOf(draft: Draft): Hold | undefined {
  const remedy = "Nothing: it goes on when that change is complete.";
  if (isUpgradingIncompatibly(draft)) {
    const { version } = draft.desired.cluster.spec;
    const message = `The database is being brought to version ${version} first`;
    return hold("PodUpdateHeld", message, remedy, 5_000);
  }
  if (!isConvertingTls(draft)) return undefined;
  return hold("PodUpdateHeld", "TLS is being switched first", remedy, 5_000);
}
