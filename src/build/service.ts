// The services of a cluster: a headless one that gives pods their DNS names, and one for each process group where the
// public address is that of a service. Carries the rules B19 to B21 of spec/build.md.
import { labelsOf, routingOf, serversPerPod } from "../api/effective.ts";
import type { Service, ServicePort } from "../kube/generated/types.ts";
import { processPort } from "../model/address.ts";
import { podNameOf } from "../model/process-group-id.ts";
import { metadataFor, selectorLabels } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import type { PodSubject } from "./pod-subject.ts";

function ipFamilies(cluster: NormalCluster): { ipFamilies?: string[] } {
  return routingOf(cluster.spec).podIpFamily === 6 ? { ipFamilies: ["IPv6"] } : {};
}

/** Undefined when nothing needs DNS names. */
export function headlessService(cluster: NormalCluster): Service | undefined {
  if (!routingOf(cluster.spec).needsHeadlessService) return undefined;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataFor(cluster, cluster.metadata.name ?? "", {}),
    spec: {
      selector: { ...labelsOf(cluster).matchLabels },
      clusterIP: "None",
      ...ipFamilies(cluster),
    },
  };
}

/** Undefined when processes announce the addresses of their pods. */
export function processGroupService(
  cluster: NormalCluster,
  subject: PodSubject,
): Service | undefined {
  if (routingOf(cluster.spec).publicIpSource !== "service") return undefined;
  const { processClass, processGroupID } = subject;
  const name = podNameOf(cluster.metadata.name ?? "", processClass, processGroupID);
  // Logs never have more than one port pair in services that already run.
  const servers = processClass === "storage" ? serversPerPod(cluster.spec, processClass) : 1;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataFor(cluster, name, { processClass, processGroupID }),
    spec: {
      ports: servicePorts(servers),
      selector: selectorLabels(cluster, { processGroupID }),
      type: "ClusterIP",
      ...ipFamilies(cluster),
      publishNotReadyAddresses: true,
    },
  };
}

function servicePorts(servers: number): ServicePort[] {
  return Array.from({ length: servers }, (_, index) => {
    const suffix = index === 0 ? "" : `-${index + 1}`;
    return [
      { name: `tls${suffix}`, port: processPort(index + 1, true) },
      { name: `non-tls${suffix}`, port: processPort(index + 1, false) },
    ];
  }).flat();
}
