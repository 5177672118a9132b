// The ConfigMap from which pods read their cluster file and their configuration, and the hash by which the operator
// knows whether a pod has seen it. Carries the rules B41 to B45 of spec/build.md.
import type { ClusterSpec, ImageType } from "../api/cluster.ts";
import { imageTypeOf, serversPerPod } from "../api/effective.ts";
import type { ConfigMap } from "../kube/generated/types.ts";
import { isLogProcess } from "../model/process-class.ts";
import { wantedCounts } from "../api/wanted-counts.ts";
import { metadataFor } from "./labels.ts";
import { hasTwoZoneSources } from "./locality-arguments.ts";
import { monitorConfiguration, monitorJson } from "./monitor-configuration.ts";
import type { NormalCluster } from "./normalise.ts";
import { splitConfiguration } from "./split-configuration.ts";
import { textsHash } from "./spec-hash.ts";

export const clusterFileKey = "cluster-file";
const runningVersionKey = "running-version";
export const caFileKey = "ca-file";
const sidecarConfKey = "sidecar-conf";

export function configMapName(clusterName: string): string {
  return `${clusterName}-config`;
}

/** The entry that holds the configuration of a pod's processes. */
export function monitorConfKey(
  processClass: string,
  imageType: ImageType,
  serverCount: number,
  variant = "",
): string {
  if (imageType === "unified") return `fdbmonitor-conf-${processClass}-json${variant}`;
  const density = serverCount > 1 ? `-density-${serverCount}` : "";
  return `fdbmonitor-conf-${processClass}${density}${variant}`;
}

/** Packed pods have entries of their own only where their zone comes from elsewhere than that of others. */
export function confVariant(spec: ClusterSpec, isPacked: boolean): string {
  return isPacked && hasTwoZoneSources(spec) ? "-packed" : "";
}

export function configMap(cluster: NormalCluster): ConfigMap {
  const given = cluster.spec.configMap;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataFor(cluster, configMapName(cluster.metadata.name ?? ""), {}, given?.metadata),
    data: { ...generatedData(cluster), ...given?.data },
  };
}

function generatedData(cluster: NormalCluster): Record<string, string> {
  const { spec, status } = cluster;
  const data: Record<string, string> = {
    [clusterFileKey]: status?.connectionString ?? "",
    [runningVersionKey]: status?.runningVersion ?? "",
  };
  const authorities = (spec.trustedCAs ?? []).join("\n");
  if (authorities !== "") data[caFileKey] = authorities;
  for (const processClass of Object.keys(wantedCounts(spec))) {
    for (const isPacked of hasTwoZoneSources(spec) ? [false, true] : [false]) {
      Object.assign(data, classData(cluster, processClass, isPacked));
    }
  }
  return data;
}

function classData(
  cluster: NormalCluster,
  processClass: string,
  isPacked: boolean,
): Record<string, string> {
  const imageTypes = cluster.status?.imageTypes ?? [];
  const variant = confVariant(cluster.spec, isPacked);
  const data: Record<string, string> = {};
  if (imageTypes.includes("unified")) {
    const target = { processClass, imageType: "unified", serverCount: 0, isPacked } as const;
    const json = monitorJson(monitorConfiguration(cluster, target));
    data[monitorConfKey(processClass, "unified", 0, variant)] = json;
  }
  for (const serverCount of imageTypes.includes("split") ? densities(cluster, processClass) : []) {
    const text = splitConfiguration(cluster, { processClass, serverCount, isPacked });
    data[monitorConfKey(processClass, "split", serverCount, variant)] = text;
  }
  return data;
}

/** Pods with another number of servers keep their entry until the last of them is gone. */
function densities(cluster: NormalCluster, processClass: string): readonly number[] {
  const { status } = cluster;
  const seen =
    processClass === "storage"
      ? status?.storageServersPerDisk
      : isLogProcess(processClass)
        ? status?.logServersPerDisk
        : undefined;
  return seen && seen.length > 0 ? seen : [serversPerPod(cluster.spec, processClass)];
}

/** What the hash covers besides the configuration of the pod's own class. */
const sharedKeys: readonly string[] = [
  clusterFileKey,
  runningVersionKey,
  caFileKey,
  sidecarConfKey,
];

export function dynamicConfHash(
  data: Readonly<Record<string, string>>,
  processClass: string,
  imageType: ImageType,
  serverCount: number,
  variant = "",
): string {
  const ownKey = monitorConfKey(processClass, imageType, serverCount, variant);
  const seen: Record<string, string> = {};
  for (const key of [...sharedKeys, ownKey]) {
    const value = data[key];
    if (value !== undefined) seen[key] = value;
  }
  return textsHash(seen);
}

/** The hash for a pod that is about to be made. */
export function dynamicConfHashOf(
  cluster: NormalCluster,
  data: Readonly<Record<string, string>>,
  processClass: string,
  isPacked = false,
): string {
  const { spec } = cluster;
  const servers = serversPerPod(spec, processClass);
  const variant = confVariant(spec, isPacked);
  return dynamicConfHash(data, processClass, imageTypeOf(spec), servers, variant);
}
