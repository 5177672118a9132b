// Which of the nodes that fit is best: every aspect gives 0 to 100, the weighted sum decides.
// SCH10.
import { leastOf, mostOf } from "../env/long-lists.ts";
import type { Pod } from "../kube/generated/types.ts";
import { preferredNodeScore } from "./scheduler-node-affinity.ts";
import { podAffinityScores } from "./scheduler-pod-affinity.ts";
import { podRequests, podRequestsForScore } from "./scheduler-resources.ts";
import type { Amounts } from "./scheduler-resources.ts";
import { countUnpreferredTaints } from "../kube/tolerations.ts";
import { spreadCosts } from "./scheduler-topology-spread.ts";
import type { TopologySpreadState } from "./scheduler-topology-spread.ts";
import type { NodeInfo, SchedulerView } from "./scheduler-view.ts";

export function scoreNodes(
  pod: Pod,
  candidates: readonly NodeInfo[],
  view: SchedulerView,
  spread: TopologySpreadState,
): number[] {
  const taints = candidates.map((info) => -countUnpreferredTaints(pod, info.node));
  const nodeAffinity = candidates.map((info) => preferredNodeScore(pod, info.node));
  const podAffinity = candidates.map(podAffinityScores(pod, view));
  const request = podRequestsForScore(pod);
  const requests = podRequests(pod);
  const aspects = [
    { weight: 3, scores: shifted(taints, leastOf(taints, 0), 0) },
    { weight: 2, scores: shifted(nodeAffinity, 0, mostOf(nodeAffinity, 0)) },
    { weight: 2, scores: shifted(podAffinity, leastOf(podAffinity), mostOf(podAffinity)) },
    { weight: 2, scores: spreadScores(candidates, spread) },
    { weight: 1, scores: candidates.map((info) => freeScore(request, info)) },
    { weight: 1, scores: candidates.map((info) => balanceScore(requests, info)) },
  ];
  return candidates.map((_, index) =>
    aspects.reduce((sum, aspect) => sum + aspect.weight * (aspect.scores[index] ?? 0), 0),
  );
}

/** From [low, high] to [0, 100]; all zero when there is no difference. */
function shifted(scores: readonly number[], low: number, high: number): number[] {
  if (high === low) return scores.map(() => 0);
  return scores.map((score) => Math.floor(((score - low) * 100) / (high - low)));
}

function spreadScores(candidates: readonly NodeInfo[], spread: TopologySpreadState): number[] {
  if (spread.preferred.length === 0) return candidates.map(() => 0);
  const costs = spreadCosts(spread, candidates);
  const known = costs.filter((cost) => cost !== undefined);
  const [lowest, highest] = [leastOf(known), mostOf(known)];
  return costs.map((cost) => {
    if (cost === undefined) return 0;
    return highest === 0 ? 100 : Math.floor((100 * (highest + lowest - cost)) / highest);
  });
}

const scored = ["cpu", "memory"] as const;

/** How much of the node stays free, counting something also for containers that ask for nothing. */
function freeScore(request: { cpu: number; memory: number }, info: NodeInfo): number {
  const scores = scored.map((name) => {
    const capacity = info.allocatable[name] ?? 0;
    const used = info.usedForScore[name] + request[name];
    return used > capacity ? 0 : Math.floor(((capacity - used) * 100) / Math.max(1, capacity));
  });
  return Math.floor(scores.reduce((sum, score) => sum + score, 0) / scored.length);
}

/**
 * 50 when the pod leaves the node as even as it is, more when CPU and memory come closer to each
 * other.
 */
function balanceScore(requests: Amounts, info: NodeInfo): number {
  const unevenness = (extra: Amounts): number => {
    const [cpu = 0, memory = 0] = scored.map((name) => {
      const used = (info.used[name] ?? 0) + (extra[name] ?? 0);
      return Math.min(1, used / Math.max(1, info.allocatable[name] ?? 0));
    });
    return Math.abs(cpu - memory) / 2;
  };
  return Math.floor(50 + (unevenness({}) - unevenness(requests)) * 50);
}
