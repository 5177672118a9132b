// The scheduler's decision for one pod: the best node, or why none will do, worded as
// kube-scheduler words it. Pure: the view is read only. Carries rules SCH1 and SCH11.
import { mostOf } from "../env/long-lists.ts";
import { randomInteger } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import type { Pod } from "../kube/generated/types.ts";
import { isWantedNode } from "./scheduler-node-affinity.ts";
import { isFarEnough, isNearEnough, preparePodAffinity } from "./scheduler-pod-affinity.ts";
import type { PodAffinityState } from "./scheduler-pod-affinity.ts";
import { findHostPortConflict } from "./scheduler-ports.ts";
import { findShortages, podRequests } from "./scheduler-resources.ts";
import type { Amounts } from "./scheduler-resources.ts";
import { scoreNodes } from "./scheduler-score.ts";
import { findRepellingTaint, isCordonedFor } from "../kube/tolerations.ts";
import { judgeSpread, prepareTopologySpread } from "./scheduler-topology-spread.ts";
import type { TopologySpreadState } from "./scheduler-topology-spread.ts";
import type { NodeInfo, SchedulerView } from "./scheduler-view.ts";
import { judgeVolumes, observePodVolumes } from "./scheduler-volumes.ts";
import type { PodVolumes, VolumeLookup, WaitingClaim } from "./scheduler-volumes.ts";

/** Why a node will not do. `isFinal`: removing other pods from the node could not help. */
export interface Refusal {
  readonly reasons: readonly string[];
  readonly isFinal: boolean;
}

export type Decision =
  | { readonly kind: "node"; readonly nodeName: string; readonly waiting: readonly WaitingClaim[] }
  | {
      readonly kind: "unschedulable";
      readonly message: string;
      readonly refusals: ReadonlyMap<string, Refusal>;
    };

interface Prepared {
  readonly requests: Amounts;
  readonly affinity: PodAffinityState;
  readonly spread: TopologySpreadState;
  readonly volumes: PodVolumes;
}

/** Equal scores are decided by chance when there is a generator, else by name. */
export function schedulePod(
  pod: Pod,
  view: SchedulerView,
  lookup: VolumeLookup,
  random?: Random,
): Decision {
  const nodes = view.sortedNodes();
  if (nodes.length === 0) {
    const message = "no nodes available to schedule pods";
    return { kind: "unschedulable", message, refusals: new Map() };
  }
  const volumes = observePodVolumes(pod, lookup);
  if ("problem" in volumes) {
    const message = `0/${nodes.length} nodes are available: ${volumes.problem}. not found`;
    return { kind: "unschedulable", message, refusals: new Map() };
  }
  const prepared: Prepared = {
    requests: podRequests(pod),
    affinity: preparePodAffinity(pod, view),
    spread: prepareTopologySpread(pod, view),
    volumes,
  };
  const refusals = new Map<string, Refusal>();
  const candidates: NodeInfo[] = [];
  for (const info of nodes) {
    const refusal = judgeNode(pod, info, prepared, lookup);
    if (refusal === undefined) candidates.push(info);
    else refusals.set(info.name, refusal);
  }
  if (candidates.length === 0) {
    return { kind: "unschedulable", message: unschedulableMessage(pod, refusals), refusals };
  }
  const scores = scoreNodes(pod, candidates, view, prepared.spread);
  return { kind: "node", nodeName: choose(candidates, scores, random), waiting: volumes.waiting };
}

const final = (reason: string): Refusal => ({ reasons: [reason], isFinal: true });
const passing = (reason: string): Refusal => ({ reasons: [reason], isFinal: false });

/** The order is that of kube-scheduler's filters: only the first failing one speaks. */
function judgeNode(
  pod: Pod,
  info: NodeInfo,
  prepared: Prepared,
  lookup: VolumeLookup,
): Refusal | undefined {
  const { node } = info;
  if (isCordonedFor(pod, node)) return final("node(s) were unschedulable");
  if (findRepellingTaint(pod, node)) return final("node(s) had untolerated taint(s)");
  if (!isWantedNode(pod, node)) return final("node(s) didn't match Pod's node affinity/selector");
  if (findHostPortConflict(pod, info.pods.values())) {
    return passing("node(s) didn't have free ports for the requested pod ports");
  }
  const shortages = findShortages(prepared.requests, info.allocatable, info.used, info.pods.size);
  if (shortages.length > 0) {
    const reasons = shortages.map((shortage) => shortage.reason);
    return { reasons, isFinal: shortages.some((shortage) => shortage.isHopeless) };
  }
  switch (judgeVolumes(prepared.volumes, node, lookup)) {
    case "wrongNode":
      return final("node(s) didn't match PersistentVolume's node affinity");
    case "noVolume":
      return final("node(s) didn't find available persistent volumes to bind");
    case "wrongZone":
      return final("node(s) had no available volume zone");
    case "fits":
  }
  switch (judgeSpread(prepared.spread, info)) {
    case "missingLabel":
      return final("node(s) didn't match pod topology spread constraints (missing required label)");
    case "skewed":
      return passing("node(s) didn't match pod topology spread constraints");
    case "fits":
  }
  if (!isNearEnough(prepared.affinity, info))
    return final("node(s) didn't match pod affinity rules");
  if (!isFarEnough(prepared.affinity.antiAffinity, info)) {
    return passing("node(s) didn't match pod anti-affinity rules");
  }
  if (!isFarEnough(prepared.affinity.repelledBy, info)) {
    return passing("node(s) didn't satisfy existing pods anti-affinity rules");
  }
  return undefined;
}

export function unschedulableMessage(pod: Pod, refusals: ReadonlyMap<string, Refusal>): string {
  const all = [...refusals.values()];
  const heading = `0/${all.length} nodes are available:`;
  const reasons = histogram(all.flatMap((refusal) => refusal.reasons));
  if (pod.spec?.preemptionPolicy === "Never") {
    return `${heading} ${reasons}. preemption: not eligible due to preemptionPolicy=Never.`;
  }
  const preemption = histogram(
    all.map((refusal) =>
      refusal.isFinal
        ? "Preemption is not helpful for scheduling"
        : "No preemption victims found for incoming pod",
    ),
  );
  return `${heading} ${reasons}. preemption: ${heading} ${preemption}.`;
}

/** "2 this, 4 that", sorted as text. */
function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .toSorted()
    .join(", ");
}

function choose(
  candidates: readonly NodeInfo[],
  scores: readonly number[],
  random: Random | undefined,
): string {
  const highest = mostOf(scores);
  const best = candidates.filter((_, index) => scores[index] === highest);
  const index = random === undefined ? 0 : randomInteger(random, 0, best.length - 1);
  return best[index]?.name ?? "";
}
