// Why process groups are not healthy, said in the words of the thing that holds them up: the scheduler, the image,
// the volume, the crash. One wait for each kind of cause, however many pods share it. Rules: spec/plan.md [P81]-[P83], [P89].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { hasAnyCondition, hasCondition, isMarkedForRemoval } from "../model/process-group.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";
import type { NewWait, WaitReason } from "./wait.ts";
import { nameList } from "./wait.ts";

interface Cause {
  reason: WaitReason;
  step: string;
  /** What the cause says itself, for example the scheduler's message. */
  detail: string;
}

interface Telling {
  text: (names: string, detail: string, isOne: boolean) => string;
  remedy: string;
  isForDatabase?: boolean;
}

const tellings: Partial<Record<WaitReason, Telling>> = {
  PodUnschedulable: {
    text: (names, detail) => `No node takes ${names}: ${detail}`,
    remedy:
      "Add nodes, free resources, or change the pod template's requests, selectors and taints.",
  },
  VolumePending: {
    text: (names, detail) => `The volume claims of ${names} are not bound: ${detail}`,
    remedy: "Look at the claims (kubectl describe pvc): the storage class may not exist.",
  },
  PodImageUnavailable: {
    text: (names, detail) => `The image of ${names} cannot be pulled: ${detail}`,
    remedy: "Check the image name and version, the registry and its credentials.",
  },
  PodCrashLooping: {
    text: (names, detail) => `A container of ${names} ends again and again: ${detail}`,
    remedy: "Look at its log (kubectl logs --previous); a wrong knob or argument ends fdbserver.",
  },
  PodPending: {
    text: (names, _, isOne) => `${names} ${isOne ? "is" : "are"} starting`,
    remedy: "Nothing for a while; then look at the pods (kubectl describe pod).",
  },
  PodTerminating: {
    text: (names, _, isOne) => `${names} ${isOne ? "is" : "are"} being deleted`,
    remedy: "If it takes long, look at the node: its kubelet may be down.",
  },
  PodNotReady: {
    text: (names) => `A container of ${names} is not ready`,
    remedy: "Look at the pod and its containers' logs.",
  },
  SidecarUnreachable: {
    text: (names, detail) => `The sidecar of ${names} does not answer: ${detail}`,
    remedy: "Look at the sidecar's log and at network policies between the operator and the pod.",
  },
  ProcessesMissing: {
    text: (names) => `The database does not see the processes of ${names}`,
    remedy: "Nothing for a while; then look at the pod's log and the network.",
    isForDatabase: true,
  },
  ProcessNeedsRestart: {
    text: (names, _, isOne) => `${names} ${isOne ? "runs" : "run"} with an old command line`,
    remedy: "Restart the processes with `fdbcli --exec 'kill; kill ADDRESS; sleep 5'`.",
    isForDatabase: true,
  },
  PodChangePending: {
    text: (names, _, isOne) =>
      `${names} ${isOne ? "was" : "were"} made from an older specification`,
    remedy: "Delete the pods one fault domain at a time: they come back as specified.",
  },
};

export function podWaits(snapshot: Snapshot, draft: Draft): NewWait[] {
  const byReason = new Map<WaitReason, { cause: Cause; names: string[] }>();
  for (const group of draft.groups) {
    if (isMarkedForRemoval(group) || !hasAnyCondition(group)) continue;
    const name = draft.desired.podName(group);
    const pod = snapshot.pods.get(name);
    if (pod === undefined) continue;
    for (const cause of causesOf(snapshot, draft, group, pod)) {
      const known = byReason.get(cause.reason);
      if (known === undefined) byReason.set(cause.reason, { cause, names: [name] });
      else known.names.push(name);
    }
  }
  return [...byReason.values()].flatMap(({ cause, names }) => {
    const telling = tellings[cause.reason];
    return telling === undefined ? [] : [toWait(cause, names, telling)];
  });
}

function toWait(cause: Cause, names: readonly string[], telling: Telling): NewWait {
  const list = names.length === 1 ? `pod ${names[0]}` : `pods ${nameList(names)}`;
  const message = telling.text(list, cause.detail, names.length === 1);
  return {
    step: cause.step,
    reason: cause.reason,
    message: message.charAt(0).toUpperCase() + message.slice(1),
    ...(names.length === 1 ? { object: `pod/${names[0]}` } : {}),
    retryAfterMs: 15_000,
    remedy: telling.remedy,
    ...(telling.isForDatabase ? { isForDatabase: true } : {}),
  };
}

/** What holds the pod up, and besides that it was made from an older specification. */
function causesOf(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): Cause[] {
  const isOld =
    hasCondition(group, "IncorrectPodSpec") || hasCondition(group, "IncorrectSidecarImage");
  const isDeleting = pod.metadata.deletionTimestamp !== undefined;
  const held = causeOf(snapshot, draft, group, pod);
  return [
    ...(held === undefined ? [] : [held]),
    ...(isOld && !isDeleting ? [plain("PodChangePending", "updatePods")] : []),
  ];
}

function causeOf(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): Cause | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return plain("PodTerminating", "addPods");
  const started = containerCause(pod);
  if (started !== undefined) return started;
  if (hasCondition(group, "PodPending")) return pendingCause(snapshot, draft, group, pod);
  if (hasCondition(group, "PodFailing")) return plain("PodNotReady", "addPods");
  if (hasCondition(group, "SidecarUnreachable")) {
    const sidecar = snapshot.sidecars.get(pod.metadata.name ?? "");
    const detail = sidecar?.kind === "unreachable" ? sidecar.message : "";
    return { reason: "SidecarUnreachable", step: "updatePodConfig", detail };
  }
  if (hasCondition(group, "MissingProcesses")) {
    const isStarted = (draft.status.connectionString ?? "") !== "";
    return isStarted ? plain("ProcessesMissing", "updateStatus") : undefined;
  }
  // A configuration on its way explains a wrong command line; updatePodConfig speaks of that itself.
  if (hasCondition(group, "IncorrectConfigMap")) return undefined;
  // A pod that has to be made anew starts its processes anew too.
  const isOld = hasCondition(group, "IncorrectPodSpec");
  if (hasCondition(group, "IncorrectCommandLine") && !isOld) {
    return plain("ProcessNeedsRestart", "bounceProcesses");
  }
  return undefined;
}

function plain(reason: WaitReason, step: string): Cause {
  return { reason, step, detail: "" };
}

function pendingCause(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): Cause {
  const step = "addPods";
  const scheduled = pod.status?.conditions?.find((one) => one.type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    const detail = scheduled.message ?? "the scheduler gives no reason";
    const claim = snapshot.pvcs.get(draft.desired.pvc(group)?.object.metadata.name ?? "");
    const isForVolume =
      claim !== undefined && claim.status?.phase !== "Bound" && /PersistentVolume/.test(detail);
    return { reason: isForVolume ? "VolumePending" : "PodUnschedulable", step, detail };
  }
  return { reason: "PodPending", step, detail: "" };
}

const imageReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
]);

function containerCause(pod: Stored<Pod>): Cause | undefined {
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  for (const { state, name, lastState } of statuses) {
    const reason = state?.waiting?.reason ?? "";
    if (imageReasons.has(reason)) {
      const detail = state?.waiting?.message ?? reason;
      return { reason: "PodImageUnavailable", step: "addPods", detail };
    }
    if (reason === "CrashLoopBackOff") {
      const code = lastState?.terminated?.exitCode;
      const detail = code === undefined ? name : `${name}, exit code ${code}`;
      return { reason: "PodCrashLooping", step: "addPods", detail };
    }
  }
  return undefined;
}
