// A database that wakes is found as it was when it fell asleep: coordinators that are known by names, or by addresses of
// services, need pods that have them. What the spec wants by now follows when it serves. Rules: spec/hibernation.md [HIB12].
import type { RoutingSpec } from "../../api/cluster-options.ts";
import { routingOf } from "../../api/effective.ts";
import type { Hibernation } from "../../api/hibernation.ts";
import { isAvailable } from "../../model/availability.ts";
import type { Snapshot } from "../snapshot.ts";
import { databaseStatus } from "../snapshot.ts";
import { needsNames } from "../view/known-names.ts";

export function withWakingNames(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const hibernation = cluster.status?.hibernation;
  const isServing = isAvailable(databaseStatus(snapshot));
  if (hibernation === undefined || isServing) return snapshot;
  const { routing: _, ...rest } = cluster.spec;
  const routing = wakingRouting(cluster, hibernation);
  return { ...snapshot, cluster: { ...cluster, spec: { ...rest, ...(routing && { routing }) } } };
}

/** Names that the spec had given up may have waited for a window when the database fell asleep: coordinators still have them. */
function wakingRouting(
  cluster: Snapshot["cluster"],
  { routing }: Hibernation,
): RoutingSpec | undefined {
  const { useDnsInClusterFile } = routingOf({ ...cluster.spec, routing: routing ?? {} });
  if (useDnsInClusterFile || !needsNames(cluster, cluster.status?.connectionString ?? "")) {
    return routing;
  }
  return { ...routing, useDNSInClusterFile: true };
}
