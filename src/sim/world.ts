// A whole world in one process: an emulated Kubernetes, a simulated FoundationDB and the operator between them. On a
// VirtualClock it is the simulator, on the machine's clock it is `npm start`. Rules: spec/world.md.
import { customResourceDefinitions as ourDefinitions } from "../api/crd.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { createApiServer } from "../emulator/api-server.ts";
import type { ApiServer } from "../emulator/api-server.ts";
import { startControllers } from "../emulator/controller-start.ts";
import type { EmulatedNode, KubeletOptions } from "../emulator/kubelet-core.ts";
import { startKubelet } from "../emulator/kubelet.ts";
import type { RunningKubelet } from "../emulator/kubelet.ts";
import { createPodNetwork } from "../emulator/pod-network.ts";
import type { EmulatedPodNetwork } from "../emulator/pod-network.ts";
import { startScheduler } from "../emulator/scheduler.ts";
import type { Clock } from "../env/clock.ts";
import { keyedRandom } from "../env/keyed-random.ts";
import { silentLog } from "../env/log.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import { KubeClient } from "../kube/client.ts";
import type { RequestRecord } from "../kube/client.ts";
import { customResourceDefinitions, storageClasses } from "../kube/resource.ts";
import type { KubeTransport } from "../kube/transport.ts";
import type { Activity } from "../operate/activity.ts";
import { startOperator } from "../operate/operator.ts";
import type { Operator, OperatorInput, OperatorOptions } from "../operate/operator.ts";
import { createSimulatedFdb } from "./database/simulated-fdb.ts";
import type { SimulatedFdb, SimulatedFdbOptions } from "./database/simulated-fdb.ts";
import { traceLog } from "./trace-log.ts";
import type { Trace } from "./trace.ts";

export interface WorldOptions {
  clock: Clock;
  seed: number;
  /** How many, spread over the zones, or these very nodes. */
  nodes?: number | readonly EmulatedNode[];
  zones?: number;
  /** Of every node; see EmulatedNode. */
  nodeCapacity?: Readonly<Record<string, string>>;
  /** Records the history; logs go there too unless `log` is given. */
  trace?: Trace;
  log?: Log;
  kubelet?: Partial<Omit<KubeletOptions, "nodes">>;
  database?: Partial<Pick<SimulatedFdbOptions, "timings" | "initialBytes" | "supportedVersions">>;
  operator?: OperatorOptions;
  /** Stands between the operator and the API server; called at each start of an operator. */
  wrapTransport?: (transport: KubeTransport) => KubeTransport;
  /** Stands between the operator and the database. */
  wrapAdmin?: (admin: AdminClientFactory) => AdminClientFactory;
  onActivity?: (activity: Activity) => void;
  onRequest?: (record: RequestRecord) => void;
  /** Only for tests that show what goes wrong without a check. */
  disabledChecks?: OperatorInput["disabledChecks"];
}

export interface World {
  readonly clock: Clock;
  readonly server: ApiServer;
  /** Of a person at the keyboard: full rights, not counted as the operator's. */
  readonly client: KubeClient;
  readonly transport: KubeTransport;
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
  const { clock, seed, trace } = options;
  const ending = new AbortController();
  const { signal } = ending;
  const random = (name: string) => keyedRandom(seed, name);
  const logOf = (source: string): Log =>
    options.log?.with({ source }) ?? (trace === undefined ? silentLog : traceLog(trace, source));
  const server = createApiServer({ clock, random: random("api-server"), log: logOf("api-server") });
  const clientOf = (userAgent: string): KubeClient =>
    new KubeClient(server.transport(userAgent), { userAgent });
  const client = clientOf("person");
  const network = createPodNetwork(clock);
  const fdb = createSimulatedFdb({
    clock,
    random: random("database"),
    resolver: network,
    trace: (line) => trace?.append("database", line),
    ...options.database,
  });
  if (trace !== undefined) traceChanges(server, trace);
  const part = (name: string) => ({
    client: clientOf(name),
    clock,
    random: random(name),
    log: logOf(name),
    signal,
  });
  const kubelet = startKubelet({
    ...part("kubelet"),
    runtime: fdb.runtime,
    network,
    options: {
      ...options.kubelet,
      nodes: nodesOf(options),
    },
  });
  const scheduler = startScheduler(part("kube-scheduler"));
  const controllers = startControllers(part("kube-controller-manager"));
  const installed = installDefinitions(client);
  const operators = operatorStarter({ ...options, server, fdb, network, logOf, random });
  operators.start();
  const started = Promise.all([
    installed,
    kubelet.started,
    scheduler.started,
    controllers.started,
    operators.latest().started,
  ]).then(() => {});
  return {
    ...{ clock, server, client, network, kubelet, fdb, started },
    get operator() {
      return operators.latest();
    },
    transport: server.transport("person"),
    startOperator: operators.start,
    stopOperator: operators.stop,
    async stop() {
      ending.abort();
      const stopped = operators.stop();
      server.stop();
      await stopped;
    },
  };
}

interface OperatorParts extends WorldOptions {
  server: ApiServer;
  fdb: SimulatedFdb;
  network: EmulatedPodNetwork;
  logOf: (source: string) => Log;
  random: (name: string) => Random;
}

/** Operators one after the other; each draws its own chances, as a new process would. */
function operatorStarter(parts: OperatorParts) {
  const { server, fdb, network, clock, trace } = parts;
  let number = 0;
  let ending = new AbortController();
  let operator: Operator | undefined;
  const latest = (): Operator => {
    if (operator === undefined) throw new Error("no operator has been started");
    return operator;
  };
  const start = (): Operator => {
    number += 1;
    ending = new AbortController();
    const transport = server.transport("fdb-operator");
    operator = startOperator({
      transport: parts.wrapTransport?.(transport) ?? transport,
      admin: parts.wrapAdmin?.(fdb.admin) ?? fdb.admin,
      podNetwork: network,
      clock,
      random: parts.random(number === 1 ? "operator" : `operator ${number}`),
      log: parts.logOf("operator"),
      options: parts.operator,
      signal: ending.signal,
      onRequest: parts.onRequest,
      disabledChecks: parts.disabledChecks,
      onActivity(activity) {
        if (activity.type === "action") trace?.append("operator", activity.text, activity.error);
        parts.onActivity?.(activity);
      },
    });
    return operator;
  };
  const stop = async (): Promise<void> => {
    ending.abort();
    await latest().stopped;
  };
  return { latest, start, stop };
}

function nodesOf({
  nodes = 6,
  zones = 3,
  nodeCapacity: capacity,
}: WorldOptions): readonly EmulatedNode[] {
  if (typeof nodes !== "number") return nodes;
  return emulatedNodes(nodes, zones, capacity);
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
function traceChanges(server: ApiServer, trace: Trace): void {
  server.context.store.subscribeAll(({ type, storageKey, namespace, name, revision, object }) => {
    const uid = (object["metadata"] as { uid?: string }).uid;
    trace.append("kubernetes", `${type} ${storageKey} ${namespace}/${name} ${revision}`, uid);
  });
}

async function installDefinitions(client: KubeClient): Promise<void> {
  for (const definition of ourDefinitions) {
    await client.create(customResourceDefinitions, definition);
  }
  await client.create(storageClasses, {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: {
      name: "standard",
      annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
    },
    provisioner: "emulated.foundationdb.org/disk",
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
  });
}

/** Whether the newest generation is in force. */
export function isReconciled(cluster: FoundationDBCluster): boolean {
  return (
    cluster.metadata.generation !== undefined &&
    cluster.status?.generations?.reconciled === cluster.metadata.generation
  );
}
