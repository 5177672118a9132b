// Who talks to the pods of a database, as one table: the NetworkPolicy of a cluster, the page of the manual and the test that
// compares it with the connections of a whole world are made of it. Only what comes in is limited, so names, the API server and
// object stores stay within reach. Rules: spec/network.md [NET1]-[NET6].
import type { NamedCluster } from "../api/effective.ts";
import { serversPerPod } from "../api/effective.ts";
import { mostOf } from "../env/long-lists.ts";
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { processPort } from "../model/address.ts";
import { metricsPort, sidecarPort } from "../model/pod-ports.ts";
import { processClasses } from "../model/process-class.ts";
import { agentLabel } from "./backup-deployment.ts";
import { commandForLabel } from "./command-pod.ts";
import { evictionSelector } from "./disruption-budget.ts";
import { metadataFor } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";

/** What a pod of a database listens on. */
export type NetworkDoor = "processes" | "sidecar" | "metrics";

export type NetworkCaller =
  | "processes"
  | "operator"
  | "agents"
  | "peers"
  | "clients"
  | "metrics"
  | "kubelet";

export interface NetworkRow {
  readonly from: NetworkCaller;
  readonly to: NetworkDoor;
  /** For people: who that is. */
  readonly who: string;
  readonly why: string;
  /** For people: by what the policy knows them. */
  readonly knownBy: string;
  /** Kubernetes never keeps the node of a pod from it. */
  readonly needsNoRule?: true;
}

export const networkTable: readonly NetworkRow[] = [
  {
    ...{ from: "processes", to: "processes", who: "the processes of the cluster" },
    why: "Every process talks to every other, and so do fdbcli and tools inside their pods.",
    knownBy: "the labels of its pods",
  },
  {
    ...{ from: "operator", to: "processes", who: "the operator" },
    why: "It reads the status, changes the database, and looks at certificates.",
    knownBy: "`operator`; the namespace that it runs in when absent",
  },
  {
    ...{ from: "agents", to: "processes", who: "agents and commands of backups and restores" },
    why: "They read and write the database.",
    knownBy: `the labels \`${agentLabel}\` and \`${commandForLabel}\` in the same namespace`,
  },
  {
    ...{ from: "peers", to: "processes", who: "the rest of the database" },
    why: "Processes and operators of its other resources.",
    knownBy: "`peers`",
  },
  {
    ...{ from: "clients", to: "processes", who: "applications" },
    why: "They use the database.",
    knownBy: "`clients`",
  },
  {
    ...{ from: "operator", to: "sidecar", who: "the operator" },
    why: "Split image: it asks the sidecar for its files and has them copied.",
    knownBy: "`operator`; the namespace that it runs in when absent",
  },
  {
    ...{ from: "kubelet", to: "sidecar", who: "the kubelet" },
    why: "Split image: the probe of the sidecar.",
    knownBy: "Kubernetes: a node always reaches its own pods",
    needsNoRule: true,
  },
  {
    ...{ from: "metrics", to: "metrics", who: "Prometheus" },
    why: "Unified image: metrics of the monitor.",
    knownBy: "`metrics`",
  },
];

/** Where everybody else is; the pods of the cluster know each other. */
export interface NetworkSurroundings {
  /** Of the operator itself; undefined when it does not know. */
  readonly operatorNamespace: string | undefined;
  /** The most servers of a pod that is there. */
  readonly serversMaximum: number;
  /** Pods of the cluster are there that do not carry its labels yet. */
  readonly hasStrangePods: boolean;
}

/** What every namespace carries; nobody can give it to another. */
const namespaceNameLabel = "kubernetes.io/metadata.name";

/** Undefined when nobody says where the operator is: a policy without it would shut it out. */
export function operatorPeers(
  { spec }: NamedCluster,
  namespace: string | undefined,
): readonly NetworkPolicyPeer[] | undefined {
  const named = spec.networkPolicy?.operator;
  if (named !== undefined && named.length > 0) return named;
  if (namespace === undefined) return undefined;
  return [{ namespaceSelector: { matchLabels: { [namespaceNameLabel]: namespace } } }];
}

/** The one that a policy of ours names, unless the spec names it otherwise. */
export function operatorNamespaceIn({ spec }: NetworkPolicy): string | undefined {
  const [processes] = spec?.ingress ?? [];
  // After the processes themselves, in the order of the table.
  return processes?.from?.[1]?.namespaceSelector?.matchLabels?.[namespaceNameLabel];
}

function callerPeers(
  cluster: NamedCluster,
  around: NetworkSurroundings,
  caller: NetworkCaller,
): readonly NetworkPolicyPeer[] {
  const wish = cluster.spec.networkPolicy ?? {};
  const exists = (key: string): NetworkPolicyPeer => ({
    podSelector: { matchExpressions: [{ key, operator: "Exists" }] },
  });
  switch (caller) {
    case "processes":
      // Until all pods have their labels, every pod of the namespace may be one of them.
      return [{ podSelector: around.hasStrangePods ? {} : evictionSelector(cluster) }];
    case "operator":
      return operatorPeers(cluster, around.operatorNamespace) ?? [];
    case "agents":
      return [exists(agentLabel), exists(commandForLabel)];
    case "peers":
    case "clients":
    case "metrics":
      return wish[caller] ?? [];
    case "kubelet":
      return [];
  }
}

/** Both of every process: a switch between TLS and plain connections never meets a closed port. */
function doorPorts(
  { spec }: NamedCluster,
  { serversMaximum }: NetworkSurroundings,
  door: NetworkDoor,
): NetworkPolicyPort[] {
  const tcp = (port: number): NetworkPolicyPort => ({ port, protocol: "TCP" });
  if (door === "sidecar") return [tcp(sidecarPort)];
  if (door === "metrics") return [tcp(metricsPort)];
  const wanted = processClasses.map((name) => serversPerPod(spec, name));
  const servers = mostOf(wanted, Math.max(1, serversMaximum));
  return Array.from({ length: servers }, (_, index) => index + 1).flatMap((number) =>
    [processPort(number, true), processPort(number, false)].map(tcp),
  );
}

const doors: readonly NetworkDoor[] = ["processes", "sidecar", "metrics"];

/** A rule for each port that somebody may use: one without anybody would let everybody in. */
export function networkPolicySpec(
  cluster: NamedCluster,
  around: NetworkSurroundings,
): NetworkPolicySpec {
  const ingress = doors.flatMap((door) => {
    const rows = networkTable.filter(({ to, needsNoRule }) => to === door && needsNoRule !== true);
    const from = rows.flatMap((row) => callerPeers(cluster, around, row.from));
    return from.length === 0 ? [] : [{ from, ports: doorPorts(cluster, around, door) }];
  });
  return { podSelector: evictionSelector(cluster), policyTypes: ["Ingress"], ingress };
}

export function networkPolicy(
  cluster: NormalCluster,
  spec: NetworkPolicySpec,
): Stored<NetworkPolicy> {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataFor(cluster, cluster.metadata.name ?? "", {}),
    spec,
  };
}
