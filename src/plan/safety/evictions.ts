// No pod is evicted by others beside those that we delete ourselves: before a running pod goes, the budget for evictions is closed,
// and whoever was let through before that is gone. An eviction looks at the budget as it is stored, so once the write that closes
// it is answered, none can follow. Rules: spec/drains.md [DRAIN20].
import { automationOf } from "../../api/effective.ts";
import { budgetSpec, evictionSelector } from "../../build/disruption-budget.ts";
import type { Pod, PodDisruptionBudget } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { matchesLabelSelector } from "../../kube/selector.ts";
import type { DisruptiveAction } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { isLeftBehind, isOwned } from "../view/left-behind.ts";
import { isSameJson } from "../view/same-json.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

type EvictionView = Pick<Snapshot, "cluster" | "pods" | "disruptionBudgets" | "likePods">;

/** A budget of another name is somebody else's, also when it goes with the resource. */
export function ownBudget(view: EvictionView): Stored<PodDisruptionBudget> | undefined {
  const { cluster } = view;
  return view.disruptionBudgets?.find((budget) => {
    if (isOwned(cluster, budget)) return true;
    const { spec } = budget;
    // But for the number it is what we make, and nobody else does.
    const made = budgetSpec(cluster, Number(spec?.minAvailable));
    return isLeftBehind(cluster, budget) && isSameJson(spec, made);
  });
}

/** The pods that our budget is for. */
export function coveredPods({ cluster, pods }: EvictionView): Stored<Pod>[] {
  const selector = evictionSelector(cluster);
  return [...pods.values()].filter(({ metadata }) =>
    matchesLabelSelector(selector, metadata.labels ?? {}),
  );
}

export function evictionRefusal(view: EvictionView, action: DisruptiveAction): Refusal | undefined {
  const isRunningPod =
    action.type === "fencePods" || (action.type === "deletePods" && action.because === "update");
  if (!isRunningPod) return undefined;
  if (!automationOf(view.cluster.spec).managesDrains) return undefined;
  const budget = ownBudget(view);
  if (budget === undefined) return undefined;
  const name = budget.metadata.name ?? "";
  const covered = coveredPods(view).length + (view.likePods ?? 0);
  if (!(Number(budget.spec?.minAvailable) >= covered)) {
    return refusal("ActInFlight", `disruption budget ${name} still lets others evict pods`);
  }
  const disrupted = budget.status?.disruptedPods ?? {};
  const evicted = coveredPods(view)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .find(({ metadata }) => Object.hasOwn(disrupted, metadata.name ?? ""));
  return evicted === undefined
    ? undefined
    : refusal("ActInFlight", `pod ${evicted.metadata.name ?? ""} is being evicted`);
}
