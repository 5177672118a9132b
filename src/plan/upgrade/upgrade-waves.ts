// A pod whose sidecar restarts is not ready for a while, and a pod that is not ready has no DNS name. Where coordinators
// are known by such names, their sidecars restart in waves, so that clients find a majority of them at any time.
// Rules: spec/upgrade.md [U34], [U35].
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseAddress } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { runsSidecarImage } from "../view/sidecar-run.ts";
import type { Snapshot } from "../snapshot.ts";

export interface ImageChange {
  pod: Stored<Pod>;
  /** The image that its sidecar shall run. */
  image: string;
}

/** Those whose sidecar may restart now, of all pods with the image that each shall have. */
export function nextWave<T extends ImageChange>(
  snapshot: Snapshot,
  connectionString: string,
  all: readonly T[],
): T[] {
  const waiting = all.filter(({ pod, image }) => shapeOfPod(snapshot, pod).sidecarImage !== image);
  if (waiting.length === 0) return [];
  const names = coordinatorsOf(connectionString).flatMap((text) => {
    const address = parseAddress(text);
    return address.ok ? [address.value.host] : [];
  });
  const isCoordinator = ({ metadata }: Stored<Pod>): boolean =>
    names.some((name) => name.startsWith(`${metadata.name}.`));
  const isAway = ({ pod, image }: ImageChange): boolean =>
    shapeOfPod(snapshot, pod).sidecarImage === image
      ? !isReady(pod) || !runsSidecarImage(snapshot, pod, image)
      : !isReady(pod);
  const own = [...snapshot.pods.values()].filter(isCoordinator).length;
  const away = all.filter((change) => isCoordinator(change.pod) && isAway(change));
  let allowance = shareOfMinority(own, names.length) - away.length;
  return waiting.filter((change) => {
    // One that is away already is not missed more than before.
    if (!isCoordinator(change.pod) || isAway(change)) return true;
    allowance -= 1;
    return allowance >= 0;
  });
}

/**
 * How many of its own coordinators a resource may take away at a time. Others may do it at the same moment, and nothing tells
 * which of their pods are ready; so each takes of the minority what is in proportion to its coordinators. It is at least
 * one, or a resource with few of them would never be prepared.
 */
function shareOfMinority(own: number, all: number): number {
  const minority = Math.floor((all - 1) / 2);
  return Math.max(1, Math.floor((minority * own) / all));
}

function isReady(pod: Stored<Pod>): boolean {
  const statuses = pod.status?.containerStatuses ?? [];
  return statuses.length > 0 && statuses.every((status) => status.ready);
}
