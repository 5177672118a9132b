// Volumes of a pod and their places in its containers; a volume or mount of the user with the same name stays as it is.
// Carries the rules B56 and B57 of spec/build.md.
import { imageTypeOf, serversPerPod } from "../api/effective.ts";
import type { Container, Volume } from "../kube/generated/types.ts";
import { isStateful } from "../model/process-class.ts";
import { isPacked } from "../model/process-group.ts";
import { volumeClaimNameOf } from "../model/process-group-id.ts";
import {
  caFileKey,
  clusterFileKey,
  configMapName,
  confVariant,
  monitorConfKey,
} from "./config-map.ts";
import type { NormalCluster } from "./normalise.ts";
import type { PodSubject } from "./pod-subject.ts";

export const traceDirectory = "/var/log/fdb-trace-logs";

export const mounts = {
  data: ["data", "/var/fdb/data"],
  traces: ["fdb-trace-logs", traceDirectory],
  sharedBinaries: ["shared-binaries", "/var/fdb/shared-binaries"],
  configMapOfUnified: ["config-map", "/var/dynamic-conf"],
  configMapOfSidecar: ["config-map", "/var/input-files"],
  dynamicConf: ["dynamic-conf", "/var/dynamic-conf"],
  dynamicConfOfSidecar: ["dynamic-conf", "/var/output-files"],
} as const satisfies Record<string, readonly [string, string]>;

export function withMounts(
  container: Container,
  wanted: readonly (readonly [string, string])[],
): Container {
  const volumeMounts = [...(container.volumeMounts ?? [])];
  for (const [name, mountPath] of wanted) {
    if (!volumeMounts.some((mount) => mount.name === name)) volumeMounts.push({ name, mountPath });
  }
  return { ...container, volumeMounts };
}

export function podVolumes(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  given: readonly Volume[],
): Volume[] {
  const isUnified = imageTypeOf(cluster.spec) === "unified";
  const wanted: Volume[] = [
    isStateful(subject.processClass)
      ? { name: "data", persistentVolumeClaim: { claimName: volumeClaimNameOf(podName) } }
      : { name: "data", emptyDir: {} },
    { name: isUnified ? "shared-binaries" : "dynamic-conf", emptyDir: {} },
    configMapVolume(cluster, subject),
    { name: "fdb-trace-logs", emptyDir: {} },
  ];
  const volumes = [...given];
  for (const volume of wanted) {
    if (!volumes.some((present) => present.name === volume.name)) volumes.push(volume);
  }
  return volumes;
}

function configMapVolume(cluster: NormalCluster, subject: PodSubject): Volume {
  const { processClass } = subject;
  const variant = confVariant(cluster.spec, isPacked(subject));
  const imageType = imageTypeOf(cluster.spec);
  const servers = serversPerPod(cluster.spec, processClass);
  const items = [
    {
      key: monitorConfKey(processClass, imageType, servers, variant),
      path: imageType === "unified" ? "config.json" : "fdbmonitor.conf",
    },
    { key: clusterFileKey, path: "fdb.cluster" },
  ];
  if ((cluster.spec.trustedCAs ?? []).length > 0) items.push({ key: caFileKey, path: "ca.pem" });
  return {
    name: "config-map",
    configMap: { name: configMapName(cluster.metadata.name ?? ""), items },
  };
}
