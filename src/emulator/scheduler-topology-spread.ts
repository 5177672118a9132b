// Spreading the pods of a group evenly over topology domains. Carries rule SCH8.
import type { Pod, TopologySpreadConstraint } from "../kube/generated/types.ts";
import { isWantedNode } from "./scheduler-node-affinity.ts";
import { matchesLabelSelector } from "./scheduler-selector.ts";
import { findRepellingTaint } from "./scheduler-taints.ts";
import type { NodeInfo, SchedulerView } from "./scheduler-view.ts";

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
}

export type SpreadVerdict = "fits" | "missingLabel" | "skewed";

export function prepareTopologySpread(pod: Pod, view: SchedulerView): TopologySpreadState {
  const constraints = pod.spec?.topologySpreadConstraints ?? [];
  const required = constraints.filter((one) => one.whenUnsatisfiable === "DoNotSchedule");
  const preferred = constraints.filter((one) => one.whenUnsatisfiable === "ScheduleAnyway");
  return {
    required: required.map((constraint) => prepare(pod, view, constraint, required)),
    preferred: preferred.map((constraint) => prepare(pod, view, constraint, preferred)),
  };
}

export function judgeSpread(state: TopologySpreadState, info: NodeInfo): SpreadVerdict {
  for (const { constraint, counts, own } of state.required) {
    const domain = info.node.metadata.labels?.[constraint.topologyKey];
    if (domain === undefined) return "missingLabel";
    const isShortOfDomains = counts.size < (constraint.minDomains ?? 1);
    const smallest = isShortOfDomains ? 0 : Math.min(...counts.values());
    if ((counts.get(domain) ?? 0) + own - smallest > constraint.maxSkew) return "skewed";
  }
  return "fits";
}

/** Lower is better; undefined for a node without the needed labels. */
export function spreadCost(state: TopologySpreadState, info: NodeInfo): number | undefined {
  let cost = 0;
  for (const { constraint, counts } of state.preferred) {
    const domain = info.node.metadata.labels?.[constraint.topologyKey];
    if (domain === undefined) return undefined;
    // Many small domains weigh more than few large ones, as in the real scheduler.
    cost += (counts.get(domain) ?? 0) * Math.log(counts.size + 2) + (constraint.maxSkew - 1);
  }
  return Math.round(cost);
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
