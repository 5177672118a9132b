// Why process groups are not healthy, said in the words of the thing that holds them up: the scheduler, the image,
// the volume, the crash. One wait for each kind of cause, however many pods share it. Rules: spec/plan.md [P81]-[P83], [P89], [P113].
import { conditionIn } from "../../kube/condition.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import {
  hasAnyCondition,
  hasCondition,
  isMarkedForRemoval,
  isReadyForRemoval,
} from "../../model/process-group.ts";
import { missingNode } from "../placement/packing-placement.ts";
import { claimTrouble, holdersOf } from "./pod-trouble.ts";
import { nodeTrouble } from "../view/node-trouble.ts";
import { schedulerText, suspectParameters } from "./pod-trouble.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import type { Draft } from "../step.ts";
import type { RemediedReason } from "../reasons/registry.ts";
import type { NewWait } from "../wait.ts";
import { unschedulableRemedy } from "./unschedulable-remedy.ts";
import { nameList } from "../wait.ts";

interface Cause {
  reason: RemediedReason;
  step: string;
  /** What the cause says itself, for example the scheduler's message. */
  detail: string;
}

interface Telling {
  text: (names: string, detail: string, isOne: boolean) => string;
  /** Where the detail tells what helps; otherwise that of the reason. */
  remedy?: (detail: string) => string | undefined;
  isForDatabase?: boolean;
}

const tellings: Partial<Record<RemediedReason, Telling>> = {
  PodUnschedulable: {
    text: (names, detail) => `No node takes ${names}: ${detail}`,
    remedy: unschedulableRemedy,
  },
  FaultDomainNeedsNode: {
    text: (names, detail) => `No node takes ${names}: ${detail}`,
  },
  VolumePending: {
    text: (names, detail) => `The volume claims of ${names} are not bound: ${detail}`,
  },
  PodImageUnavailable: {
    text: (names, detail) => `The image of ${names} cannot be pulled: ${detail}`,
  },
  PodCrashLooping: {
    text: (names, detail) => `A container of ${names} ends again and again: ${detail}`,
  },
  PodPending: {
    text: (names, _, isOne) => `${names} ${isOne ? "is" : "are"} starting`,
  },
  PodTerminating: {
    text: (names, detail, isOne) =>
      `${names} ${isOne ? "is" : "are"} being deleted${detail === "" ? "" : `, ${detail}`}`,
  },
  NodeNotReady: {
    text: (names, detail, isOne) =>
      `${names} ${isOne ? "is" : "are"} lost with the node: ${detail}`,
  },
  PodNotReady: {
    text: (names) => `A container of ${names} is not ready`,
  },
  SidecarUnreachable: {
    text: (names, detail) => `The sidecar of ${names} does not answer: ${detail}`,
  },
  ClusterFileOutdated: {
    text: (names, _, isOne) =>
      `The cluster ${isOne ? "file" : "files"} of ${names} ${isOne ? "names" : "name"} only former coordinators, none of which ` +
      `serves any more: ${isOne ? "its" : "their"} processes cannot find the database`,
    isForDatabase: true,
  },
  ProcessesMissing: {
    text: (names, detail) =>
      `The database does not see the processes of ${names}${detail === "" ? "" : `; ${detail}`}`,
    isForDatabase: true,
  },
};

export function podWaits(snapshot: Snapshot, draft: Draft): NewWait[] {
  const byReason = new Map<
    RemediedReason,
    { cause: Cause; details: Set<string>; names: string[] }
  >();
  for (const group of draft.groups) {
    if (isReadyForRemoval(group) || !hasAnyCondition(group)) continue;
    const { podName: name, pod } = viewOf(snapshot).of(group);
    if (pod === undefined) continue;
    const cause = causeOf(snapshot, draft, group, pod);
    if (cause === undefined) continue;
    // Who goes is told as that; but what is lost with a node before its data was moved is part of the loss.
    if (isMarkedForRemoval(group) && cause.reason !== "NodeNotReady") continue;
    const known = byReason.get(cause.reason);
    if (known === undefined) {
      byReason.set(cause.reason, { cause, details: new Set([cause.detail]), names: [name] });
      continue;
    }
    known.names.push(name);
    known.details.add(cause.detail);
  }
  return [...byReason.values()].flatMap(({ cause, details, names }) => {
    const telling = tellings[cause.reason];
    const detail = [...details]
      .filter((each) => each !== "")
      .slice(0, 3)
      .join("; ");
    return telling === undefined ? [] : [toWait({ ...cause, detail }, names, telling)];
  });
}

function toWait(cause: Cause, names: readonly string[], telling: Telling): NewWait {
  const list = names.length === 1 ? `pod ${names[0]}` : `pods ${nameList(names)}`;
  const message = telling.text(list, cause.detail, names.length === 1);
  const { reason, step } = cause;
  const remedy = telling.remedy?.(cause.detail);
  return {
    step,
    ...(remedy === undefined ? { reason } : { reason, remedy }),
    message: message.charAt(0).toUpperCase() + message.slice(1),
    ...(names.length === 1 ? { object: `pod/${names[0]}` } : {}),
    retryAfterMs: 15_000,
    ...(telling.isForDatabase ? { isForDatabase: true } : {}),
  };
}

/** What holds the pod up. Old specifications and command lines are told by the steps that change them. */
function causeOf(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): Cause | undefined {
  const onNode = nodeTrouble(snapshot, viewOf(snapshot).of(group));
  if (onNode !== undefined) return { reason: "NodeNotReady", step: "addPods", detail: onNode };
  if (pod.metadata.deletionTimestamp !== undefined) {
    return { reason: "PodTerminating", step: "addPods", detail: holdersOf(pod) };
  }
  const started = containerCause(pod);
  if (started !== undefined) return started;
  if (hasCondition(group, "PodPending")) return pendingCause(snapshot, draft, group, pod);
  if (hasCondition(group, "PodFailing")) return plain("PodNotReady", "addPods");
  if (hasCondition(group, "SidecarUnreachable")) {
    const sidecar = snapshot.sidecars.get(pod.metadata.name ?? "");
    const detail = sidecar?.kind === "unreachable" ? sidecar.message : "";
    return { reason: "SidecarUnreachable", step: "updatePodConfig", detail };
  }
  // That is what somebody asked for, and it is told as that.
  if (hasCondition(group, "Fenced")) return undefined;
  if (hasCondition(group, "ClusterFileOutdated")) {
    return plain("ClusterFileOutdated", "updateStatus");
  }
  if (hasCondition(group, "MissingProcesses")) {
    const isStarted =
      (draft.status.connectionString ?? "") !== "" && !isSeedSilent(snapshot, draft);
    const detail = suspectParameters(snapshot, group, pod);
    return isStarted ? { reason: "ProcessesMissing", step: "updateStatus", detail } : undefined;
  }
  return undefined;
}

/** Where the coordinators of a seed do not answer, our own processes have nowhere to report. */
function isSeedSilent({ cluster, database }: Snapshot, draft: Draft): boolean {
  if (draft.status.configured === true || !cluster.spec.seedConnectionString) return false;
  return (
    database.kind === "missing" || database.status.client?.coordinators?.quorum_reachable !== true
  );
}

function plain(reason: RemediedReason, step: string): Cause {
  return { reason, step, detail: "" };
}

function pendingCause(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): Cause {
  const step = "addPods";
  const scheduled = conditionIn(pod.status, "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    const detail = schedulerText(scheduled.message ?? "the scheduler gives no reason");
    const claim = snapshot.pvcs.get(draft.desired.pvc(group)?.object.metadata.name ?? "");
    const ofClaim = claimTrouble(claim, detail);
    if (ofClaim !== undefined) return { reason: "VolumePending", step, detail: ofClaim };
    const need = missingNode(draft, group, detail);
    if (need !== undefined) return { reason: "FaultDomainNeedsNode", step, detail: need };
    return { reason: "PodUnschedulable", step, detail };
  }
  return { reason: "PodPending", step, detail: "" };
}

const imageReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
]);

/** Why a container of the pod does not run, as a clause; undefined when nothing is known. */
export function startTrouble(pod: Stored<Pod>): string | undefined {
  const cause = containerCause(pod);
  if (cause?.reason === "PodImageUnavailable") return `its image cannot be pulled: ${cause.detail}`;
  return cause && `a container ends again and again: ${cause.detail}`;
}

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
