// A database that is brought back from its disks is found as its connection string says: coordinators that are known by names
// need pods that have them. What the spec wants follows when it was seen. Rules: spec/adoption.md [ADO16].
import { isAdopting } from "../../api/adoption.ts";
import { routingOf } from "../../api/effective.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import { needsNames } from "../view/known-names.ts";
import { connectionStringIn } from "../../model/connection-string.ts";
import type { Snapshot } from "../snapshot.ts";

export function withAdoptedNames(snapshot: Snapshot): Snapshot {
  const { cluster, configMap } = snapshot;
  const { spec, status } = cluster;
  if (!isAdopting(cluster) || routingOf(spec).useDnsInClusterFile) return snapshot;
  const connectionString =
    connectionStringIn(spec.seedConnectionString ?? "") ||
    status?.connectionString ||
    (configMap?.data?.[clusterFileKey] ?? "");
  if (!needsNames(cluster, connectionString)) return snapshot;
  const routing = { ...spec.routing, useDNSInClusterFile: true };
  return { ...snapshot, cluster: { ...cluster, spec: { ...spec, routing } } };
}
