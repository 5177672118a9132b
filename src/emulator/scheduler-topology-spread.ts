// Spreading the pods of a group evenly over topology domains. Carries rule SCH8.
import { leastOf } from "../env/long-lists.ts";
import type { Pod, TopologySpreadConstraint } from "../kube/generated/types.ts";
import { isWantedNode } from "./scheduler-node-affinity.ts";
import { matchesLabelSelector } from "../kube/selector.ts";
import { findRepellingTaint } from "../kube/tolerations.ts";
import type { NodeInfo, SchedulerView } from "./scheduler-view.ts";

const hostKey = "kubernetes.io/hostname";

interface Spread {
  readonly constraint: TopologySpreadConstraint;
  /** Matching pods per domain, over the nodes that count for this constraint. */
  readonly counts: ReadonlyMap<string, number>;
  /** 1 when the pod itself would add to its domain. */
  readonly own: number;
}

export interface TopologySpreadState {
  readonly required: readonly Spread[];
  readonly preferred: readonly Spread[];
  /** The pod asks for spreading itself: then nodes without the labels do not take part. */
  readonly isOwn: boolean;
}

export type SpreadVerdict = "fits" | "missingLabel" | "skewed";

export function prepareTopologySpread(pod: Pod, view: SchedulerView): TopologySpreadState {
  const constraints = pod.spec?.topologySpreadConstraints ?? [];
  const required = constraints.filter((one) => one.whenUnsatisfiable === "DoNotSchedule");
  const isOwn = constraints.length > 0;
  const preferred = isOwn
    ? constraints.filter((one) => one.whenUnsatisfiable === "ScheduleAnyway")
    : defaultConstraints(pod, view);
  return {
    required: required.map((constraint) => prepare(pod, view, constraint, required)),
    preferred: preferred.map((one) => prepare(pod, view, one, isOwn ? preferred : [])),
    isOwn,
  };
}

/** Pods of a service are spread over hosts and zones a little, even if they do not ask for it. */
function defaultConstraints(pod: Pod, view: SchedulerView): TopologySpreadConstraint[] {
  const matchLabels = view.serviceSelector(pod);
  if (matchLabels === undefined) return [];
  const constraint = (topologyKey: string, maxSkew: number): TopologySpreadConstraint => ({
    topologyKey,
    maxSkew,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { ...matchLabels } },
  });
  return [constraint(hostKey, 3), constraint("topology.kubernetes.io/zone", 5)];
}

export function judgeSpread(state: TopologySpreadState, info: NodeInfo): SpreadVerdict {
  for (const { constraint, counts, own } of state.required) {
    const domain = info.node.metadata.labels?.[constraint.topologyKey];
    if (domain === undefined) return "missingLabel";
    const isShortOfDomains = counts.size < (constraint.minDomains ?? 1);
    const smallest = isShortOfDomains ? 0 : leastOf(counts.values());
    if ((counts.get(domain) ?? 0) + own - smallest > constraint.maxSkew) return "skewed";
  }
  return "fits";
}

/** Lower is better; undefined for a node without the needed labels. */
export function spreadCosts(
  state: TopologySpreadState,
  candidates: readonly NodeInfo[],
): (number | undefined)[] {
  const domainOf = (spread: Spread, info: NodeInfo): string | undefined =>
    info.node.metadata.labels?.[spread.constraint.topologyKey];
  const isTaking = (info: NodeInfo): boolean =>
    !state.isOwn || state.preferred.every((spread) => domainOf(spread, info) !== undefined);
  const taking = candidates.filter(isTaking);
  // Many small domains weigh more than few large ones, as in the real scheduler.
  const weights = state.preferred.map((spread) => {
    const domains = new Set(taking.flatMap((info) => domainOf(spread, info) ?? []));
    const isPerNode = spread.constraint.topologyKey === hostKey;
    return Math.log((isPerNode ? taking.length : domains.size) + 2);
  });
  return candidates.map((info) => {
    if (!isTaking(info)) return undefined;
    let cost = 0;
    for (const [index, spread] of state.preferred.entries()) {
      const domain = domainOf(spread, info);
      if (domain === undefined) continue;
      const count = spread.counts.get(domain) ?? 0;
      cost += count * (weights[index] ?? 0) + (spread.constraint.maxSkew - 1);
    }
    return Math.round(cost);
  });
}

function prepare(
  pod: Pod,
  view: SchedulerView,
  constraint: TopologySpreadConstraint,
  all: readonly TopologySpreadConstraint[],
): Spread {
  const matches = spreadMatcher(pod, constraint);
  const key = `spread:${JSON.stringify([pod.metadata.namespace, matches.selector])}`;
  const countByNode = view.countByNode(key, matches.test);
  const counts = new Map<string, number>();
  for (const info of view.sortedNodes()) {
    const labels = info.node.metadata.labels ?? {};
    const domain = labels[constraint.topologyKey];
    if (domain === undefined || all.some((other) => labels[other.topologyKey] === undefined))
      continue;
    if (constraint.nodeAffinityPolicy !== "Ignore" && !isWantedNode(pod, info.node)) continue;
    if (constraint.nodeTaintsPolicy === "Honor" && findRepellingTaint(pod, info.node)) continue;
    counts.set(domain, (counts.get(domain) ?? 0) + (countByNode.get(info.name) ?? 0));
  }
  const own = matchesLabelSelector(matches.selector, pod.metadata.labels ?? {}) ? 1 : 0;
  return { constraint, counts, own };
}

function spreadMatcher(pod: Pod, constraint: TopologySpreadConstraint) {
  const labels = pod.metadata.labels ?? {};
  const keys = (constraint.matchLabelKeys ?? []).filter((key) => labels[key] !== undefined);
  const selector = constraint.labelSelector && {
    ...constraint.labelSelector,
    matchExpressions: [
      ...(constraint.labelSelector.matchExpressions ?? []),
      ...keys.map((key) => ({ key, operator: "In", values: [labels[key] ?? ""] })),
    ],
  };
  // A pod that is being deleted does not count: its replacement may take its place.
  const test = (other: Pod): boolean =>
    other.metadata.deletionTimestamp === undefined &&
    other.metadata.namespace === pod.metadata.namespace &&
    matchesLabelSelector(selector, other.metadata.labels ?? {});
  return { selector, test };
}
