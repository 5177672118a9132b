// Whether a pod that leaves its node can go on elsewhere with its data: another node takes pods and its volume can be used from
// there. What cannot be seen counts as no: then the process group is replaced, which loses nothing.
// Rules: spec/drains.md [DRAIN15], [DRAIN16].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { conditionIn } from "../../kube/condition.ts";
import type { Node, NodeSelector, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { matchesNodeSelector } from "../../kube/selector.ts";
import { isDataInPod } from "../safety/volumes.ts";
import { findRepellingTaint } from "../../kube/tolerations.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { isCordoned } from "./drained-nodes.ts";

export function canFollow(snapshot: Snapshot, group: ProcessGroup): boolean {
  const { pod } = viewOf(snapshot).of(group);
  return placesOf(snapshot, group)?.some((node) => isOpen(pod, node) && isReady(node)) === true;
}

/** Whether it has a volume that can be used from no node that takes its pod, and from one that is cordoned. */
export function isBoundToCordoned(snapshot: Snapshot, group: ProcessGroup): boolean {
  const { pod, claim } = viewOf(snapshot).of(group);
  // Without a volume its successor would find no other nodes, and be replaced for that, too, and so on.
  if ((claim?.spec?.volumeName ?? "") === "") return false;
  const places = placesOf(snapshot, group) ?? [];
  return places.some(isCordoned) && !places.some((node) => isOpen(pod, node));
}

/** By these a node tells of its own state, which comes and goes. */
const ownTaintPrefix = "node.kubernetes.io/";

/** Neither a cordon nor a taint, such as that of a control plane, keeps the pod off the node. */
function isOpen(pod: Stored<Pod> | undefined, node: Stored<Node>): boolean {
  if (isCordoned(node)) return false;
  const taints = node.spec?.taints?.filter(({ key }) => !key.startsWith(ownTaintPrefix));
  return findRepellingTaint(pod ?? {}, { ...node, spec: { ...node.spec, taints } }) === undefined;
}

/** The nodes on which its pod could be, whatever else is on them; undefined when that cannot be told. */
export function placesOf(
  snapshot: Snapshot,
  group: ProcessGroup,
): readonly Stored<Node>[] | undefined {
  const { wayOut } = snapshot;
  if (wayOut === undefined || isDataInPod(snapshot, group)) return undefined;
  const { pod, claim } = viewOf(snapshot).of(group);
  const volumeName = claim?.spec?.volumeName ?? "";
  let reach: NodeSelector | undefined;
  if (volumeName !== "") {
    const volume = wayOut.volumes.get(volumeName);
    if (volume === undefined) return undefined;
    reach = volume.spec?.nodeAffinity?.required;
  }
  return wayOut.nodes.filter((node) => matchesNodeSelector(reach, node) && isWanted(pod, node));
}

function isWanted(pod: Stored<Pod> | undefined, node: Stored<Node>): boolean {
  const { affinity, nodeSelector = {} } = pod?.spec ?? {};
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const labels = node.metadata.labels ?? {};
  return (
    matchesNodeSelector(required, node) &&
    Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)
  );
}

function isReady({ status }: Stored<Node>): boolean {
  return conditionIn(status, "Ready")?.status === "True";
}
