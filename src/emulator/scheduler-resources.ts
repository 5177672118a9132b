// How much of a node a pod asks for, and whether a node has it left. Carries rules SCH2 and SCH3.
import type { Container, Pod } from "../kube/generated/types.ts";
import { resourceAmount } from "./scheduler-quantity.ts";

/** Resource name to amount; CPU in thousandths. */
export type Amounts = Readonly<Record<string, number>>;

const requestsBySpec = new WeakMap<object, Amounts>();

export function podRequests(pod: Pod): Amounts {
  if (pod.spec === undefined) return {};
  let requests = requestsBySpec.get(pod.spec);
  if (requests === undefined) {
    requests = sumRequests(pod);
    requestsBySpec.set(pod.spec, requests);
  }
  return requests;
}

/**
 * Init containers run one after another, so only the largest counts, beside the restartable ones.
 */
function sumRequests(pod: Pod): Amounts {
  const total: Record<string, number> = {};
  for (const container of pod.spec?.containers ?? []) add(total, requestsOf(container));
  const restartable: Record<string, number> = {};
  const initial: Record<string, number> = {};
  for (const container of pod.spec?.initContainers ?? []) {
    const requests = requestsOf(container);
    if (container.restartPolicy === "Always") {
      add(total, requests);
      add(restartable, requests);
      raise(initial, restartable);
    } else {
      const both = { ...restartable };
      add(both, requests);
      raise(initial, both);
    }
  }
  raise(total, initial);
  add(total, amounts(pod.spec?.overhead));
  return total;
}

/** What scoring assumes of containers that request nothing, so that they still spread. */
export function podRequestsForScore(pod: Pod): { cpu: number; memory: number } {
  let [cpu, memory] = [0, 0];
  for (const container of pod.spec?.containers ?? []) {
    const requests = requestsOf(container);
    cpu += requests["cpu"] ?? 100;
    memory += requests["memory"] ?? 200 * 2 ** 20;
  }
  const all = podRequests(pod);
  return { cpu: Math.max(cpu, all["cpu"] ?? 0), memory: Math.max(memory, all["memory"] ?? 0) };
}

export function amounts(list: Readonly<Record<string, string | number>> | undefined): Amounts {
  const result: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(list ?? {})) {
    result[name] = resourceAmount(name, quantity);
  }
  return result;
}

export interface Shortage {
  reason: string;
  /** The node could not hold the pod even if it were empty. */
  isHopeless: boolean;
}

export function findShortages(
  requests: Amounts,
  allocatable: Amounts,
  used: Amounts,
  podCount: number,
): Shortage[] {
  const shortages: Shortage[] = [];
  if (podCount + 1 > (allocatable["pods"] ?? 0)) {
    shortages.push({ reason: "Too many pods", isHopeless: false });
  }
  for (const name of resourceOrder(requests)) {
    const requested = requests[name] ?? 0;
    if (requested === 0) continue;
    const capacity = allocatable[name] ?? 0;
    if (requested > capacity - (used[name] ?? 0)) {
      shortages.push({ reason: `Insufficient ${name}`, isHopeless: requested > capacity });
    }
  }
  return shortages;
}

export function add(total: Record<string, number>, more: Amounts, factor = 1): void {
  for (const name of Object.keys(more))
    total[name] = (total[name] ?? 0) + factor * (more[name] ?? 0);
}

function raise(total: Record<string, number>, floor: Amounts): void {
  for (const name of Object.keys(floor)) total[name] = Math.max(total[name] ?? 0, floor[name] ?? 0);
}

function requestsOf(container: Container): Amounts {
  // A limit without a request is also the request; the API server fills it in, other callers may
  // not.
  return amounts({ ...container.resources?.limits, ...container.resources?.requests });
}

function resourceOrder(requests: Amounts): string[] {
  const first = ["cpu", "memory", "ephemeral-storage"];
  const others = Object.keys(requests).filter((name) => !first.includes(name));
  return [...first, ...others.toSorted()];
}
