// A whole world in one process: an emulated Kubernetes, a simulated FoundationDB and the operator between them. On a
// VirtualClock it is the simulator, on the machine's clock it is `npm start`. Several worlds on one ground are one
// database over several Kubernetes clusters. Rules: spec/world.md, spec/multi.md [MU1].
import { customResourceDefinitions as ourDefinitions } from "../api/crd.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { createApiServer } from "../emulator/api-server.ts";
import type { ApiServer } from "../emulator/api-server.ts";
import { startControllers } from "../emulator/controller-start.ts";
import type { EmulatedNode, KubeletOptions } from "../emulator/kubelet-core.ts";
import { startKubelet } from "../emulator/kubelet.ts";
import type { RunningKubelet } from "../emulator/kubelet.ts";
import type { EmulatedPodNetwork } from "../emulator/pod-network.ts";
import { startScheduler } from "../emulator/scheduler.ts";
import type { Clock } from "../env/clock.ts";
import { KubeClient } from "../kube/client.ts";
import type { PodStreams } from "../kube/pod-exec.ts";
import { customResourceDefinitions, storageClasses } from "../kube/resource.ts";
import type { KubeTransport } from "../kube/transport.ts";
import type { Operator } from "../operate/operator.ts";
import { standardImages } from "../images/standard-images.ts";
import type { ProcessRuntime } from "../pod/process-runtime.ts";
import type { SimulatedFdb } from "./database/simulated-fdb.ts";
import { createGround } from "./ground.ts";
import type { Ground, GroundOptions } from "./ground.ts";
import { operatorSeat } from "./operator-seat.ts";
import type { OperatorSeat, OperatorSeatOptions } from "./operator-seat.ts";
import type { Trace } from "./trace.ts";
import { standardStorageClass } from "./standard-storage.ts";

/** One Kubernetes cluster and its operator. */
export interface SiteOptions extends OperatorSeatOptions {
  /** Tells it from others on the same ground: part of its nodes' names, of its traces and of its DNS domain. */
  name?: string;
  /** How many, spread over the zones, or these very nodes. */
  nodes?: number | readonly EmulatedNode[];
  zones?: number;
  /** Of every node; see EmulatedNode. */
  nodeCapacity?: Readonly<Record<string, string>>;
  kubelet?: Partial<Omit<KubeletOptions, "nodes">>;
  /** Runs the servers instead of the simulated database. */
  runtime?: ProcessRuntime;
  /** Its part of the network; see address-block.ts. */
  addressBlock?: number;
  /** Fills the API server before anything else is there. */
  prepare?: (server: ApiServer) => void;
  /** The first operator begins when `startOperator` is called. */
  isOperatorHeld?: boolean;
}

export type WorldOptions = GroundOptions & SiteOptions;

export interface World {
  readonly name: string;
  readonly addressBlock: number;
  readonly clock: Clock;
  readonly server: ApiServer;
  /** Of a person at the keyboard: full rights, not counted as the operator's. */
  readonly client: KubeClient;
  readonly transport: KubeTransport;
  /** What runs inside pods, for the same person. */
  readonly pods: PodStreams;
  readonly network: EmulatedPodNetwork;
  readonly kubelet: RunningKubelet;
  readonly fdb: SimulatedFdb;
  /** The operator that runs, or ran last. */
  readonly operator: Operator;
  /** Tells the operator to stop and waits until it has. */
  stopOperator(): Promise<void>;
  /** Starts another operator after the one before has stopped, as a new pod of its Deployment would. */
  startOperator(): Operator;
  /** Resolves when nodes are registered, the CRDs are served and the operator works. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

/** Starts everything; in virtual time the caller must let the clock run for `started` to resolve. */
export function startWorld(options: WorldOptions): World {
  return startWorldOn(createGround(options), options);
}

export function startWorldOn(ground: Ground, options: SiteOptions): World {
  const { clock, network, fdb, trace } = ground;
  const { name = "", addressBlock = 0 } = options;
  const ending = new AbortController();
  const { signal } = ending;
  const partName = (part: string): string => (name === "" ? part : `${name} ${part}`);
  const random = (part: string) => ground.random(partName(part));
  const log = (part: string) => ground.logOf(partName(part));
  const server = createApiServer({
    ...{ clock, addressBlock, random: random("api-server"), log: log("api-server") },
  });
  options.prepare?.(server);
  const clientOf = (userAgent: string): KubeClient =>
    new KubeClient(server.transport(userAgent), { userAgent });
  const client = clientOf("person");
  if (trace !== undefined) traceChanges(server, trace, partName("kubernetes"));
  const part = (title: string) => ({
    ...{ client: clientOf(title), clock, random: random(title), log: log(title), signal },
  });
  const kubelet = startKubelet({
    ...part("kubelet"),
    runtime: options.runtime ?? fdb.runtime,
    network,
    images: standardImages(),
    options: {
      ...(name === "" ? {} : { dnsDomain: dnsDomainOf(name) }),
      ...options.kubelet,
      addressBlock,
      nodes: siteNodes(options),
    },
  });
  server.context.logs = (...asked) => kubelet.logs(...asked);
  server.context.streams = kubelet.streams;
  const scheduler = startScheduler(part("kube-scheduler"));
  const controllers = startControllers(part("kube-controller-manager"));
  const installed = installDefinitions(client);
  const seat = operatorSeat(options, {
    ...{ clock, network, admin: fdb.admin, log: log("operator") },
    random: (number) => random(number === 1 ? "operator" : `operator ${number}`),
    transport: () => server.transport("fdb-operator"),
    noteAction: (text, error) => trace?.append(partName("operator"), text, error),
  });
  const starting: Promise<void>[] = [
    ...[installed, kubelet.started, scheduler.started, controllers.started],
    ...(options.isOperatorHeld === true ? [] : [seat.start().started]),
  ];
  return {
    ...{ name, addressBlock, clock, server, client, network, kubelet, fdb },
    started: Promise.all(starting).then(() => {}),
    get operator() {
      return seat.latest();
    },
    transport: server.transport("person"),
    pods: server.pods("person"),
    startOperator: () => seat.start(),
    stopOperator: () => seat.stop(),
    stop: () => stopWorld(ending, server, seat),
  };
}

async function stopWorld(
  ending: AbortController,
  server: ApiServer,
  seat: OperatorSeat,
): Promise<void> {
  ending.abort();
  const stopped = seat.stop();
  server.stop();
  await stopped;
}

/** Names of pods resolve in the clusters of others only when no two clusters have one domain. */
export function dnsDomainOf(name: string): string {
  return `${name}.local`;
}

/** No two clusters on one ground have a node or a zone of the same name. */
export function siteNodes({
  nodes = 6,
  zones = 3,
  nodeCapacity: capacity,
  name = "",
}: Pick<SiteOptions, "nodes" | "zones" | "nodeCapacity" | "name">): readonly EmulatedNode[] {
  if (typeof nodes !== "number") return nodes;
  const prefix = name === "" ? "" : `${name}-`;
  return emulatedNodes(nodes, zones, capacity).map((node) => ({
    ...node,
    name: `${prefix}${node.name}`,
    zone: `${prefix}${node.zone}`,
  }));
}

export function emulatedNodes(
  count: number,
  zones: number,
  capacity?: Readonly<Record<string, string>>,
): EmulatedNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    zone: `zone-${(index % zones) + 1}`,
    ...(capacity === undefined ? {} : { capacity }),
  }));
}

/** Every change of every object is part of the history. */
function traceChanges(server: ApiServer, trace: Trace, source: string): void {
  server.context.store.subscribeAll(({ type, storageKey, namespace, name, revision, object }) => {
    const uid = (object["metadata"] as { uid?: string }).uid;
    trace.append(source, `${type} ${storageKey} ${namespace}/${name} ${revision}`, uid);
  });
}

async function installDefinitions(client: KubeClient): Promise<void> {
  for (const definition of ourDefinitions) {
    await client.create(customResourceDefinitions, definition);
  }
  await client.create(storageClasses, standardStorageClass);
}

/** Whether the newest generation is in force. */
export function isReconciled(cluster: FoundationDBCluster): boolean {
  return (
    cluster.metadata.generation !== undefined &&
    cluster.status?.generations?.reconciled === cluster.metadata.generation
  );
}
