// Pods that want to be near to or far from other pods, seen from both sides. Carries rules SCH6
// and SCH7.
import type { Pod } from "../kube/generated/types.ts";
import { matchesPodTerm, podTerms } from "./scheduler-pod-terms.ts";
import type { PodTerm } from "./scheduler-pod-terms.ts";
import type { NodeInfo, SchedulerView } from "./scheduler-view.ts";

type CountByValue = ReadonlyMap<string, number>;

interface Wanted {
  readonly topologyKey: string;
  readonly counts: CountByValue;
}

/** Everything about one pod that is the same for all nodes. */
export interface PodAffinityState {
  readonly affinity: readonly Wanted[];
  /** No pod matches yet, but the pod matches its own terms: it may be the first of its group. */
  readonly isFirstOfGroup: boolean;
  readonly antiAffinity: readonly Wanted[];
  readonly repelledBy: readonly Wanted[];
}

export function preparePodAffinity(pod: Pod, view: SchedulerView): PodAffinityState {
  const terms = podTerms(pod);
  const required = terms.filter((term) => term.kind === "requiredAffinity");
  const matchesAll = (other: Pod): boolean =>
    required.every((term) => matchesPodTerm(term, other, view.namespaces));
  const jointKey = `all:${required.map((term) => term.key).join("&")}`;
  const matching = required.length === 0 ? new Map() : view.countByNode(jointKey, matchesAll);
  const repelling: Wanted[] = [];
  for (const { term, countByNode } of view.placedTerms()) {
    if (term.kind === "requiredAntiAffinity" && matchesPodTerm(term, pod, view.namespaces)) {
      repelling.push(byTopology(view, term.topologyKey, countByNode));
    }
  }
  return {
    affinity: required.map((term) => byTopology(view, term.topologyKey, matching)),
    isFirstOfGroup: matching.size === 0 && required.length > 0 && matchesAll(pod),
    antiAffinity: terms
      .filter((term) => term.kind === "requiredAntiAffinity")
      .map((term) => byTopology(view, term.topologyKey, countTerm(view, term))),
    repelledBy: repelling,
  };
}

export function isNearEnough(state: PodAffinityState, info: NodeInfo): boolean {
  return state.affinity.every((wanted) => {
    const value = topologyValue(info, wanted.topologyKey);
    if (value === undefined) return false;
    return state.isFirstOfGroup || (wanted.counts.get(value) ?? 0) > 0;
  });
}

export function isFarEnough(wanted: readonly Wanted[], info: NodeInfo): boolean {
  return wanted.every((term) => {
    const value = topologyValue(info, term.topologyKey);
    return value === undefined || (term.counts.get(value) ?? 0) === 0;
  });
}

/** Preferences of the pod and, the other way round, of the pods that are already placed. */
export function podAffinityScores(pod: Pod, view: SchedulerView): (info: NodeInfo) => number {
  const parts: { weight: number; wanted: Wanted }[] = [];
  for (const term of podTerms(pod)) {
    if (term.kind !== "preferredAffinity" && term.kind !== "preferredAntiAffinity") continue;
    const wanted = byTopology(view, term.topologyKey, countTerm(view, term));
    parts.push({ weight: signedWeight(term), wanted });
  }
  for (const { term, countByNode } of view.placedTerms()) {
    if (term.kind === "requiredAntiAffinity") continue;
    if (!matchesPodTerm(term, pod, view.namespaces)) continue;
    const wanted = byTopology(view, term.topologyKey, countByNode);
    parts.push({ weight: signedWeight(term), wanted });
  }
  return (info) => {
    let score = 0;
    for (const { weight, wanted } of parts) {
      const value = topologyValue(info, wanted.topologyKey);
      if (value !== undefined) score += weight * (wanted.counts.get(value) ?? 0);
    }
    return score;
  };
}

function signedWeight(term: PodTerm): number {
  return term.kind === "preferredAntiAffinity" ? -term.weight : term.weight;
}

function countTerm(view: SchedulerView, term: PodTerm): CountByValue {
  return view.countByNode(term.key, (pod) => matchesPodTerm(term, pod, view.namespaces));
}

function byTopology(view: SchedulerView, topologyKey: string, countByNode: CountByValue): Wanted {
  const counts = new Map<string, number>();
  for (const [nodeName, count] of countByNode) {
    const info = view.nodes.get(nodeName);
    const value = info === undefined ? undefined : topologyValue(info, topologyKey);
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return { topologyKey, counts };
}

function topologyValue(info: NodeInfo, topologyKey: string): string | undefined {
  return info.node.metadata.labels?.[topologyKey];
}
