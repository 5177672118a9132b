// The connection string as it is known before the database itself has told it. Rules: spec/plan.md [P92], spec/adoption.md [ADO4].
import { isAdopting } from "../../api/adoption.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import { connectionStringIn } from "../../model/connection-string.ts";
import type { Snapshot } from "../snapshot.ts";

/** What the pods are told; empty where there is no ConfigMap or nothing in it. */
export function connectionStringInConfigMap({ configMap }: Pick<Snapshot, "configMap">): string {
  return connectionStringIn(configMap?.data?.[clusterFileKey] ?? "");
}

/**
 * The status knows it; the ConfigMap remembers what a lost status forgot, and a person may tell what both have lost. What a
 * person corrects counts first for a database that comes back from its disks and has not been seen.
 */
export function knownConnectionString({
  cluster,
  configMap,
}: Pick<Snapshot, "cluster" | "configMap">): string {
  const seed = connectionStringIn(cluster.spec.seedConnectionString ?? "");
  return (
    (isAdopting(cluster) && seed) ||
    connectionStringIn(cluster.status?.connectionString ?? "") ||
    connectionStringInConfigMap({ configMap }) ||
    seed
  );
}
