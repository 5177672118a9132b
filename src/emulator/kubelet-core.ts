// What all parts of the emulated kubelet share: the client, the caches, the nodes' state,
// addresses and stores.
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import { randomInteger } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import { EventRecorder } from "../kube/event-recorder.ts";
import type { ConfigMap, Pod, Secret } from "../kube/generated/types.ts";
import { keyOf } from "../kube/path.ts";
import { configMaps, pods, secrets } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { ProcessRuntime } from "../pod/process-runtime.ts";
import { podAddresses } from "./address-block.ts";
import type { DelayRange, ImagePull } from "./kubelet-container.ts";
import { VolumeStore } from "./kubelet-volume-store.ts";
import type { ImageCatalogue } from "./kubelet-images.ts";
import type { Informers } from "./node-informers.ts";
import type { EmulatedPodNetwork } from "./pod-network.ts";
import type { Amounts } from "./scheduler-resources.ts";

export interface EmulatedNode {
  readonly name: string;
  readonly zone?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** By default 16 CPUs, 64Gi of memory, 110 pods. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Its Node object is there already, with this address, and stays as it is. */
  readonly registeredIp?: string;
}

export interface KubeletOptions {
  readonly nodes: readonly EmulatedNode[];
  /** Of the first pod on a node that needs the image. */
  readonly imagePullMs: DelayRange;
  readonly containerStartMs: DelayRange;
  /** From a change of a ConfigMap to the change of the mounted files. */
  readonly configMapDelayMs: DelayRange;
  /**
   * The nodes renew their leases this often; never when absent, so that an idle cluster does
   * nothing.
   */
  readonly heartbeatSeconds?: number;
  /** Every pod gets an IPv6 address too. Pods that ask for status.podIPs get one anyway. */
  readonly isDualStack: boolean;
  /** Also tells about pulled images and started containers. */
  readonly emitNormalEvents: boolean;
  readonly dnsDomain: string;
  /** Where the addresses of nodes and pods come from; see address-block.ts. */
  readonly addressBlock: number;
  /** Uids of pods that run already when they are first seen: they are taken over as their status has them. */
  readonly runningPods?: ReadonlySet<string>;
  /** Decides the addresses of a pod instead of the built-in counting. */
  readonly assignAddresses?: (pod: Pod) => readonly string[];
}

export const defaultKubeletOptions: KubeletOptions = {
  nodes: [],
  imagePullMs: { min: 1000, max: 3000 },
  containerStartMs: { min: 300, max: 1200 },
  configMapDelayMs: { min: 3000, max: 15_000 },
  isDualStack: false,
  emitNormalEvents: true,
  dnsDomain: "cluster.local",
  addressBlock: 0,
};

export interface NodeState {
  readonly name: string;
  readonly ip: string;
  readonly node: EmulatedNode;
  isRunning: boolean;
  /** Whether the node's kubelet reaches the API server. */
  isConnected: boolean;
  /** Image reference to the time from which it is there. */
  readonly images: Map<string, number>;
}

export interface KubeletParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: ProcessRuntime;
  readonly network: EmulatedPodNetwork;
  readonly images: ImageCatalogue;
  readonly informers: Informers;
  readonly options: KubeletOptions;
}

export class KubeletCore implements KubeletParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: ProcessRuntime;
  readonly network: EmulatedPodNetwork;
  readonly images: ImageCatalogue;
  readonly informers: Informers;
  readonly options: KubeletOptions;
  readonly events: EventRecorder;
  /** Of pods that were resized, by uid: what the kubelet has given them, whatever their spec asks for. */
  readonly allocations = new Map<string, Amounts>();
  readonly #stores = new Map<string, VolumeStore>();
  #addresses = 0;

  constructor(parts: KubeletParts) {
    this.client = parts.client;
    this.clock = parts.clock;
    this.random = parts.random;
    this.log = parts.log;
    this.runtime = parts.runtime;
    this.network = parts.network;
    this.images = parts.images;
    this.informers = parts.informers;
    this.options = parts.options;
    this.events = new EventRecorder({ ...parts, component: "kubelet" });
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.informers.of(configMaps).get({ namespace, name });
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.informers.of(secrets).get({ namespace, name });
  }

  persistentStore(id: string): VolumeStore {
    let store = this.#stores.get(id);
    if (store === undefined) {
      store = new VolumeStore(id, true);
      this.#stores.set(id, store);
    }
    return store;
  }

  /** The disk behind a persistent volume is gone with all that was on it. */
  forgetStore(id: string): void {
    this.#stores.delete(id);
    this.runtime.volumeRemoved?.(id);
  }

  /**
   * Time until the image is on the node: nothing when it is, and pods that wait for one pull wait
   * together.
   */
  pull(node: NodeState, reference: string): ImagePull {
    const nowMs = this.clock.nowMs();
    const thereAtMs = node.images.get(reference);
    if (thereAtMs !== undefined) return { leftMs: Math.max(0, thereAtMs - nowMs), isNew: false };
    const { min, max } = this.options.imagePullMs;
    const leftMs = randomInteger(this.random, min, max);
    node.images.set(reference, nowMs + leftMs);
    return { leftMs, isNew: true };
  }

  /** Addresses are never used twice, so that nobody mistakes a new pod for an old one. */
  assignAddresses(pod: Pod, node: NodeState): readonly string[] {
    if (this.isTakenOver(pod)) return (pod.status?.podIPs ?? []).map(({ ip }) => ip);
    const given = this.options.assignAddresses?.(pod);
    if (given !== undefined) return given;
    if (pod.spec?.hostNetwork === true) return [node.ip];
    this.#addresses += 1;
    const number = this.#addresses;
    const { ipv4, ipv6 } = podAddresses(this.options.addressBlock, number);
    if (!this.options.isDualStack && !wantsAllAddresses(pod)) return [ipv4];
    return [ipv4, ipv6];
  }

  /** A pod that ran before this kubelet was there. */
  isTakenOver({ metadata, status }: Pod): boolean {
    const isKnown = this.options.runningPods?.has(metadata?.uid ?? "") === true;
    const { containerStatuses = [], podIPs = [] } = status ?? {};
    const areRunning = containerStatuses.every(({ state }) => state?.running !== undefined);
    return isKnown && podIPs.length > 0 && containerStatuses.length > 0 && areRunning;
  }

  async deletePod(pod: Stored<Pod>): Promise<void> {
    const preconditions = { uid: pod.metadata.uid };
    try {
      await this.client.delete(pods, keyOf(pod), { gracePeriodSeconds: 0, preconditions });
    } catch (error) {
      if (isKubeError(error, "NotFound") || isKubeError(error, "Conflict")) return;
      this.log.warn("a stopped pod was not deleted", {
        pod: pod.metadata.name,
        error: String(error),
      });
      this.clock.setTimer(1000, () => void this.deletePod(pod));
    }
  }
}

function wantsAllAddresses(pod: Pod): boolean {
  const { containers, initContainers = [] } = pod.spec ?? { containers: [] };
  return [...containers, ...initContainers].some((container) =>
    (container.env ?? []).some((entry) => entry.valueFrom?.fieldRef?.fieldPath === "status.podIPs"),
  );
}
