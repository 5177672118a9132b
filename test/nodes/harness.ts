// A small emulated cluster for tests of the scheduler, the controllers and the kubelet: virtual
// time, an API server in process, and a scripted runtime that records which servers were started.
import { silentLog } from "../../src/env/log.ts";
import { seededRandom } from "../../src/env/random.ts";
import { createApiServer } from "../../src/emulator/api-server.ts";
import type { ApiServer } from "../../src/emulator/api-server.ts";
import { startControllers } from "../../src/emulator/controller-start.ts";
import { startKubelet } from "../../src/emulator/kubelet.ts";
import type { RunningKubelet } from "../../src/emulator/kubelet.ts";
import type { KubeletOptions } from "../../src/emulator/kubelet-core.ts";
import type { ImageCatalogue } from "../../src/emulator/kubelet-images.ts";
import { standardImages } from "../../src/images/standard-images.ts";
import { Informers } from "../../src/emulator/node-informers.ts";
import { createPodNetwork } from "../../src/emulator/pod-network.ts";
import type { EmulatedPodNetwork } from "../../src/emulator/pod-network.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import type { Pod, PodSpec, StorageClass } from "../../src/kube/generated/types.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { pods, storageClasses } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { ServerExit, ServerProcessSpec } from "../../src/pod/process-runtime.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";

export interface ScriptedServer {
  readonly spec: ServerProcessSpec;
  readonly commandLine: string;
  isRunning: boolean;
  exit(exit: ServerExit): void;
}

export interface Cluster {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  readonly client: KubeClient;
  readonly network: EmulatedPodNetwork;
  readonly kubelet: RunningKubelet;
  /** All servers that were ever started, in order. */
  readonly servers: ScriptedServer[];
  running(): string[];
  pod(name: string): Promise<Stored<Pod> | undefined>;
  createPod(name: string, spec: PodSpec, metadata?: Partial<Pod["metadata"]>): Promise<Stored<Pod>>;
  advance(seconds: number): Promise<void>;
  stop(): void;
}

export interface ClusterOptions extends Partial<KubeletOptions> {
  seed?: number;
  nodeCount?: number;
  zoneCount?: number;
  hasScheduler?: boolean;
  nodeLabels?: Record<string, string>;
  images?: ImageCatalogue;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const {
    images = standardImages(),
    nodeLabels,
    seed = 1,
    nodeCount = 3,
    zoneCount = 3,
    hasScheduler = true,
    ...kubeletOptions
  } = options;
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const server = createApiServer({ clock, random });
  const client = new KubeClient(server.transport(), { userAgent: "nodes" });
  const stop = new AbortController();
  const base = { client, clock, random, log: silentLog, signal: stop.signal };
  const informers = new Informers(base);
  const network = createPodNetwork(clock);
  const servers: ScriptedServer[] = [];
  const nodes = Array.from({ length: nodeCount }, (_, index) => ({
    name: `node${index + 1}`,
    zone: `zone${(index % zoneCount) + 1}`,
    labels: nodeLabels,
  }));
  const kubelet = startKubelet({
    ...base,
    informers,
    network,
    images,
    runtime: { start: (spec) => startScripted(spec, servers) },
    options: { nodes, ...kubeletOptions },
  });
  server.context.streams = kubelet.streams;
  const parts = [startControllers({ ...base, informers }).started, kubelet.started];
  if (hasScheduler) parts.push(startScheduler({ ...base, informers }).started);
  await Promise.all(parts);
  await client.create(storageClasses, standardClass);
  const namespace = "default";
  return {
    clock,
    server,
    client,
    network,
    kubelet,
    servers,
    running: () => servers.filter((one) => one.isRunning).map((one) => one.commandLine),
    pod: (name) => client.find(pods, { namespace, name }),
    createPod: (name, spec, metadata = {}) =>
      client.create(pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { namespace, name, ...metadata },
        spec,
      }),
    advance: async (seconds) => {
      await clock.advance(seconds * 1000);
    },
    stop: () => stop.abort(),
  };
}

const standardClass: Stored<StorageClass> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name: "standard",
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
  },
  provisioner: "disk.example.com",
  volumeBindingMode: "WaitForFirstConsumer",
};

function startScripted(spec: ServerProcessSpec, servers: ScriptedServer[]) {
  const ended = Promise.withResolvers<ServerExit>();
  const scripted: ScriptedServer = {
    spec,
    commandLine: [spec.binaryPath, ...spec.args].join(" "),
    isRunning: true,
    exit: (exit) => {
      scripted.isRunning = false;
      ended.resolve(exit);
    },
  };
  servers.push(scripted);
  return { exited: ended.promise, kill: () => scripted.exit({ code: 0, message: "killed" }) };
}
