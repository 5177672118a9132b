// The clusters that are measured: eight tenths storage, a tenth logs and a tenth stateless; small
// ones have at least three logs and nine stateless processes.
import { apiVersion, foundationDbClusters } from "../src/api/cluster.ts";
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import type { ObjectMeta } from "../src/kube/object.ts";

export const clusterKey = { namespace: "default", name: "bench" };
const groupsPerNode = 20;

export function sampleCluster(groups: number): FoundationDBCluster & { metadata: ObjectMeta } {
  const log = Math.max(3, Math.round(groups / 10));
  const stateless = Math.max(9, Math.round(groups / 10));
  const requests = { cpu: "250m", memory: "512Mi" };
  return {
    apiVersion,
    kind: foundationDbClusters.kind,
    metadata: { ...clusterKey },
    spec: {
      version: "7.3.63",
      processCounts: { storage: groups - log - stateless, log, stateless },
      databaseConfiguration: { redundancy_mode: "double", storage_engine: "ssd-2" },
      processes: {
        general: {
          podTemplate: {
            spec: { containers: [{ name: "foundationdb", resources: { requests } }] },
          },
          volumeClaimTemplate: {
            metadata: {},
            spec: { resources: { requests: { storage: "16G" } } },
          },
        },
      },
    },
  };
}

export function nodesFor(groups: number): number {
  return Math.max(6, Math.ceil(groups / groupsPerNode));
}
