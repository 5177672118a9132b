// Process groups that never ran because no node takes the pods of their logical fault domain. What they wait for is a host
// that others leave. Rules: spec/packing.md [PACK44], [PACK45], [PACK48], [PACK49].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { conditionIn } from "../../kube/condition.ts";
import { hallOf, hasReported, isPacked } from "../../model/process-group.ts";
import { missingNode, withDomains } from "./packing-placement.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

/** It never reported, and its pod has never had a node. */
export function hasNeverRun(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (hasReported(group)) return false;
  const pod = viewOf(snapshot).of(group).pod;
  return pod !== undefined && (pod.spec?.nodeName ?? "") === "";
}

/** Its logical fault domain is what keeps it from every node, and not a volume that lies elsewhere. */
export function waitsForHost(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  group: ProcessGroup,
): boolean {
  if (!isPacked(group) || !hasNeverRun(snapshot, group)) return false;
  const scheduled = conditionIn(viewOf(snapshot).of(group).pod?.status, "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return false;
  const text = scheduled.message ?? "";
  return !/volume/i.test(text) && missingNode({ groups }, group, text) !== undefined;
}

/** Whether the successor would be bound to the same logical fault domain. It may find another hall. */
export function returnsToDomain(
  spec: ClusterSpec,
  groups: readonly ProcessGroup[],
  group: ProcessGroup,
): boolean {
  if (hallOf(group) !== "") return false;
  const { processGroupID, processClass } = group;
  const others = groups.filter((other) => other.processGroupID !== processGroupID);
  const [successor] = withDomains(spec, others, [{ processGroupID, processClass }]);
  return successor?.distributionKey === group.distributionKey;
}
