// A database that has not been seen yet is found as its connection string says: coordinators that are known by names, or by
// addresses of services, need pods that have them. So it is when it is brought back from its disks, and when the status was
// lost while it slept. What the spec wants follows when it was seen. Rules: spec/plan.md [P114], spec/adoption.md [ADO16].
import { isAdopting } from "../../api/adoption.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import { hostOf } from "../../model/address.ts";
import { isAvailable } from "../../model/availability.ts";
import { connectionStringIn, coordinatorsOf } from "../../model/connection-string.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { needsNames } from "../view/known-names.ts";

export function withNamesUntilSeen(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  if (cluster.status?.configured === true || isAvailable(databaseStatus(snapshot))) return snapshot;
  const { definesDnsLocalityFields, publicIpSource } = routingOf(cluster.spec);
  if (definesDnsLocalityFields && publicIpSource === "service") return snapshot;
  const connectionString = knownConnectionString(snapshot);
  const isNamed = !definesDnsLocalityFields && needsNames(cluster, connectionString);
  const hosts = coordinatorsOf(connectionString).map(hostOf);
  const needsServices =
    publicIpSource !== "service" && hosts.some((host) => isAddressOfService(snapshot, host));
  if (!isNamed && !needsServices) return snapshot;
  const routing: ClusterSpec["routing"] = {
    ...cluster.spec.routing,
    ...(isNamed && { useDNSInClusterFile: true }),
    ...(needsServices && { publicIPSource: "service" }),
  };
  return { ...snapshot, cluster: { ...cluster, spec: { ...cluster.spec, routing } } };
}

/** What a person corrects counts for a database that comes back from its disks. */
function knownConnectionString({ cluster, configMap }: Snapshot): string {
  const { spec, status } = cluster;
  return (
    (isAdopting(cluster) && connectionStringIn(spec.seedConnectionString ?? "")) ||
    status?.connectionString ||
    (configMap?.data?.[clusterFileKey] ?? "")
  );
}

function isAddressOfService({ services }: Snapshot, host: string): boolean {
  return [...services.values()].some(
    ({ spec }) => spec?.clusterIP === host || spec?.clusterIPs?.includes(host) === true,
  );
}
