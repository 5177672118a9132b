// Which image the sidecar of a pod runs. Right after the image has changed in the pod's spec, the node still tells of the
// container before, and that one is ready. Rules: spec/upgrade.md [U22], [U35], [U36].
import { tagOf } from "../../build/images.ts";
import { mainContainerName, sidecarContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { compareVersions, formatVersion } from "../../model/version.ts";
import type { Version } from "../../model/version.ts";
import { versionOfImage, versionOfPod } from "./pod-binaries.ts";
import { shapeOfPod } from "./pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";

/**
 * Whether the sidecar runs this image, be it ready or not. The name under which a node knows an image may be another one, or
 * none but its id: what does not contradict is told by the sidecar itself (split image), or by comparison with the main
 * container (unified image), so that no spelling holds an upgrade.
 */
export function runsSidecarImage(
  snapshot: Pick<Snapshot, "memory" | "sidecars">,
  pod: Stored<Pod>,
  image: string,
): boolean {
  const { imageType, runningSidecarImage = "" } = shapeOfPod(snapshot, pod);
  const tag = tagOf(image);
  if (tag !== undefined && tagOf(runningSidecarImage) === tag) return true;
  if (isOfAnotherUpgrade(pod, runningSidecarImage, image)) return false;
  if (imageType === "unified") return hasImageOfMain(pod) === (mainImageOf(pod) === image);
  const said = snapshot.sidecars.get(pod.metadata.name ?? "");
  if (said?.kind !== "answered") return false;
  const own = versionOfPod(pod);
  const isMadeForIt = own !== undefined && isSame(own, versionOfImage(image));
  return (said.substitutions["BINARY_DIR"] === "/usr/bin") === isMadeForIt;
}

/** A version that is newer than that of the pod was brought for an upgrade, which another one may have overtaken. */
function isOfAnotherUpgrade(pod: Stored<Pod>, running: string, image: string): boolean {
  const [own, brought] = [versionOfPod(pod), versionOfImage(running)];
  if (own === undefined || brought === undefined || compareVersions(brought, own) <= 0)
    return false;
  return !isSame(brought, versionOfImage(image));
}

function isSame(one: Version, other: Version | undefined): boolean {
  return other !== undefined && formatVersion(one) === formatVersion(other);
}

function hasImageOfMain({ status }: Stored<Pod>): boolean {
  const [main, sidecar] = [mainContainerName, sidecarContainerName].map((name) =>
    status?.containerStatuses?.find((one) => one.name === name),
  );
  return main?.imageID === sidecar?.imageID;
}

function mainImageOf({ spec }: Stored<Pod>): string | undefined {
  return spec?.containers.find(({ name }) => name === mainContainerName)?.image;
}
