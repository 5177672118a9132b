// Keeps the status of PodDisruptionBudgets: how many pods there are, how many are healthy, and how
// many may be disrupted. The eviction call of the API server decides by it. Carries rule
// KUBELET56.
import { conditionIn } from "../kube/condition.ts";
import type { Pod, PodDisruptionBudget } from "../kube/generated/types.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import { podDisruptionBudgets, pods } from "../kube/resource.ts";
import { formatTime } from "../kube/time.ts";
import { KeyedWork } from "./controller-part.ts";
import type { ControllerParts } from "./controller-part.ts";
import { isReady } from "./kubelet-services.ts";
import { matchesLabelSelector } from "../kube/selector.ts";
import { hasEnded } from "./scheduler-view.ts";

export function startDisruptionController(parts: ControllerParts): void {
  const { client, clock, informers } = parts;
  const work = new KeyedWork(parts, "disruption controller", 50, async (key) => {
    const budget = informers.of(podDisruptionBudgets).get(parseKeyText(key));
    if (budget === undefined) return;
    const covered = informers
      .of(pods)
      .list()
      .filter((pod) => isCovered(budget, pod));
    const status = budgetStatus(budget, covered, clock.nowMs());
    const gone = goneDisruptions(budget, covered);
    if (isSameStatus(budget, status) && gone.length === 0) return;
    const { resourceVersion } = budget.metadata;
    const disruptedPods = Object.fromEntries(gone.map((name) => [name, null]));
    const body = { metadata: { resourceVersion }, status: { ...status, disruptedPods } };
    const options = { type: "merge", subresource: "status" } as const;
    await client.patch(podDisruptionBudgets, keyOf(budget), body, options);
  });
  informers.of(podDisruptionBudgets).onChange(({ type, object }) => {
    if (type !== "DELETED") work.add(keyText(keyOf(object)));
  });
  informers.of(pods).onChange(({ type, object, old }) => {
    const isNews =
      type !== "MODIFIED" ||
      isHealthy(old) !== isHealthy(object) ||
      hasEnded(old) !== hasEnded(object) ||
      JSON.stringify(old.metadata.labels) !== JSON.stringify(object.metadata.labels);
    if (!isNews) return;
    for (const budget of informers.of(podDisruptionBudgets).list()) {
      if (isCovered(budget, object) || (old !== undefined && isCovered(budget, old))) {
        work.add(keyText(keyOf(budget)));
      }
    }
  });
}

export function budgetStatus(budget: PodDisruptionBudget, covered: readonly Pod[], nowMs: number) {
  const expected = covered.length;
  const healthy = covered.filter(isHealthy).length;
  const desired = desiredHealthy(budget, expected);
  const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
  const isAllowed = allowed > 0;
  const known = conditionIn(budget.status, "DisruptionAllowed");
  const conditionStatus = isAllowed ? "True" : "False";
  return {
    observedGeneration: budget.metadata.generation,
    expectedPods: expected,
    currentHealthy: healthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    conditions: [
      {
        type: "DisruptionAllowed",
        status: conditionStatus,
        reason: isAllowed ? "SufficientPods" : "InsufficientPods",
        message: "",
        observedGeneration: budget.metadata.generation,
        lastTransitionTime:
          known?.status === conditionStatus ? known.lastTransitionTime : formatTime(nowMs),
      },
    ],
  };
}

/**
 * Evicted pods that are really going: from then on their own state says that they are not healthy.
 */
function goneDisruptions(budget: PodDisruptionBudget, covered: readonly Pod[]): string[] {
  return Object.keys(budget.status?.disruptedPods ?? {}).filter((name) => {
    const pod = covered.find((one) => one.metadata.name === name);
    return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
  });
}

function desiredHealthy(budget: PodDisruptionBudget, expected: number): number {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable !== undefined) {
    return Math.max(0, expected - scaled(maxUnavailable, expected));
  }
  return minAvailable === undefined ? expected : scaled(minAvailable, expected);
}

/** A number, or a percentage rounded up. */
function scaled(value: number | string, total: number): number {
  const percent = /^(\d+)%$/.exec(String(value))?.[1];
  return percent === undefined ? Number(value) : Math.ceil((Number(percent) * total) / 100);
}

function isCovered(budget: PodDisruptionBudget, pod: Pod): boolean {
  return (
    budget.metadata.namespace === pod.metadata.namespace &&
    !hasEnded(pod) &&
    matchesLabelSelector(budget.spec?.selector, pod.metadata.labels ?? {})
  );
}

function isHealthy(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && isReady(pod);
}

function isSameStatus(budget: PodDisruptionBudget, status: object): boolean {
  const known: Record<string, unknown> = { ...budget.status };
  return Object.entries(status).every(
    ([name, value]) => JSON.stringify(sorted(known[name])) === JSON.stringify(sorted(value)),
  );
}

/** The same data with its keys in order, so that equal data has equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  );
}
