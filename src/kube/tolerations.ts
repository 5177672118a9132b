// Taints of nodes against tolerations of pods, judged as Kubernetes judges them. Carries rule SCH5.
import type { Node, PodTemplateSpec, Taint, Toleration } from "./generated/types.ts";

/** A pod, or what it is made from. */
type Tolerating = Pick<PodTemplateSpec, "spec">;

export const unschedulableTaintKey = "node.kubernetes.io/unschedulable";

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (
    toleration.effect !== undefined &&
    toleration.effect !== "" &&
    toleration.effect !== taint.effect
  ) {
    return false;
  }
  const key = toleration.key ?? "";
  const operator = toleration.operator ?? "Equal";
  if (key === "") return operator === "Exists";
  if (key !== taint.key) return false;
  const [left, right] = [toleration.value ?? "", taint.value ?? ""];
  switch (operator) {
    case "Exists":
      return true;
    case "Equal":
      return left === right;
    default:
      return false;
  }
}

export function isTolerated(pod: Tolerating, taint: Taint): boolean {
  return (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

/** The first taint that keeps the pod off the node. */
export function findRepellingTaint(pod: Tolerating, node: Node): Taint | undefined {
  return (node.spec?.taints ?? []).find(
    (taint) =>
      (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !isTolerated(pod, taint),
  );
}

/** A cordoned node repels every pod that does not tolerate the taint which goes with it. */
export function isCordonedFor(pod: Tolerating, node: Node): boolean {
  if (node.spec?.unschedulable !== true) return false;
  return !isTolerated(pod, { key: unschedulableTaintKey, effect: "NoSchedule" });
}

export function countUnpreferredTaints(pod: Tolerating, node: Node): number {
  return (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === "PreferNoSchedule" && !isTolerated(pod, taint),
  ).length;
}
