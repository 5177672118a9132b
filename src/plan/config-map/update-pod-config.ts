// Step updatePodConfig: brings a changed ConfigMap into the pods at once. Touching a pod's annotations makes its
// kubelet refresh the mounted files, so telling a pod is one patch; a split pod is then asked to copy them.
// Rules: spec/plan.md [P59]-[P62], [P112].
import { append } from "../../env/long-lists.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { conditionOf, hasCondition } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { nodeTrouble } from "../view/node-trouble.ts";
import { canStart } from "../view/pod-binaries.ts";
import { podConfigurationState } from "../view/pod-configuration.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { isUpgradingIncompatibly } from "../view/running-version.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";
import { ownTimeMs, toldAnnotation, toldMs } from "../view/server-time.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "updatePodConfig";
/** A pod that did not follow is told again after this time. */
const repeatMs = 60_000;
/** A monitor that was told before the new binaries came does not look again by itself; more and more rarely. */
const repeatInUpgradeMs = 2_000;

export function updatePodConfig(snapshot: Snapshot, draft: Draft): StepResult {
  // Pods are told only of a ConfigMap that exists: one that is about to be written cannot be mounted yet.
  if (draft.actions.some((action) => action.step === "updateConfigMap")) return nothing;
  const actions: Action[] = [];
  const behind: string[] = [];
  for (const group of draft.groups) {
    const pod = podToTell(snapshot, group);
    if (pod === undefined) continue;
    const state = podConfigurationState(snapshot, draft.desired, group, pod);
    if (state === "current" || (state === "outdated" && !canFollow(draft, group, pod))) continue;
    if (isExpectedToFollow(snapshot, group, pod)) behind.push(pod.metadata.name ?? "");
    append(actions, tell(snapshot, draft, group, pod, state));
  }
  if (behind.length === 0) return { actions };
  return { actions, waits: [behindWait(behind)] };
}

/** A kubelet that is silent refreshes nothing: what is waited for there is the node, which is told by itself. */
function isExpectedToFollow(snapshot: Snapshot, group: ProcessGroup, pod: Stored<Pod>): boolean {
  if (pod.status?.phase !== "Running") return false;
  return nodeTrouble(snapshot, viewOf(snapshot).of(group)) === undefined;
}

/** A monitor leaves a configuration alone whose version it does not have: it needs a new pod. */
function canFollow(draft: Draft, group: ProcessGroup, pod: Stored<Pod>): boolean {
  const isKnown = canStart(draft.desired, pod, draft.desired.configuredVersion);
  return isKnown ?? !hasCondition(group, "IncorrectSidecarImage");
}

function podToTell(snapshot: Snapshot, group: ProcessGroup): Stored<Pod> | undefined {
  if (hasCondition(group, "ResourcesTerminating")) return undefined;
  const pod = viewOf(snapshot).of(group).pod;
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  // A pod without a node has no kubelet that could follow; it will start with the newest files anyway.
  if (!pod.spec?.nodeName) return undefined;
  const pendingSeconds = conditionOf(group, "PodPending")?.timestamp;
  if (pendingSeconds === undefined) return pod;
  const { ignorePendingPodsMs } = automationOf(snapshot.cluster.spec);
  return snapshot.nowMs - pendingSeconds * 1000 > ignorePendingPodsMs ? undefined : pod;
}

function tell(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
  state: "untold" | "outdated" | "unknown",
): Action[] {
  const agoMs = snapshot.nowMs - lastToldMs(snapshot, pod);
  const pauseMs = isUpgradingIncompatibly(draft) ? pauseInUpgrade(snapshot, group) : repeatMs;
  const isRepeat = state === "outdated" && agoMs >= pauseMs;
  if (state === "untold" || (isRepeat && pod.status?.phase === "Running")) {
    const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
    const annotations = {
      [annotationKeys.lastAppliedConfigMap]: draft.desired.configHash(group, pod),
      [annotationKeys.outdatedConfigMapSeen]: toldAnnotation(snapshot),
    };
    const basis = { name, uid, resourceVersion };
    const processGroupId = group.processGroupID;
    return [{ type: "patchPod", step, basis, patch: { annotations }, processGroupId }];
  }
  const shape = shapeOfPod(snapshot, pod);
  const host = shape.sidecarHost;
  if (shape.imageType !== "split" || state !== "outdated" || host === undefined) return [];
  return [
    {
      type: "copyToPod",
      step,
      podName: pod.metadata.name ?? "",
      host,
      useTls: shape.usesSidecarTls,
      endpoints: ["copy_files", "copy_monitor_conf"],
      processGroupId: group.processGroupID,
    },
  ];
}

/** A pod that is just starting knows the newest configuration; until its monitor has spoken, it is not behind. */
function lastToldMs(snapshot: Snapshot, pod: Stored<Pod>): number {
  const { annotations, creationTimestamp } = pod.metadata;
  const told = toldMs(snapshot, annotations?.[annotationKeys.outdatedConfigMapSeen]);
  const isSilent = shapeOfPod(snapshot, pod).currentConfiguration === undefined;
  return isSilent ? Math.max(told, ownTimeMs(snapshot, creationTimestamp) ?? 0) : told;
}

/** A quarter of the time for which it has been behind. */
function pauseInUpgrade(snapshot: Snapshot, group: ProcessGroup): number {
  const sinceSeconds = conditionOf(group, "IncorrectConfigMap")?.timestamp;
  const behindMs = sinceSeconds === undefined ? 0 : snapshot.nowMs - sinceSeconds * 1000;
  return Math.min(repeatMs, Math.max(repeatInUpgradeMs, behindMs / 4));
}

function behindWait(podNames: readonly string[]): NewWait {
  return {
    step,
    reason: "ConfigurationNotInPod",
    message: `The current configuration has not reached ${nameList(podNames)}`,
    retryAfterMs: 2_000,
  };
}
