// What a volume claim says of its growth: what went wrong, and whether the file system waits for a pod that starts.
// Rules: spec/volumes.md [VOL6]-[VOL8].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { conditionIn } from "../../kube/condition.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { ownTimeMs } from "../view/server-time.ts";

/** Most drivers enlarge the file system of a mounted volume within seconds of the volume itself. */
const resizePendingMs = 300_000;

/** As Kubernetes says it; undefined when nothing went wrong. */
export function growthTrouble({ status }: Stored<PersistentVolumeClaim>): string | undefined {
  for (const type of ["ControllerResizeError", "NodeResizeError"]) {
    const condition = conditionIn(status, type);
    if (condition?.status === "True") return condition.message || type;
  }
  const state = status?.allocatedResourceStatuses?.["storage"] ?? "";
  return state.endsWith("Infeasible") ? `its storage driver says ${state}` : undefined;
}

/** Whether the pod has to start again so that its file system becomes as large as its volume. */
export function isResizedAtStart(
  snapshot: Snapshot,
  group: ProcessGroup,
  pod: Stored<Pod>,
): boolean {
  const pending = conditionIn(viewOf(snapshot).of(group).claim?.status, "FileSystemResizePending");
  if (pending?.status !== "True") return false;
  const sinceMs = ownTimeMs(snapshot, pending.lastTransitionTime);
  const madeMs = ownTimeMs(snapshot, pod.metadata.creationTimestamp);
  if (sinceMs === undefined || madeMs === undefined) return false;
  return madeMs <= sinceMs && snapshot.nowMs - sinceMs >= resizePendingMs;
}
