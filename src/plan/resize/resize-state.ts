// What becomes of a pod that differs in its resources: it is resized in place, or made again where that is impossible.
// Rules: spec/pod-resize.md [SIZE1], [SIZE4]-[SIZE6].
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hasCondition, hasReported } from "../../model/process-group.ts";
import type { ActionFailure, Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import type { Desired, DesiredObject } from "../view/desired.ts";
import { desiredWith, specOnVolume } from "../volumes/desired-on-volume.ts";
import { podDifference } from "./resource-change.ts";
import type { ContainerResize } from "./resource-change.ts";
import { isMarkedLower, resizedSinceMs } from "./resize-mark.ts";
import { resizeProgress } from "./resize-progress.ts";

export type ResizeState =
  /** It is as it should be. */
  | { readonly kind: "none" }
  /** It differs in more than its resources. */
  | { readonly kind: "other" }
  | {
      readonly kind: "toResize";
      readonly lacking: readonly ContainerResize[];
      /** A limit becomes lower than what it has. */
      readonly isLower?: true;
      /** What the API server says against it, told before the pod is made again. */
      readonly said?: string | undefined;
    }
  /** The kubelet is to do it. */
  | { readonly kind: "resizing"; readonly said?: string | undefined }
  /** It has its resources, and its note is to say so; with a lower limit it has to serve for a while then. */
  | { readonly kind: "done"; readonly isToBeProved?: boolean }
  /** It has its resources and its note, and has to serve with a lower limit for a while. */
  | { readonly kind: "proving" }
  | {
      readonly kind: "impossible";
      /** As a clause. */
      readonly why: string;
      /** Present where the API server may say otherwise later. */
      readonly lacking?: readonly ContainerResize[];
      readonly isLower?: true;
    };

/** In which a wish that no node can hold can be taken back. */
const noticeMs = 60_000;
/** For room on the node, and for the kubelet. */
const patienceMs = 600_000;
/** In which a limit that is too low shows. */
const provingMs = 60_000;

export function resizeStateOf(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): ResizeState {
  const wanted = desired.pod(group);
  if (wanted === undefined) return { kind: "none" };
  const difference = podDifference(desired, pod, wanted);
  if (difference.kind !== "resources") return difference;
  if (!isRunning(snapshot, group, pod)) {
    const note = pod.metadata.annotations?.[annotationKeys.lastAppliedSpec];
    return { kind: note === wanted.specHash ? "none" : "other" };
  }
  const { lacking, obstacle } = difference;
  if (lacking.length === 0) return progressOf(snapshot, group, pod, wanted);
  if (obstacle !== undefined) return { kind: "impossible", why: obstacle };
  const refusals = snapshot.memory.once(resizeRefusals, snapshot);
  const told = refusals.byPod.get(pod.metadata.name ?? "");
  // What was refused before the wish changed says nothing about the present one.
  const own = told?.failure.specHash === wanted.specHash ? told : undefined;
  const refusal = own ?? refusals.general;
  const lower = difference.isLower ? ({ isLower: true } as const) : {};
  if (refusal === undefined) return { kind: "toResize", lacking, ...lower };
  const { cause, failure } = refusal;
  const isAnnounced = cause === "size" && snapshot.nowMs < (failure.sinceMs ?? 0) + noticeMs;
  if (isAnnounced) return { kind: "toResize", lacking, ...lower, said: failure.message };
  const why = causeTexts[cause](failure.message);
  return own === undefined
    ? { kind: "impossible", why }
    : { kind: "impossible", why, lacking, ...lower };
}

/**
 * Whether the pod is to be made again, in place or as a new process group. Nobody is replaced before a database that comes back
 * from its disks has been seen: until then a pod is as it should be where it finds its data.
 */
export function isToBeMadeAgain(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): boolean {
  const wanted = isAdopting(snapshot.cluster)
    ? desiredWith(snapshot, desired, specOnVolume(snapshot, desired, group))
    : desired;
  const { kind } = resizeStateOf(snapshot, wanted, group, pod);
  return kind === "other" || kind === "impossible";
}

/** A pod without a process loses nothing by being made again, and may find another node. */
function isRunning(snapshot: Snapshot, group: ProcessGroup, pod: Stored<Pod>): boolean {
  if (pod.status?.phase !== "Running" || pod.metadata.deletionTimestamp !== undefined) return false;
  return hasReported(group) || viewOf(snapshot).of(group).processes.length > 0;
}

function progressOf(
  snapshot: Snapshot,
  group: ProcessGroup,
  pod: Stored<Pod>,
  wanted: DesiredObject<Stored<Pod>>,
): ResizeState {
  const progress = resizeProgress(pod, wanted.object);
  const sinceMs = resizedSinceMs(snapshot, pod);
  if (progress.kind === "done") {
    if (!isMarkedLower(pod)) return progress;
    const note = pod.metadata.annotations?.[annotationKeys.lastAppliedSpec];
    if (note !== wanted.specHash || sinceMs === undefined)
      return { ...progress, isToBeProved: true };
    return isProved(snapshot, group, sinceMs) ? progress : { kind: "proving" };
  }
  // Somebody has spoiled the mark: it is written again, so that the wait has an end.
  if (sinceMs === undefined) return { kind: "toResize", lacking: [] };
  const lastedMs = snapshot.nowMs - sinceMs;
  const limitMs = progress.kind === "infeasible" ? noticeMs : patienceMs;
  const { message } = progress;
  if (lastedMs < limitMs) return { kind: "resizing", said: message };
  const minutes = patienceMs / 60_000;
  const why = `its kubelet has not done it for ${minutes} minutes`;
  return { kind: "impossible", why: message === undefined ? why : `its kubelet says ${message}` };
}

/** Its processes have run for a while, with nothing taken from before. One that is stopped for a look proves nothing. */
function isProved(snapshot: Snapshot, group: ProcessGroup, sinceMs: number): boolean {
  if (hasCondition(group, "Fenced")) return true;
  const { database } = snapshot;
  if (database.kind !== "seen" || database.observedMs < sinceMs + provingMs) return false;
  if (hasCondition(group, "MissingProcesses") || hasCondition(group, "PodFailing")) return false;
  const { processes } = viewOf(snapshot).of(group);
  const isLong = processes.every(({ uptime_seconds: s = Infinity }) => s * 1000 >= provingMs);
  return processes.length > 0 && isLong;
}

/** "server", "right": the same for every pod. "node": of this one. "size": its node is too small. "change": not allowed. */
type Cause = "server" | "right" | "node" | "size" | "change";

const causeTexts: Readonly<Record<Cause, (message: string) => string>> = {
  server: () => "this API server cannot resize pods (Kubernetes 1.33 can)",
  right: () => 'the operator lacks the right to patch "pods/resize"',
  node: (message) => message,
  size: (message) => message,
  change: (message) => message,
};

/** What the API server says, by its words; the uid and quota, limit ranges and webhooks are none of these. */
const causes: readonly (readonly [RegExp, Cause])[] = [
  [/could not find the requested resource/, "server"],
  [/cannot patch resource "pods\/resize"/, "right"],
  [/enough allocatable resources/, "size"],
  [
    /without support for resize|only supported on linux|requires features|cannot be resized/,
    "node",
  ],
  [/^Pod ".*" is invalid: (?!metadata)/, "change"],
];

function causeOf({ podName, message }: ActionFailure): Cause | undefined {
  if (podName === undefined) return undefined;
  return causes.find(([pattern]) => pattern.test(message))?.[1];
}

/** Whether pods are made again for it, which is told as such. */
export function isResizeRefusal(failure: ActionFailure): boolean {
  return causeOf(failure) !== undefined;
}

interface Refusal {
  readonly cause: Cause;
  readonly failure: ActionFailure;
}

interface ResizeRefusals {
  readonly byPod: ReadonlyMap<string, Refusal>;
  /** What one pod says for all. */
  readonly general: Refusal | undefined;
}

function resizeRefusals({ failures }: Pick<Snapshot, "failures">): ResizeRefusals {
  const byPod = new Map<string, Refusal>();
  let general: Refusal | undefined;
  for (const failure of failures) {
    const cause = causeOf(failure);
    if (cause === undefined) continue;
    byPod.set(failure.podName ?? "", { cause, failure });
    if (cause === "server" || cause === "right") general ??= { cause, failure };
  }
  return { byPod, general };
}
