// Pods that a change of the IP family goes by: those of some process groups count for nothing, as long as a person keeps them
// as they are. Rules: spec/plan.md [P97], [P116].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

/** All pods but those of process groups of which it is so. */
export function podsWithout(
  snapshot: Snapshot,
  isLeftOut: (group: ProcessGroup) => boolean,
): Stored<Pod>[] {
  const { processGroups = [] } = snapshot.cluster.status ?? {};
  const leftOut = new Set(
    processGroups.filter(isLeftOut).map((group) => viewOf(snapshot).of(group).pod),
  );
  return [...snapshot.pods.values()].filter((pod) => !leftOut.has(pod));
}
