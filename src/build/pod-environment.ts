// Environment variables of the containers of a pod. A variable of the user with the same name always wins.
// Carries the rules B49 to B53 of spec/build.md and PACK20 of spec/packing.md.
import { faultDomainOf, needsExplicitListenAddress, routingOf } from "../api/effective.ts";
import type { ClusterSpec } from "../api/cluster.ts";
import type { Container, EnvVar } from "../kube/generated/types.ts";
import { kubernetesClusterKey, noFaultDomainKey } from "../model/fault-domain.ts";
import { annotationKeys } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import type { PodSubject } from "./pod-subject.ts";

export function fromText(name: string, value: string): EnvVar {
  return { name, value };
}

export function fromField(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

export function withEnvironment(container: Container, variables: readonly EnvVar[]): Container {
  const env = [...(container.env ?? [])];
  for (const variable of variables) {
    if (!env.some((present) => present.name === variable.name)) env.push(variable);
  }
  return { ...container, env };
}

/** How many fdbservers the pods of a class run is written into the pod and read back from it. */
export function serversPerPodVariable(processClass: string): string {
  return `${processClass.toUpperCase()}_SERVERS_PER_POD`;
}

/** The variables that the arguments of fdbserver name. */
export function substitutionVariables(spec: ClusterSpec, subject: PodSubject): EnvVar[] {
  const routing = routingOf(spec);
  const podIpPath = routing.podIpFamily === 0 ? "status.podIP" : "status.podIPs";
  const publicIpPath =
    routing.publicIpSource === "service"
      ? `metadata.annotations['${annotationKeys.publicIp}']`
      : podIpPath;
  return [
    fromField("FDB_PUBLIC_IP", publicIpPath),
    ...(needsExplicitListenAddress(spec) ? [fromField("FDB_POD_IP", podIpPath)] : []),
    ...placeVariables(spec, subject.distributionKey ?? ""),
    fromText("FDB_INSTANCE_ID", subject.processGroupID),
  ];
}

/** A packed process group has its zone from its logical fault domain, wherever it runs. */
function placeVariables(spec: ClusterSpec, distributionKey: string): EnvVar[] {
  if (distributionKey !== "") {
    return [fromField("FDB_MACHINE_ID", "spec.nodeName"), fromText("FDB_ZONE_ID", distributionKey)];
  }
  const { key, value, valueFrom } = faultDomainOf(spec);
  if (key === noFaultDomainKey) {
    return [
      fromField("FDB_MACHINE_ID", "metadata.name"),
      fromField("FDB_ZONE_ID", "metadata.name"),
    ];
  }
  const machine = fromField("FDB_MACHINE_ID", "spec.nodeName");
  if (key === kubernetesClusterKey) return [machine, fromText("FDB_ZONE_ID", value)];
  // The user's own variable holds the zone.
  if (valueFrom.startsWith("$")) return [machine];
  return [machine, fromField("FDB_ZONE_ID", valueFrom)];
}

function podDnsName(cluster: NormalCluster, podName: string): string {
  const { name = "", namespace = "" } = cluster.metadata;
  return `${podName}.${name}.${namespace}.svc.${routingOf(cluster.spec).dnsDomain}`;
}

/** Whether a host, or an address, has a name that the headless service of the cluster gives to its pods. */
export function isNameOfService(
  { metadata }: Pick<NormalCluster, "metadata">,
  host: string,
): boolean {
  const { name = "", namespace = "" } = metadata;
  return host.includes(`.${name}.${namespace}.`);
}

/** The DNS name as a variable, where processes shall know it. */
export function dnsVariables(cluster: NormalCluster, podName: string): EnvVar[] {
  if (!routingOf(cluster.spec).definesDnsLocalityFields) return [];
  return [fromText("FDB_DNS_NAME", podDnsName(cluster, podName))];
}
