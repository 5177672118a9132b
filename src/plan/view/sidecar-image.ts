// The image that the sidecar of a live pod must run before all processes change their version at once. A pod that was
// made for the other image type, and is replaced only afterwards, keeps the name of its own image.
// Rules: spec/upgrade.md [U20], [U21].
import type { Remembering } from "../../env/memory.ts";
import { imageTypeOf } from "../../api/effective.ts";
import { tagOf, withoutTag } from "../../build/images.ts";
import { normalCluster } from "../../build/normalise.ts";
import type { NormalCluster } from "../../build/normalise.ts";
import { desiredSidecarImage } from "../../build/pod.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { shapeOfPod } from "./pod-shape.ts";

/** Empty when there is no such image. */
export function sidecarImageFor(
  view: Remembering,
  cluster: NormalCluster,
  processClass: string,
  live: Stored<Pod>,
): string {
  const { imageType, sidecarImage = "" } = shapeOfPod(view, live);
  if (imageType === imageTypeOf(cluster.spec)) return imageOf(cluster, processClass);
  const other = normalCluster({ ...cluster, spec: { ...cluster.spec, imageType } });
  const tag = tagOf(imageOf(other, processClass));
  return tag === undefined || sidecarImage === "" ? "" : `${withoutTag(sidecarImage)}:${tag}`;
}

function imageOf(cluster: NormalCluster, processClass: string): string {
  const image = desiredSidecarImage(cluster, processClass);
  return image.ok ? image.value : "";
}
