// A database that has not been seen yet is found as its connection string says: coordinators that are known by names, or by
// addresses of services, need pods that have them. So it is when it is brought back from its disks, and when the status was
// lost while it slept. What the spec wants follows when it was seen. So it is also when most coordinators lose their pods while
// another wish for them waits. Rules: spec/plan.md [P114], spec/adoption.md [ADO16].
import type { ClusterSpec } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import { isNameOfService } from "../../build/pod-environment.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hostOf } from "../../model/address.ts";
import { isIpv6 } from "../../model/ip-address.ts";
import { isAvailable } from "../../model/availability.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { knownConnectionString } from "../view/known-connection-string.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { ownTimeMs } from "../view/server-time.ts";

/** The API server writes times in whole seconds. */
const resolutionMs = 1_000;
/** In which a server starts in its pod. */
const startMs = 60_000;

export function withNamesUntilSeen(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const isCreated = cluster.status?.configured === true;
  if (!isCreated && isAvailable(databaseStatus(snapshot))) return snapshot;
  const hosts = coordinatorsOf(knownConnectionString(snapshot)).map(hostOf);
  const named = hosts.filter((host) => isNameOfService(cluster, host));
  const served = hosts.filter((host) => isAddressOfService(snapshot, host));
  const { definesDnsLocalityFields, publicIpSource } = routingOf(cluster.spec);
  const needsNames = !definesDnsLocalityFields && named.length > 0;
  const needsServices = publicIpSource !== "service" && served.length > 0;
  const families = named.length > 0 ? familiesOfNames(snapshot) : served.map(familyOf);
  const family = otherFamily(snapshot, families) ?? familyOfPods(snapshot);
  if (!needsNames && !needsServices && family === undefined) return snapshot;
  const known = [...named.map(firstLabel), ...served];
  if (hosts.length === 0) return snapshot;
  if (isCreated && (known.length === 0 || areFound(snapshot, known))) return snapshot;
  const isNamed = needsNames || (family !== undefined && named.length > 0);
  const routing: ClusterSpec["routing"] = {
    ...cluster.spec.routing,
    ...(isNamed && { useDNSInClusterFile: true }),
    ...(needsServices && { publicIPSource: "service" }),
    ...(family && { podIPFamily: family }),
  };
  return { ...snapshot, cluster: { ...cluster, spec: { ...cluster.spec, routing } } };
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

/** A service leads to the addresses of its own family. */
function familyOf(host: string): 4 | 6 {
  return isIpv6(host) ? 6 : 4;
}

/** By which coordinators are found, where the spec wants another one by now. */
function otherFamily({ cluster }: Snapshot, known: readonly (4 | 6)[]): 4 | 6 | undefined {
  const { podIpFamily } = routingOf(cluster.spec);
  const [family, ...more] = new Set(known);
  if (podIpFamily === 0 || family === undefined || more.length > 0) return undefined;
  return family === podIpFamily ? undefined : family;
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

/**
 * Whether most of them run as they are known and are reached. A status may be older than the loss of the pods, and then says
 * nothing about those that came in their place: what these start with would change if the wish counted already. Where the
 * database was not asked yet, what has begun goes on.
 */
function areFound(snapshot: Snapshot, hosts: readonly string[]): boolean {
  const status = databaseStatus(snapshot);
  const isQuorum = status?.client?.coordinators?.quorum_reachable === true;
  const isReached = status === undefined ? hasBegun(snapshot) : isQuorum || isAvailable(status);
  if (!isReached) return false;
  const { database, nowMs } = snapshot;
  const provedMs = database.kind === "seen" ? database.observedMs : nowMs - startMs;
  const proved = [...snapshot.pods.values()].filter(({ status: { startTime } = {} }) => {
    const startedMs = ownTimeMs(snapshot, startTime);
    return startedMs === undefined || startedMs + resolutionMs <= provedMs;
  });
  const known = new Set(proved.flatMap((pod) => hostsOf(snapshot, pod)));
  return hosts.filter((host) => known.has(host)).length * 2 > hosts.length;
}

/** A pod is as the spec wants it, in what others may still lack. */
function hasBegun(snapshot: Snapshot): boolean {
  const { definesDnsLocalityFields, publicIpSource, podIpFamily } = routingOf(
    snapshot.cluster.spec,
  );
  return [...snapshot.pods.values()].some((pod) => {
    const { subdomain } = pod.spec ?? {};
    const source = pod.metadata.annotations?.[annotationKeys.publicIpSource] || "pod";
    return (
      (subdomain !== undefined) === definesDnsLocalityFields &&
      source === publicIpSource &&
      (podIpFamily === 0 || shapeOfPod(snapshot, pod).ipFamily === podIpFamily)
    );
  });
}

/** Its addresses, and its name where it has one. */
function hostsOf(snapshot: Snapshot, pod: Stored<Pod>): readonly string[] {
  const { hosts, isDeleting } = shapeOfPod(snapshot, pod);
  if (isDeleting || pod.status?.phase !== "Running") return [];
  return pod.spec?.subdomain === undefined ? hosts : [...hosts, pod.metadata.name ?? ""];
}

function isAddressOfService({ services }: Snapshot, host: string): boolean {
  return [...services.values()].some(
    ({ spec }) => spec?.clusterIP === host || spec?.clusterIPs?.includes(host) === true,
  );
}
