// Whose servers are to be stopped in place, as the resource or the pod says. Rules: spec/fencing.md [FENCE1].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { asksForFence } from "../../build/fence.ts";
import { viewOf } from "./cluster-view.ts";
import type { Joinable } from "./cluster-view.ts";

/** "spec": for as long as the resource names it. "pod": for as long as its pod lives. */
export type FenceWish = "spec" | "pod";

export function fenceWish(view: Joinable, group: ProcessGroup): FenceWish | undefined {
  if (view.cluster.spec.fence?.includes(group.processGroupID) === true) return "spec";
  const { pod } = viewOf(view).of(group);
  return pod !== undefined && asksForFence(pod) ? "pod" : undefined;
}
