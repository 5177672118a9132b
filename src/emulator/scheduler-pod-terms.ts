// The affinity and anti-affinity terms of a pod in a form that can be compared and matched.
import type { Pod, PodAffinityTerm } from "../kube/generated/types.ts";
import { matchesLabelSelector } from "../kube/selector.ts";
import type { Labels } from "../kube/selector.ts";

export type PodTermKind =
  | "requiredAffinity"
  | "requiredAntiAffinity"
  | "preferredAffinity"
  | "preferredAntiAffinity";

export interface PodTerm {
  readonly kind: PodTermKind;
  /** Of preferred terms; 1 for a required one. */
  readonly weight: number;
  readonly topologyKey: string;
  /** Equal terms have equal keys, whichever pod they come from. */
  readonly key: string;
  /** The pod's own namespace unless the term names others. */
  readonly namespaces: readonly string[];
  readonly term: PodAffinityTerm;
}

const termsByPod = new WeakMap<Pod, readonly PodTerm[]>();

export function podTerms(pod: Pod): readonly PodTerm[] {
  let terms = termsByPod.get(pod);
  if (terms === undefined) {
    terms = readTerms(pod);
    termsByPod.set(pod, terms);
  }
  return terms;
}

export function matchesPodTerm(
  { term, namespaces }: PodTerm,
  pod: Pod,
  namespaceLabels: ReadonlyMap<string, Labels>,
): boolean {
  const namespace = pod.metadata.namespace ?? "";
  const isInNamespace =
    namespaces.includes(namespace) ||
    matchesLabelSelector(term.namespaceSelector, namespaceLabels.get(namespace) ?? {});
  return isInNamespace && matchesLabelSelector(term.labelSelector, pod.metadata.labels ?? {});
}

function readTerms(pod: Pod): PodTerm[] {
  const affinity = pod.spec?.affinity;
  const terms: PodTerm[] = [];
  const addTerm = (kind: PodTermKind, term: PodAffinityTerm, weight = 1): void => {
    terms.push(podTerm(pod, kind, term, weight));
  };
  for (const term of affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    addTerm("requiredAffinity", term);
  }
  for (const term of affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ??
    []) {
    addTerm("requiredAntiAffinity", term);
  }
  for (const weighted of affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ??
    []) {
    addTerm("preferredAffinity", weighted.podAffinityTerm, weighted.weight);
  }
  for (const weighted of affinity?.podAntiAffinity
    ?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    addTerm("preferredAntiAffinity", weighted.podAffinityTerm, weighted.weight);
  }
  return terms;
}

function podTerm(pod: Pod, kind: PodTermKind, original: PodAffinityTerm, weight: number): PodTerm {
  const term = foldLabelKeys(pod, original);
  const named = term.namespaces ?? [];
  const isOwnNamespace = named.length === 0 && term.namespaceSelector === undefined;
  const namespaces = isOwnNamespace ? [pod.metadata.namespace ?? ""] : named;
  const key = JSON.stringify([
    kind,
    weight,
    term.topologyKey,
    namespaces,
    term.labelSelector,
    term.namespaceSelector,
  ]);
  return { kind, weight, topologyKey: term.topologyKey, key, namespaces, term };
}

/** matchLabelKeys mean: the same value as this pod; mismatchLabelKeys: another one. */
function foldLabelKeys(pod: Pod, term: PodAffinityTerm): PodAffinityTerm {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = term;
  if (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0) return term;
  if (labelSelector === undefined) return term;
  const labels = pod.metadata.labels ?? {};
  const requirement = (key: string, operator: string) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  };
  return {
    ...term,
    labelSelector: {
      ...labelSelector,
      matchExpressions: [
        ...(labelSelector.matchExpressions ?? []),
        ...matchLabelKeys.flatMap((key) => requirement(key, "In")),
        ...mismatchLabelKeys.flatMap((key) => requirement(key, "NotIn")),
      ],
    },
  };
}
