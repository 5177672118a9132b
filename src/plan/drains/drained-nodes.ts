// Which nodes are to be left. A refused eviction leaves no trace that an operator could see, so the first one of a node is let
// through: a pod that was evicted from a cordoned node tells of a drain, and then everybody leaves it. A taint of an autoscaler and
// our own annotation tell the same; a cordon alone does not. Rules: spec/drains.md [DRAIN10]-[DRAIN12].
import { conditionIn } from "../../kube/condition.ts";
import type { Node, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";

/** On a node, with the value "true": whoever is on it shall leave it. */
const drainAnnotation = "foundationdb.org/drain";

/** By which autoscalers say that a node is about to go. */
const autoscalerTaints: readonly string[] = [
  "ToBeDeletedByClusterAutoscaler",
  "karpenter.sh/disrupted",
  "karpenter.sh/disruption",
];

/** No new pod comes to it. */
export function isCordoned({ spec }: Stored<Node>): boolean {
  return spec?.unschedulable === true || hasAutoscalerTaint(spec?.taints);
}

function hasAutoscalerTaint(taints: readonly { key: string; effect: string }[] = []): boolean {
  return taints.some(
    ({ key, effect }) => autoscalerTaints.includes(key) && effect !== "PreferNoSchedule",
  );
}

export function isAskedToLeave({ metadata }: Stored<Node>): boolean {
  return metadata.annotations?.[drainAnnotation] === "true";
}

interface NodeWishes {
  /** Names of the nodes that are to be left. */
  readonly leaving: ReadonlySet<string>;
  /** Those of them that would take the pods back: nobody leaves them before they are cordoned. */
  readonly open: readonly string[];
}

/** A cordon that comes later than this after an eviction has nothing to do with it. */
const evictionMs = 60_000;

type WishView = Pick<Snapshot, "nodes" | "pods" | "evictedFrom" | "nowMs">;

/** Nodes from which pods are being evicted, or were just now. */
export function recentEvictions(view: Omit<WishView, "nodes">): ReadonlySet<string> {
  const { pods, evictedFrom, nowMs } = view;
  const evicting = new Set<string>();
  for (const [name, atMs] of evictedFrom ?? []) {
    if (nowMs - atMs < evictionMs) evicting.add(name);
  }
  for (const pod of pods.values()) {
    if (wasEvicted(pod)) evicting.add(pod.spec?.nodeName ?? "");
  }
  return evicting;
}

export function nodeWishes({ nodes, pods, evictedFrom, nowMs }: WishView): NodeWishes {
  const evicting = recentEvictions({ pods, evictedFrom, nowMs });
  const leaving = new Set<string>();
  const open: string[] = [];
  for (const [name, node] of nodes ?? []) {
    const isAsked = isAskedToLeave(node);
    const isWished = isAsked || evicting.has(name) || hasAutoscalerTaint(node.spec?.taints);
    if (isWished && isCordoned(node)) leaving.add(name);
    else if (isAsked) open.push(name);
  }
  return { leaving, open };
}

/** By the eviction call of the API server, which a drain uses; a kubelet without memory tells another reason. */
export function wasEvicted({ metadata, status }: Stored<Pod>): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const target = conditionIn(status, "DisruptionTarget");
  return target?.status === "True" && target.reason === "EvictionByEvictionAPI";
}
