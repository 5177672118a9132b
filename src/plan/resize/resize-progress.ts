// How far the kubelet is with a resize, as the status of the pod tells it. Rules: spec/pod-resize.md [SIZE2], [SIZE5].
import { conditionIn } from "../../kube/condition.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { nanosOf } from "../../model/quantity.ts";
import { effectiveResources, resourceLists } from "./resource-change.ts";

export type ResizeProgress =
  | { readonly kind: "done" }
  /** The node can never hold it. */
  | { readonly kind: "infeasible"; readonly message: string }
  | { readonly kind: "underWay"; readonly message: string | undefined };

/** `wanted` is what the spec of the pod has by now. */
export function resizeProgress(pod: Stored<Pod>, wanted: Stored<Pod>): ResizeProgress {
  const pending = conditionIn(pod.status, "PodResizePending");
  const { observedGeneration } = pod.status ?? {};
  const isSeen = observedGeneration === undefined || observedGeneration >= generationOf(pod);
  if (pending?.status === "True" && isSeen) {
    const message = `${pending.reason ?? "Pending"}: ${pending.message ?? ""}`;
    if (pending.reason === "Infeasible") return { kind: "infeasible", message };
    return { kind: "underWay", message };
  }
  const running = conditionIn(pod.status, "PodResizeInProgress");
  if (running?.status === "True" || !isSeen) {
    return { kind: "underWay", message: running?.message || undefined };
  }
  return runsWith(pod, wanted) ? { kind: "done" } : { kind: "underWay", message: undefined };
}

function generationOf({ metadata }: Stored<Pod>): number {
  return metadata.generation ?? 0;
}

/** What the containers run with. The kernel rounds, so it need not be the same to the last unit. */
function runsWith(pod: Stored<Pod>, wanted: Stored<Pod>): boolean {
  const statuses = pod.status?.containerStatuses ?? [];
  return (wanted.spec?.containers ?? []).every((container) => {
    const { resources } = statuses.find(({ name }) => name === container.name) ?? {};
    // A kubelet that does not say it cannot resize: then the pod was made with what it has.
    if (resources === undefined) return true;
    const effective = effectiveResources(container);
    return resourceLists.every((list) =>
      Object.entries(effective[list]).every(([name, amount]) => {
        const has = resources[list]?.[name];
        return has !== undefined && isNear(nanosOf(has), nanosOf(amount));
      }),
    );
  });
}

function isNear(left: bigint, right: bigint): boolean {
  const difference = left > right ? left - right : right - left;
  return difference * 100n <= right;
}
