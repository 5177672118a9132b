// What Kubernetes itself says of the pods and volumes of a cluster, whether or not an operator runs: the scheduler's,
// the kubelet's and the volume controller's own words. Rules: spec/explain.md [E7].
import { counted } from "../../model/counted.ts";
import { conditionIn } from "../../kube/condition.ts";
import type { ContainerStatus, Event, Node, Pod } from "../../kube/generated/types.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Stored } from "../../kube/resource.ts";
import type { ExplainInput } from "./page.ts";
import { parseTime } from "../../kube/time.ts";
import { recentMax } from "./recent-max.ts";
import { schedulerText } from "../../plan/pods/pod-trouble.ts";

export interface ObjectTrouble {
  /** Such as pod/sample-log-1. */
  object: string;
  text: string;
  since?: string;
}

export interface ToldEvent {
  type: string;
  reason: string;
  message: string;
  count: number;
  /** When it was last told. */
  at: string;
}

const recentMs = 3_600_000;

/** One line for each object that is not well. */
export function objectTroubles(
  input: Pick<ExplainInput, "pods" | "pvcs" | "nodes" | "events">,
): ObjectTrouble[] {
  const nodes = new Map((input.nodes ?? []).map((node) => [node.metadata.name ?? "", node]));
  const warnings = lastWarnings(input.events ?? []);
  const troubles: ObjectTrouble[] = [];
  for (const pod of input.pods ?? []) {
    const object = `pod/${pod.metadata.name ?? ""}`;
    const found = podTrouble(pod, nodes.get(pod.spec?.nodeName ?? ""));
    if (found !== undefined) troubles.push({ object, ...withWarning(found, warnings.get(object)) });
  }
  for (const pvc of input.pvcs ?? []) {
    const object = `pvc/${pvc.metadata.name ?? ""}`;
    const found = claimTrouble(pvc);
    if (found !== undefined) troubles.push({ object, ...withWarning(found, warnings.get(object)) });
  }
  return troubles.toSorted((left, right) => (left.object < right.object ? -1 : 1));
}

type Found = Omit<ObjectTrouble, "object"> & { isPlain?: boolean };

/** The object's own words are enough; where it has none, its last warning explains it. */
function withWarning({ isPlain, ...found }: Found, warning: string | undefined): Found {
  if (isPlain !== true || warning === undefined) return found;
  return { ...found, text: `${found.text}: ${warning}` };
}

function podTrouble(pod: Stored<Pod>, node: Stored<Node> | undefined): Found | undefined {
  const { deletionTimestamp } = pod.metadata;
  const onNode = node === undefined ? undefined : nodeTrouble(node);
  const place = onNode === undefined ? "" : `; its node ${node?.metadata.name} ${onNode}`;
  if (deletionTimestamp !== undefined) {
    const holders = pod.metadata.finalizers ?? [];
    const held = holders.length === 0 ? "" : `; held back by ${holders.join(", ")}`;
    return { text: `being deleted${held}${place}`, since: deletionTimestamp };
  }
  const scheduled = conditionIn(pod.status, "PodScheduled");
  if (scheduled?.status === "False") {
    const since = scheduled.lastTransitionTime;
    const why = schedulerText(scheduled.message ?? scheduled.reason ?? "");
    return { text: `no node: ${why}`, since };
  }
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  const container = statuses.map(containerTrouble).find((text) => text !== undefined);
  const ready = conditionIn(pod.status, "Ready");
  const since = ready?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  if (container !== undefined) return { text: `${container}${place}`, since };
  const { phase } = pod.status ?? {};
  if (phase === "Failed" || phase === "Succeeded") {
    const why = pod.status?.message ?? pod.status?.reason ?? "";
    return { text: `ended for good (${phase})${why === "" ? "" : `: ${why}`}`, since };
  }
  if (ready?.status === "True") {
    return onNode === undefined ? undefined : { text: `ready, but its node ${onNode}`, since };
  }
  return { text: `not ready${place}`, since, isPlain: true };
}

function containerTrouble(status: ContainerStatus): string | undefined {
  const { name, state, lastState, restartCount } = status;
  const waiting = state?.waiting;
  if (
    waiting !== undefined &&
    waiting.reason !== "ContainerCreating" &&
    waiting.reason !== "PodInitializing"
  ) {
    const ended = lastState?.terminated;
    const exit = ended === undefined ? "" : `, exit code ${ended.exitCode}`;
    const restarts = restartCount > 0 ? `, ${counted(restartCount, "restart")}` : "";
    const message = waiting.message === undefined ? "" : `: ${waiting.message}`;
    return `container ${name} waits (${waiting.reason ?? "no reason"}${exit}${restarts})${message}`;
  }
  const terminated = state?.terminated;
  if (terminated !== undefined && terminated.exitCode !== 0) {
    const message = terminated.message === undefined ? "" : `: ${terminated.message}`;
    return `container ${name} ended with exit code ${terminated.exitCode}${message}`;
  }
  return undefined;
}

function nodeTrouble(node: Stored<Node>): string | undefined {
  const ready = conditionIn(node.status, "Ready");
  if (ready !== undefined && ready.status !== "True") {
    return `is not ready (${ready.message || ready.reason || "no reason given"})`;
  }
  return undefined;
}

function claimTrouble(claim: Stored<PersistentVolumeClaim>): Found | undefined {
  const since = claim.metadata.creationTimestamp;
  const { deletionTimestamp, finalizers = [] } = claim.metadata;
  if (deletionTimestamp !== undefined) {
    const held = finalizers.length === 0 ? "" : `; held back by ${finalizers.join(", ")}`;
    return { text: `being deleted${held}`, since: deletionTimestamp };
  }
  const phase = claim.status?.phase ?? "Pending";
  if (phase === "Bound") return undefined;
  const storageClass = claim.spec?.storageClassName;
  const of =
    storageClass === undefined ? "without a storage class" : `storage class ${storageClass}`;
  return { text: `not bound (${phase}, ${of})`, since, isPlain: true };
}

/** The newest warning about each pod and claim. */
function lastWarnings(events: readonly Stored<Event>[]): Map<string, string> {
  const kinds: Readonly<Record<string, string>> = { Pod: "pod", PersistentVolumeClaim: "pvc" };
  const found = new Map<string, string>();
  for (const event of events.toSorted((left, right) => eventMs(left) - eventMs(right))) {
    const kind = kinds[event.involvedObject.kind ?? ""];
    if (event.type !== "Warning" || kind === undefined) continue;
    found.set(`${kind}/${event.involvedObject.name ?? ""}`, event.message ?? event.reason ?? "");
  }
  return found;
}

/** What was told about the cluster itself in the last hour, the newest first. */
export function recentEvents(
  { kind, metadata }: KubeObject,
  events: readonly Stored<Event>[] = [],
  nowMs: number,
): ToldEvent[] {
  const { uid, name } = metadata;
  return events
    .filter(({ involvedObject }) => {
      if (involvedObject.kind !== kind || involvedObject.name !== name) return false;
      return involvedObject.uid === undefined || uid === undefined || involvedObject.uid === uid;
    })
    .filter((event) => nowMs - eventMs(event) <= recentMs)
    .toSorted((left, right) => eventMs(right) - eventMs(left))
    .slice(0, recentMax)
    .map((event) => ({
      type: event.type ?? "Normal",
      reason: event.reason ?? "",
      message: event.message ?? "",
      count: event.count ?? 1,
      at: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "",
    }));
}

function eventMs(event: Stored<Event>): number {
  const { lastTimestamp, eventTime, metadata } = event;
  return parseTime(lastTimestamp ?? eventTime ?? metadata.creationTimestamp) ?? 0;
}
