// Which changes of nodes and of budgets deserve a pass: both are written to all the time, and most of it concerns no cluster.
// Rules: spec/operate.md [OP1]-[OP4].
import { foundationDbClusters } from "../api/cluster.ts";
import type { Node, PodDisruptionBudget } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { isAskedToLeave } from "../plan/drains/drained-nodes.ts";
import { isNodeReady } from "../plan/safety/view.ts";
import { isSameJson } from "../plan/view/same-json.ts";

/** What a node tells the clusters on it: whether it is ready, and what it does not want on it. */
export function isSameForPods(left: Stored<Node>, right: Stored<Node>): boolean {
  return (
    isNodeReady(left) === isNodeReady(right) &&
    left.spec?.unschedulable === right.spec?.unschedulable &&
    isAskedToLeave(left) === isAskedToLeave(right) &&
    isSameJson(left.spec?.taints, right.spec?.taints)
  );
}

/** The figures of a budget change with every pod that starts; what they say is told by the pods, but for how many it covers. */
export function isSameForEvictions(
  left: Stored<PodDisruptionBudget>,
  right: Stored<PodDisruptionBudget>,
): boolean {
  return (
    left.metadata.generation === right.metadata.generation &&
    left.metadata.uid === right.metadata.uid &&
    coveredBy(left) === coveredBy(right) &&
    isSameJson(left.status?.disruptedPods, right.status?.disruptedPods)
  );
}

/** Budgets of other programs may follow every wave of load. */
function coveredBy({ metadata, status }: Stored<PodDisruptionBudget>): number | undefined {
  const isOurs = metadata.ownerReferences?.some(({ kind }) => kind === foundationDbClusters.kind);
  return isOurs === true ? status?.expectedPods : undefined;
}
