// The emulated kubelets of all nodes: registers nodes, runs the pods that are bound to them, and
// lets nodes stop, come back and vanish. It knows Kubernetes only through its API. Carries rules
// KUBELET1 to KUBELET3 and KUBELET29, KUBELET30.
import type { Clock, Timer } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { ChangeEvent } from "../kube/object-cache.ts";
import { keyOf, keyText } from "../kube/path.ts";
import {
  configMaps,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  services,
} from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { ProcessRuntime } from "../pod/process-runtime.ts";
import { nodeAddress } from "./address-block.ts";
import { KubeletCore, defaultKubeletOptions } from "./kubelet-core.ts";
import type { EmulatedNode, KubeletOptions, NodeState } from "./kubelet-core.ts";
import type { ImageCatalogue } from "./kubelet-images.ts";
import type { LogLine } from "./kubelet-log-ring.ts";
import {
  ensureLeaseNamespace,
  leaseNamespace,
  registerNode,
  renewLease,
  reportNode,
} from "./kubelet-node.ts";
import { PodWorker } from "./kubelet-pod.ts";
import { kubeletStreams } from "./kubelet-streams.ts";
import type { NodeStreams } from "./kubelet-streams.ts";
import { ServiceRouter } from "./kubelet-services.ts";
import { Informers } from "./node-informers.ts";
import type { EmulatedPodNetwork } from "./pod-network.ts";
import { hasEnded } from "./scheduler-view.ts";

export interface StartKubeletOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
  runtime: ProcessRuntime;
  network: EmulatedPodNetwork;
  images: ImageCatalogue;
  informers?: Informers;
  options: Partial<KubeletOptions> & Pick<KubeletOptions, "nodes">;
}

export interface RunningKubelet {
  /** The ways into running pods. */
  readonly streams: NodeStreams;
  /** Resolves when all nodes are registered and pods are being run. */
  readonly started: Promise<void>;
  addNode(node: EmulatedNode): Promise<void>;
  /** The machine loses power: its processes die, and its heartbeat is missed after a while. */
  stopNode(name: string): Promise<void>;
  /**
   * The node's kubelet loses the API server: its containers run on, but nothing reaches or leaves
   * it.
   */
  cutNode(name: string): Promise<void>;
  /**
   * The machine comes back and starts its pods again, or the connection comes back and it catches
   * up.
   */
  startNode(name: string): Promise<void>;
  /** The machine and its Node object are gone for good. */
  removeNode(name: string): Promise<void>;
  nodeNames(): readonly string[];
  /** The kubelet throws the pod out for want of resources. */
  evictPod(namespace: string, name: string, message: string): void;
  /**
   * The last lines of a container, or of its previous run; undefined when there is no such
   * container.
   */
  logs(
    namespace: string,
    pod: string,
    container: string,
    options?: { previous?: boolean },
  ): readonly LogLine[] | undefined;
}

export function startKubelet(start: StartKubeletOptions): RunningKubelet {
  const informers = start.informers ?? new Informers(start);
  const core = new KubeletCore({
    client: start.client,
    clock: start.clock,
    random: start.random,
    log: start.log,
    runtime: start.runtime,
    network: start.network,
    images: start.images,
    informers,
    options: { ...defaultKubeletOptions, ...start.options },
  });
  return new Kubelet(core, start.signal);
}

class Kubelet implements RunningKubelet {
  readonly started: Promise<void>;
  readonly streams: NodeStreams;
  readonly #core: KubeletCore;
  readonly #signal: AbortSignal;
  readonly #nodes = new Map<string, NodeState>();
  readonly #workers = new Map<string, PodWorker>();
  /** Workers on cut nodes whose pod is gone. */
  readonly #stranded = new Set<PodWorker>();
  readonly #heartbeats = new Map<string, Timer>();
  #nodeNumber = 0;

  constructor(core: KubeletCore, signal: AbortSignal) {
    this.#core = core;
    this.#signal = signal;
    this.streams = kubeletStreams(
      (namespace, pod) => this.#workers.get(`${namespace}/${pod}`),
      core.network,
    );
    this.started = this.#start();
  }

  nodeNames(): readonly string[] {
    return [...this.#nodes.keys()];
  }

  async addNode(node: EmulatedNode): Promise<void> {
    this.#nodeNumber += 1;
    const number = this.#nodeNumber;
    const ip = node.registeredIp ?? nodeAddress(this.#core.options.addressBlock, number);
    const state: NodeState = {
      name: node.name,
      ip,
      node,
      isRunning: true,
      isConnected: true,
      images: new Map(),
    };
    this.#nodes.set(node.name, state);
    if (node.registeredIp === undefined) await registerNode(this.#core, state);
    await renewLease(this.#core, node.name, false);
    this.#beat(node.name);
    this.#adoptPods(node.name);
  }

  async stopNode(name: string): Promise<void> {
    const state = this.#nodes.get(name);
    if (state === undefined || !state.isRunning) return;
    state.isRunning = false;
    this.#heartbeats.get(name)?.cancel();
    this.#destroyWorkers(name);
    await renewLease(this.#core, name, true);
  }

  async cutNode(name: string): Promise<void> {
    const state = this.#nodes.get(name);
    if (state === undefined || !state.isRunning || !state.isConnected) return;
    state.isConnected = false;
    this.#heartbeats.get(name)?.cancel();
    await renewLease(this.#core, name, true);
  }

  async startNode(name: string): Promise<void> {
    const state = this.#nodes.get(name);
    if (state === undefined || (state.isRunning && state.isConnected)) return;
    state.isRunning = true;
    state.isConnected = true;
    this.#catchUp(name);
    await renewLease(this.#core, name, false);
    await reportNode(this.#core, state);
    this.#beat(name);
    this.#adoptPods(name);
  }

  async removeNode(name: string): Promise<void> {
    const state = this.#nodes.get(name);
    if (state === undefined) return;
    state.isRunning = false;
    this.#nodes.delete(name);
    this.#heartbeats.get(name)?.cancel();
    this.#destroyWorkers(name);
    for (const remove of [
      () => this.#core.client.delete(nodes, { name }),
      () => this.#core.client.delete(leases, { namespace: leaseNamespace, name }),
    ]) {
      try {
        await remove();
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
    }
  }

  evictPod(namespace: string, name: string, message: string): void {
    this.#workers.get(`${namespace}/${name}`)?.evict(message);
  }

  logs(
    namespace: string,
    pod: string,
    container: string,
    options: { previous?: boolean } = {},
  ): readonly LogLine[] | undefined {
    const runner = this.#workers.get(`${namespace}/${pod}`)?.container(container);
    const ring = options.previous === true ? runner?.previousLogs : runner?.logs;
    return ring?.lines();
  }

  async #start(): Promise<void> {
    const { informers, options } = this.#core;
    const kinds = [
      configMaps,
      secrets,
      persistentVolumeClaims,
      persistentVolumes,
      services,
      pods,
      nodes,
    ];
    await informers.synced(...kinds);
    await ensureLeaseNamespace(this.#core);
    for (const node of options.nodes) await this.addNode(node);
    this.#signal.addEventListener("abort", () => this.#stop(), { once: true });
    new ServiceRouter(this.#core).start();
    informers.of(configMaps).onChange(({ object, old }) => {
      if (old === undefined && this.#workers.size === 0) return;
      this.#onConfigMap(object.metadata.namespace ?? "", object.metadata.name ?? "");
    });
    informers.of(secrets).onChange(({ object, old }) => {
      if (old === undefined) return;
      const { namespace = "", name = "" } = object.metadata;
      for (const [key, worker] of this.#workers) {
        if (key.startsWith(`${namespace}/`)) worker.secretChanged(name);
      }
    });
    informers.of(persistentVolumes).onChange(({ type, object }) => {
      if (type === "DELETED") this.#core.forgetStore(`volume:${object.metadata.uid ?? ""}`);
    });
    informers.of(pods).onChange((event) => this.#onPod(event));
  }

  /** What happened while the kubelet was cut off. */
  #catchUp(nodeName: string): void {
    for (const worker of [...this.#stranded]) {
      if (worker.node.name !== nodeName) continue;
      this.#stranded.delete(worker);
      worker.destroy();
    }
    for (const worker of this.#workers.values()) {
      if (worker.node.name === nodeName) worker.catchUp(this.#core.informers.of(pods));
    }
  }

  #onPod({ type, object }: ChangeEvent<Stored<Pod>>): void {
    const key = keyText(keyOf(object));
    const worker = this.#workers.get(key);
    if (worker !== undefined && !worker.node.isConnected) {
      if (type !== "DELETED" && worker.uid === object.metadata.uid) return;
      // Its containers run on although the pod is gone; the name may be used elsewhere.
      this.#workers.delete(key);
      this.#stranded.add(worker);
      if (type === "DELETED") return;
      return this.#run(object);
    }
    if (type === "DELETED" || (worker !== undefined && worker.uid !== object.metadata.uid)) {
      worker?.destroy();
      this.#workers.delete(key);
      if (type === "DELETED") return;
    }
    const known = this.#workers.get(key);
    if (known !== undefined) return known.update(object);
    this.#run(object);
  }

  #run(pod: Stored<Pod>): void {
    const node = this.#nodes.get(pod.spec?.nodeName ?? "");
    if (node === undefined || !node.isRunning || !node.isConnected) return;
    if (pod.metadata.deletionTimestamp !== undefined) return void this.#core.deletePod(pod);
    if (hasEnded(pod)) return;
    const worker = new PodWorker(this.#core, node, pod);
    this.#workers.set(worker.key, worker);
    worker.start();
  }

  #adoptPods(nodeName: string): void {
    for (const pod of this.#core.informers.of(pods).list()) {
      const isOurs = pod.spec?.nodeName === nodeName;
      if (isOurs && !this.#workers.has(keyText(keyOf(pod)))) this.#run(pod);
    }
  }

  #onConfigMap(namespace: string, name: string): void {
    for (const [key, worker] of this.#workers) {
      if (key.startsWith(`${namespace}/`)) worker.configMapChanged(name);
    }
  }

  #destroyWorkers(nodeName: string): void {
    for (const worker of [...this.#stranded]) {
      if (worker.node.name !== nodeName) continue;
      this.#stranded.delete(worker);
      worker.destroy();
    }
    for (const [key, worker] of this.#workers) {
      if (worker.node.name !== nodeName) continue;
      worker.destroy();
      this.#workers.delete(key);
    }
  }

  #beat(nodeName: string): void {
    const seconds = this.#core.options.heartbeatSeconds;
    if (seconds === undefined) return;
    const timer = this.#core.clock.setTimer(seconds * 1000, () => {
      renewLease(this.#core, nodeName, false).catch((error: unknown) => {
        this.#core.log.warn("a lease was not renewed", { node: nodeName, error: String(error) });
      });
      this.#beat(nodeName);
    });
    this.#heartbeats.set(nodeName, timer);
  }

  #stop(): void {
    for (const timer of this.#heartbeats.values()) timer.cancel();
    for (const worker of [...this.#workers.values(), ...this.#stranded]) worker.destroy();
    this.#workers.clear();
  }
}
