// A small cluster for the tests of the builders, with whatever a test wants to change.
import { apiVersion } from "../api/cluster.ts";
import type { ClusterSpec, ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import { normalCluster } from "./normalise.ts";
import type { NormalCluster } from "./normalise.ts";

export function clusterWith(
  spec: Partial<ClusterSpec> = {},
  status: Partial<ClusterStatus> = {},
): NormalCluster {
  return normalCluster(resourceWith(spec, status));
}

export function resourceWith(
  spec: Partial<ClusterSpec> = {},
  status: Partial<ClusterStatus> = {},
): FoundationDBCluster {
  return {
    apiVersion,
    kind: "FoundationDBCluster",
    metadata: { name: "sample", namespace: "ns", uid: "uid-1" },
    spec: { version: "7.3.63", ...spec },
    status: {
      connectionString: "sample:abc@10.0.0.1:4501",
      runningVersion: "7.3.63",
      requiredAddresses: { nonTLS: true },
      hasListenIPsForAllPods: true,
      imageTypes: [spec.imageType ?? "unified"],
      ...status,
    },
  };
}

export const storage1 = { processClass: "storage", processGroupID: "storage-1" };
export const stateless1 = { processClass: "stateless", processGroupID: "stateless-1" };
