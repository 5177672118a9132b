// Which nodes a pod asks for: node name, node selector, node affinity. Carries rule SCH4.
import type { Node, Pod } from "../kube/generated/types.ts";
import { matchesNodeSelector, matchesTerm } from "../kube/selector.ts";

export function isWantedNode(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) {
    if (labels[key] !== value) return false;
  }
  const affinity = pod.spec?.affinity?.nodeAffinity;
  return matchesNodeSelector(affinity?.requiredDuringSchedulingIgnoredDuringExecution, node);
}

export function preferredNodeScore(pod: Pod, node: Node): number {
  const affinity = pod.spec?.affinity?.nodeAffinity;
  let score = 0;
  for (const term of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (term.weight !== 0 && matchesTerm(term.preference, node)) score += term.weight;
  }
  return score;
}
