// What the scheduler knows of the cluster: nodes, the pods on them and what they use. Counts of
// pods that match a selector are kept per node and updated with every pod, so that a decision does
// not visit all pods.
import type { Node, Pod } from "../kube/generated/types.ts";
import { add, amounts, podRequests, podRequestsForScore } from "./scheduler-resources.ts";
import type { Amounts } from "./scheduler-resources.ts";
import { podTerms } from "./scheduler-pod-terms.ts";
import type { PodTerm } from "./scheduler-pod-terms.ts";
import type { Labels } from "../kube/selector.ts";

export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly allocatable: Amounts;
  readonly used: Record<string, number>;
  readonly usedForScore: { cpu: number; memory: number };
  readonly pods: Map<string, Pod>;
}

/** Terms of pods that are already placed, equal ones together: how often per node. */
export interface PlacedTerm {
  readonly term: PodTerm;
  readonly countByNode: Map<string, number>;
}

interface Counter {
  readonly matches: (pod: Pod) => boolean;
  readonly countByNode: Map<string, number>;
}

const countersMax = 100;

export class SchedulerView {
  readonly nodes = new Map<string, NodeInfo>();
  readonly namespaces = new Map<string, Labels>();
  /** Selectors of services by namespace and name. */
  readonly #services = new Map<string, Map<string, Labels>>();
  readonly #pods = new Map<string, Pod>();
  readonly #counters = new Map<string, Counter>();
  readonly #placedTerms = new Map<string, PlacedTerm>();
  #sortedNodes: NodeInfo[] | undefined;

  /** In order of their names. */
  sortedNodes(): readonly NodeInfo[] {
    this.#sortedNodes ??= [...this.nodes.values()].toSorted((left, right) =>
      left.name < right.name ? -1 : 1,
    );
    return this.#sortedNodes;
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? "";
    const before = this.nodes.get(name);
    const pods = before?.pods ?? this.#podsOf(name);
    const info: NodeInfo = {
      name,
      node,
      allocatable: amounts(node.status?.allocatable),
      used: before?.used ?? {},
      usedForScore: before?.usedForScore ?? { cpu: 0, memory: 0 },
      pods,
    };
    if (before === undefined) for (const pod of pods.values()) use(info, pod, 1);
    this.nodes.set(name, info);
    this.#sortedNodes = undefined;
  }

  removeNode(name: string): void {
    this.nodes.delete(name);
    this.#sortedNodes = undefined;
  }

  setNamespace(name: string, labels: Labels): void {
    this.namespaces.set(name, labels);
    this.#counters.clear();
  }

  /** An absent or empty selector removes the service: it leads to no pod. */
  setService(namespace: string, name: string, selector: Labels | undefined): void {
    const services = this.#services.get(namespace) ?? new Map<string, Labels>();
    this.#services.set(namespace, services);
    if (selector === undefined || Object.keys(selector).length === 0) services.delete(name);
    else services.set(name, selector);
  }

  /** The selectors of all services that lead to the pod, together. */
  serviceSelector(pod: Pod): Labels | undefined {
    const labels = pod.metadata.labels ?? {};
    let joined: Record<string, string> | undefined;
    for (const selector of this.#services.get(pod.metadata.namespace ?? "")?.values() ?? []) {
      if (Object.keys(selector).every((key) => labels[key] === selector[key])) {
        joined = { ...joined, ...selector };
      }
    }
    return joined;
  }

  /** A pod that is on a node; one that has ended or is on no node is forgotten. */
  setPod(pod: Pod): void {
    const key = podKey(pod);
    const before = this.#pods.get(key);
    if (before === pod) return;
    if (before !== undefined && isSamePlacement(before, pod)) {
      this.#pods.set(key, pod);
      this.nodes.get(pod.spec?.nodeName ?? "")?.pods.set(key, pod);
      return;
    }
    if (before !== undefined) this.removePod(key);
    if ((pod.spec?.nodeName ?? "") === "" || hasEnded(pod)) return;
    this.#pods.set(key, pod);
    this.#count(pod, 1);
    const info = this.nodes.get(pod.spec?.nodeName ?? "");
    if (info === undefined) return;
    info.pods.set(key, pod);
    use(info, pod, 1);
  }

  removePod(key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    this.#count(pod, -1);
    const info = this.nodes.get(pod.spec?.nodeName ?? "");
    if (info?.pods.delete(key) === true) use(info, pod, -1);
  }

  pod(key: string): Pod | undefined {
    return this.#pods.get(key);
  }

  placedTerms(): Iterable<PlacedTerm> {
    return this.#placedTerms.values();
  }

  /** Pods per node for which `matches` holds. Equal keys must mean equal functions. */
  countByNode(key: string, matches: (pod: Pod) => boolean): ReadonlyMap<string, number> {
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      counter = { matches, countByNode: new Map() };
      this.#counters.set(key, counter);
      // Each counter costs something with every pod that changes, so the oldest goes.
      const oldest = this.#counters.keys().next().value;
      if (this.#counters.size > countersMax && oldest !== undefined) this.#counters.delete(oldest);
      for (const pod of this.#pods.values()) {
        if (matches(pod)) bump(counter.countByNode, pod.spec?.nodeName ?? "", 1);
      }
    }
    return counter.countByNode;
  }

  #count(pod: Pod, change: 1 | -1): void {
    const nodeName = pod.spec?.nodeName ?? "";
    for (const counter of this.#counters.values()) {
      if (counter.matches(pod)) bump(counter.countByNode, nodeName, change);
    }
    for (const term of podTerms(pod)) {
      let placed = this.#placedTerms.get(term.key);
      if (placed === undefined) {
        placed = { term, countByNode: new Map() };
        this.#placedTerms.set(term.key, placed);
      }
      bump(placed.countByNode, nodeName, change);
      if (placed.countByNode.size === 0) this.#placedTerms.delete(term.key);
    }
  }

  #podsOf(nodeName: string): Map<string, Pod> {
    const found = new Map<string, Pod>();
    for (const [key, pod] of this.#pods) if (pod.spec?.nodeName === nodeName) found.set(key, pod);
    return found;
  }
}

export function podKey(pod: Pod): string {
  return `${pod.metadata.namespace ?? ""}/${pod.metadata.name ?? ""}`;
}

export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Most changes of a placed pod are news of its status, which nothing here counts. */
function isSamePlacement(before: Pod, pod: Pod): boolean {
  return (
    before.metadata.uid === pod.metadata.uid &&
    before.metadata.generation === pod.metadata.generation &&
    before.spec?.nodeName === pod.spec?.nodeName &&
    hasEnded(before) === hasEnded(pod) &&
    before.metadata.deletionTimestamp === pod.metadata.deletionTimestamp &&
    JSON.stringify(before.metadata.labels) === JSON.stringify(pod.metadata.labels)
  );
}

function use(info: NodeInfo, pod: Pod, change: 1 | -1): void {
  add(info.used, podRequests(pod), change);
  const { cpu, memory } = podRequestsForScore(pod);
  info.usedForScore.cpu += change * cpu;
  info.usedForScore.memory += change * memory;
}

function bump(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
