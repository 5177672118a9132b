// A database that has not been seen yet is found as its connection string says: coordinators that are known by names, or by
// addresses of services, need pods that have them. So it is when it is brought back from its disks, and when the status was
// lost while it slept. What the spec wants follows when it was seen. So it is also when most coordinators lose their pods while
// another wish for them waits. Rules: spec/plan.md [P114], spec/adoption.md [ADO16].
import type { ClusterSpec } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import { isNameOfService } from "../../build/pod-environment.ts";
import { hostOf } from "../../model/address.ts";
import { familyOfIp } from "../../model/ip-address.ts";
import { isAvailable } from "../../model/availability.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { knownConnectionString } from "../view/known-connection-string.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { isOtherFamily } from "./family-of-service.ts";
import { areFound } from "./found-coordinators.ts";

export function withNamesUntilSeen(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const isCreated = cluster.status?.configured === true;
  if (!isCreated && isAvailable(databaseStatus(snapshot))) return snapshot;
  const hosts = snapshot.memory.onceOfText(hostsIn, knownConnectionString(snapshot));
  const named = hosts.filter((host) => isNameOfService(cluster, host));
  const served = hosts.filter((host) => serviceOf(snapshot, host) !== undefined);
  const isKnownOtherwise = named.length === 0 && served.length === 0;
  if (hosts.length === 0 || (isCreated && isKnownOtherwise)) return snapshot;
  const { definesDnsLocalityFields, publicIpSource } = routingOf(cluster.spec);
  const needsNames = !definesDnsLocalityFields && named.length > 0;
  const needsServices = publicIpSource !== "service" && served.length > 0;
  const families = named.length > 0 ? familiesOfNames(snapshot) : served.map(familyOfIp);
  const family = otherFamily(snapshot, families) ?? familyOfPods(snapshot);
  if (!needsNames && !needsServices && family === undefined) return snapshot;
  const known = [
    ...named.map((host) => ({ host, podName: firstLabel(host), shownAs: firstLabel(host) })),
    ...served.map((host) => ({ host, podName: serviceOf(snapshot, host) ?? "", shownAs: host })),
  ];
  if (isCreated && areFound(snapshot, hosts, known)) return snapshot;
  const isNamed = needsNames || (family !== undefined && named.length > 0);
  const routing: ClusterSpec["routing"] = {
    ...cluster.spec.routing,
    ...(isNamed && { useDNSInClusterFile: true }),
    ...(needsServices && { publicIPSource: "service" }),
    ...(family && { podIPFamily: family }),
  };
  return { ...snapshot, cluster: { ...cluster, spec: { ...cluster.spec, routing } } };
}

function hostsIn(connectionString: string): readonly string[] {
  return coordinatorsOf(connectionString).map(hostOf);
}

/** The headless service calls pods by their names. */
function firstLabel(host: string): string {
  return host.split(".", 1)[0] ?? "";
}

/** For which they lead to pods. */
function familiesOfNames({ cluster, services }: Snapshot): (4 | 6)[] {
  const { ipFamilies = [] } = services.get(cluster.metadata.name ?? "")?.spec ?? {};
  return ipFamilies.map((family) => (family === "IPv6" ? 6 : 4));
}

/** By which coordinators are found, where the spec wants another one by now. */
function otherFamily(snapshot: Snapshot, known: readonly (4 | 6)[]): 4 | 6 | undefined {
  const [family, ...more] = new Set(known);
  if (family === undefined || more.length > 0) return undefined;
  return isOtherFamily(snapshot, family) ? family : undefined;
}

/** The one that pods were made for, where the spec leaves it to Kubernetes by now: a unified pod could not take that configuration. */
function familyOfPods(snapshot: Snapshot): 4 | 6 | undefined {
  if (routingOf(snapshot.cluster.spec).podIpFamily !== 0) return undefined;
  const shapes = [...snapshot.pods.values()].map((pod) => shapeOfPod(snapshot, pod));
  // Where Kubernetes gives no address of the family, the wish is a correction.
  const reached = shapes.filter(({ hosts }) => hosts.length > 0);
  const [family, ...more] = new Set(reached.map(({ ipFamily }) => ipFamily));
  return more.length === 0 && (family === 4 || family === 6) ? family : undefined;
}

/** The service of a pod has its name. */
function serviceOf({ services }: Snapshot, host: string): string | undefined {
  return [...services.values()].find(
    ({ spec }) => spec?.clusterIP === host || spec?.clusterIPs?.includes(host) === true,
  )?.metadata.name;
}
