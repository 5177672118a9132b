// Watches every connection of a world and judges it by the network policies that are stored at that moment, as a network that
// enforces them would; written without the code that makes them.
import type { NetworkCaller, NetworkDoor } from "../../src/build/network-policy.ts";
import type { Connection } from "../../src/emulator/pod-network.ts";
import type {
  LabelSelector,
  NetworkPolicy,
  NetworkPolicyPeer,
  Pod,
} from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { seatNamespace } from "../../src/sim/operator-seat.ts";
import type { World } from "../../src/sim/world.ts";

/** As whom the operator's own client appears in the simulated database. */
const operatorIp = "10.255.0.1";
const clusterLabel = "foundationdb.org/fdb-cluster-name";

const podKey = "/pods";
const policyKey = "networking.k8s.io/networkpolicies";

interface Place {
  readonly world: World;
  readonly pod: Stored<Pod>;
}

interface Source {
  readonly ip: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export class NetworkWitness {
  /** "caller to door", as the rows of the table have it. */
  readonly rows = new Set<string>();
  /** Connections that a policy forbids, and those that belong to nothing that is known. */
  readonly denied = new Set<string>();
  readonly strange = new Set<string>();
  /** Judged by a policy, not only seen. */
  judged = 0;
  readonly #known = new Map<string, Connection>();
  readonly #labels = new Map<string, string>();
  /** IP addresses of applications, and of who scrapes metrics. */
  readonly #others: ReadonlyMap<string, NetworkCaller>;
  readonly #worlds: readonly World[];

  constructor(worlds: readonly World[], others: Readonly<Record<string, NetworkCaller>> = {}) {
    this.#worlds = worlds;
    this.#others = new Map(Object.entries(others));
    for (const { network, server } of worlds) {
      network.onConnection = (connection) => this.#see(connection);
      server.context.store.subscribeAll(({ storageKey, object }) => {
        if (this.#concernsNetwork(storageKey, object as unknown as Stored<Pod>)) this.#seeAgain();
      });
    }
  }

  /** Of a policy everything, of a pod its labels. */
  #concernsNetwork(storageKey: string, { metadata }: Stored<Pod>): boolean {
    if (storageKey === policyKey) return true;
    if (storageKey !== podKey) return false;
    const labels = JSON.stringify(metadata.labels);
    const isKnown = this.#labels.get(metadata.uid ?? "") === labels;
    this.#labels.set(metadata.uid ?? "", labels);
    return !isKnown;
  }

  /** Connections last, and are made again when they break. */
  #seeAgain(): void {
    for (const [key, connection] of [...this.#known]) {
      const isPod = connection.from.includes(".") && !this.#others.has(connection.from);
      const isFromGone = isPod && connection.from !== operatorIp && !this.#at(connection.from);
      if (isFromGone || this.#at(connection.host) === undefined) this.#known.delete(key);
      else this.#see(connection);
    }
  }

  #see(connection: Connection): void {
    this.#known.set(`${connection.from} ${connection.host} ${connection.port}`, connection);
    const target = this.#at(connection.host);
    const cluster = target?.pod.metadata.labels?.[clusterLabel];
    if (target === undefined || cluster === undefined) return;
    const caller = this.#callerOf(connection.from, target, cluster);
    const door = doorOf(connection.port);
    const text = `${connection.from} to ${target.pod.metadata.name} port ${connection.port}`;
    if (caller === undefined || door === undefined) {
      this.strange.add(text);
      return;
    }
    this.rows.add(`${caller} to ${door}`);
    // A node always reaches its own pods.
    if (caller === "kubelet") return;
    const policies = this.#policiesOver(target);
    if (policies.length === 0) return;
    this.judged += 1;
    const source = this.#sourceOf(connection.from, target.world);
    const isAllowed = policies.some((policy) => admits(policy, source, connection.port));
    if (!isAllowed) this.denied.add(`${caller}: ${text}`);
  }

  #at(ip: string): Place | undefined {
    for (const world of this.#worlds) {
      const found = list<Pod>(world, podKey).find(({ status }) =>
        status?.podIPs?.some((entry) => entry.ip === ip),
      );
      if (found !== undefined) return { world, pod: found };
    }
    return undefined;
  }

  #callerOf(from: string, target: Place, cluster: string): NetworkCaller | undefined {
    if (from === "kubelet") return "kubelet";
    if (from === "operator" || from === operatorIp) return "operator";
    const source = this.#at(from);
    if (source === undefined) return this.#others.get(from);
    const { labels = {}, namespace } = source.pod.metadata;
    if (labels[clusterLabel] !== undefined) {
      const isOwn =
        labels[clusterLabel] === cluster &&
        namespace === target.pod.metadata.namespace &&
        source.world === target.world;
      return isOwn ? "processes" : "peers";
    }
    const isAgent = Object.keys(labels).some((key) => key.startsWith("foundationdb.org/"));
    return isAgent ? "agents" : this.#others.get(from);
  }

  /** Pods of another Kubernetes cluster are addresses and nothing else. */
  #sourceOf(from: string, world: World): Source {
    if (from === "operator" || from === operatorIp) {
      return { ip: operatorIp, namespace: seatNamespace, labels: {} };
    }
    const place = this.#at(from);
    if (place?.world !== world) return { ip: from };
    const { namespace = "", labels = {} } = place.pod.metadata;
    return { ip: from, namespace, labels };
  }

  #policiesOver({ world, pod }: Place): Stored<NetworkPolicy>[] {
    return list<NetworkPolicy>(world, policyKey).filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.metadata.namespace &&
        spec?.policyTypes?.includes("Ingress") === true &&
        selects(spec.podSelector ?? {}, pod.metadata.labels ?? {}),
    );
  }
}

function list<T>(world: World, key: string): Stored<T>[] {
  return world.server.context.store.list(key, "") as unknown as Stored<T>[];
}

function doorOf(port: number): NetworkDoor | undefined {
  if (port === 8080) return "sidecar";
  if (port === 8081) return "metrics";
  return port >= 4500 && port < 4700 ? "processes" : undefined;
}

function admits({ spec }: NetworkPolicy, source: Source, port: number): boolean {
  return (spec?.ingress ?? []).some(({ from = [], ports = [] }) => {
    const isPort = ports.length === 0 || ports.some((one) => one.port === port);
    return isPort && (from.length === 0 || from.some((peer) => isPeer(peer, source)));
  });
}

/** The policies of these tests are in the namespace "default". */
function isPeer({ ipBlock, podSelector, namespaceSelector }: NetworkPolicyPeer, source: Source) {
  if (ipBlock !== undefined) {
    const [block = "", length = "32"] = ipBlock.cidr.split("/");
    return (
      numberOf(source.ip) >>> (32 - Number(length)) === numberOf(block) >>> (32 - Number(length))
    );
  }
  const { namespace, labels } = source;
  if (namespace === undefined || labels === undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? namespace === "default"
      : selects(namespaceSelector, { "kubernetes.io/metadata.name": namespace });
  return isNamespace && (podSelector === undefined || selects(podSelector, labels));
}

function numberOf(ip: string): number {
  return ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(
      ({ key, operator }) => operator === "Exists" && labels[key] !== undefined,
    )
  );
}
