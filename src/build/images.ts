// Which image a container runs. Carries the rules B7 to B9 of spec/build.md.
import type { ClusterSpec, ImageConfig } from "../api/cluster.ts";
import { imageTypeOf } from "../api/effective.ts";
import { isProtocolCompatible, parseVersion } from "../model/version.ts";
import { built, problem } from "./problem.ts";
import type { Built } from "./problem.ts";

export const unifiedImage = "foundationdb/fdb-kubernetes-monitor";
export const splitMainImage = "foundationdb/foundationdb";
export const splitSidecarImage = "foundationdb/foundationdb-kubernetes-sidecar";

/** The tag of an image reference; the port of a registry is none. */
export function tagOf(image: string): string | undefined {
  const name = image.slice(image.lastIndexOf("/") + 1);
  const colon = name.indexOf(":");
  return colon < 0 ? undefined : name.slice(colon + 1);
}

/** What names an image without its tag. */
export function withoutTag(image: string): string {
  const tag = tagOf(image);
  return tag === undefined ? image : image.slice(0, -tag.length - 1);
}

/** Each part comes from the first entry that fits the version and sets it. */
export function imageFor(
  image: string | undefined,
  configs: readonly ImageConfig[],
  version: string,
): Built<string> {
  const tagged = image ? tagOf(image) : undefined;
  if (tagged !== undefined) {
    return problem(
      "image",
      image ?? "",
      `remove "${tagged}": the version of the cluster is the tag`,
    );
  }
  const fitting = (image ? [{ baseImage: image }, ...configs] : configs).filter(
    (config: ImageConfig) => !config.version || config.version === version,
  );
  const first = (part: "baseImage" | "tag" | "tagSuffix"): string =>
    fitting.find((config: ImageConfig) => config[part])?.[part] ?? "";
  return built(`${first("baseImage")}:${first("tag") || version + first("tagSuffix")}`);
}

export interface VersionedCluster {
  readonly spec: ClusterSpec;
  readonly status?: { readonly runningVersion?: string | undefined } | undefined;
}

export function runningVersionOf(cluster: VersionedCluster): string {
  return cluster.status?.runningVersion || cluster.spec.version;
}

export function isBeingUpgraded(cluster: VersionedCluster): boolean {
  return runningVersionOf(cluster) !== cluster.spec.version;
}

/** The new version speaks the protocol of the old one, so pods may change one by one. */
export function isCompatibleUpgrade(cluster: VersionedCluster): boolean {
  if (!isBeingUpgraded(cluster)) return false;
  const running = parseVersion(runningVersionOf(cluster));
  const wanted = parseVersion(cluster.spec.version);
  return running !== undefined && wanted !== undefined && isProtocolCompatible(running, wanted);
}

/** Pods keep the running version while all processes must change at once. */
export function podVersionOf(cluster: VersionedCluster): string {
  return isCompatibleUpgrade(cluster) ? cluster.spec.version : runningVersionOf(cluster);
}

/** The unified image serves as its own sidecar. */
export function sidecarImageConfigs(spec: ClusterSpec): readonly ImageConfig[] {
  const container = imageTypeOf(spec) === "unified" ? spec.mainContainer : spec.sidecarContainer;
  return container?.imageConfigs ?? [];
}
