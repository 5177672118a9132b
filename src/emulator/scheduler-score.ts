// Which of the nodes that fit is best: every aspect gives 0 to 100, the weighted sum decides. SCH10.
import type { Pod } from "../kube/generated/types.ts";
import { preferredNodeScore } from "./scheduler-node-affinity.ts";
import { podAffinityScores } from "./scheduler-pod-affinity.ts";
import { podRequestsForScore } from "./scheduler-resources.ts";
import { countUnpreferredTaints } from "./scheduler-taints.ts";
import { spreadCost } from "./scheduler-topology-spread.ts";
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
  const aspects = [
    { weight: 3, scores: shifted(taints, Math.min(0, ...taints), 0) },
    { weight: 2, scores: shifted(nodeAffinity, 0, Math.max(0, ...nodeAffinity)) },
    { weight: 2, scores: shifted(podAffinity, Math.min(...podAffinity), Math.max(...podAffinity)) },
    { weight: 2, scores: spreadScores(candidates, spread) },
    { weight: 1, scores: candidates.map((info) => resourceScores(pod, info).leastAllocated) },
    { weight: 1, scores: candidates.map((info) => resourceScores(pod, info).balanced) },
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
  const costs = candidates.map((info) => spreadCost(spread, info));
  const known = costs.filter((cost) => cost !== undefined);
  const [lowest, highest] = [Math.min(...known), Math.max(...known)];
  return costs.map((cost) => {
    if (cost === undefined) return 0;
    return highest === 0 ? 100 : Math.floor((100 * (highest + lowest - cost)) / highest);
  });
}

function resourceScores(pod: Pod, info: NodeInfo): { leastAllocated: number; balanced: number } {
  const request = podRequestsForScore(pod);
  const fractions = (["cpu", "memory"] as const).map((name) => {
    const capacity = info.allocatable[name] ?? 0;
    if (capacity === 0) return 1;
    return Math.min(1, (info.usedForScore[name] + request[name]) / capacity);
  });
  const [cpu = 1, memory = 1] = fractions;
  const leastAllocated = Math.floor(
    (Math.floor((1 - cpu) * 100) + Math.floor((1 - memory) * 100)) / 2,
  );
  return { leastAllocated, balanced: Math.floor((1 - Math.abs(cpu - memory) / 2) * 100) };
}
