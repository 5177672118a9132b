// The PodDisruptionBudget of a cluster. Its minAvailable is a number: percentages and maxUnavailable need a controller with a scale
// subresource behind the pods, and without one they allow nothing at all. Rules: spec/drains.md [DRAIN1].
import { labelsOf } from "../api/effective.ts";
import type { NamedCluster } from "../api/effective.ts";
import type { LabelSelector, PodDisruptionBudget } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { metadataFor } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";

/** The pods of process groups, and no others that carry the labels of the cluster. */
export function evictionSelector(cluster: NamedCluster): LabelSelector {
  const { matchLabels, processGroupIdLabels } = labelsOf(cluster);
  const [key = ""] = processGroupIdLabels;
  return { matchLabels: { ...matchLabels }, matchExpressions: [{ key, operator: "Exists" }] };
}

export function budgetSpec(
  cluster: NamedCluster,
  minAvailable: number,
): NonNullable<PodDisruptionBudget["spec"]> {
  return {
    minAvailable,
    selector: evictionSelector(cluster),
    // A pod that is not ready holds data that others may need.
    unhealthyPodEvictionPolicy: "IfHealthyBudget",
  };
}

export function disruptionBudget(
  cluster: NormalCluster,
  minAvailable: number,
): Stored<PodDisruptionBudget> {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataFor(cluster, cluster.metadata.name ?? "", {}),
    spec: budgetSpec(cluster, minAvailable),
  };
}
