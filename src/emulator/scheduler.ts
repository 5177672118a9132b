// The emulated kube-scheduler: takes pods without a node, decides, and binds them through the API.
// Driven by events alone: a cluster in which nothing changes causes no work. Carries rules SCH12
// to SCH15.
import { conditionIn } from "../kube/condition.ts";
import type { Clock, Timer } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import { EventRecorder } from "../kube/event-recorder.ts";
import type { Node, PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import type { ChangeEvent } from "../kube/object-cache.ts";
import { keyOf } from "../kube/path.ts";
import { namespaces, nodes, persistentVolumeClaims, persistentVolumes } from "../kube/resource.ts";
import { pods, services, storageClasses } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTime } from "../kube/time.ts";
import { Informers } from "./node-informers.ts";
import { schedulePod } from "./scheduler-decide.ts";
import { SchedulerQueue } from "./scheduler-queue.ts";
import { SchedulerView, hasEnded, podKey } from "./scheduler-view.ts";
import { findStaticVolume, staticProvisioner } from "./scheduler-volumes.ts";
import type { VolumeLookup, WaitingClaim } from "./scheduler-volumes.ts";

export interface SchedulerOptions {
  /** Pods that name another scheduler are left alone. */
  schedulerName?: string;
  /** From the arrival of a pod to its decision. */
  delayMs?: number;
  /** How long a pod waits for its volumes before it is decided anew. */
  volumeTimeoutMs?: number;
}

export interface StartSchedulerOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
  informers?: Informers;
  options?: SchedulerOptions;
}

export interface RunningScheduler {
  /** Resolves when the scheduler has seen the whole cluster and begins to work. */
  readonly started: Promise<void>;
}

export const selectedNodeAnnotation = "volume.kubernetes.io/selected-node";

export function startScheduler(start: StartSchedulerOptions): RunningScheduler {
  const informers = start.informers ?? new Informers(start);
  const scheduler = new Scheduler(start, informers);
  return { started: scheduler.run() };
}

interface VolumeWait {
  readonly pod: Stored<Pod>;
  readonly nodeName: string;
  readonly claims: readonly string[];
  readonly timeout: Timer;
}

class Scheduler {
  readonly #start: StartSchedulerOptions;
  readonly #informers: Informers;
  readonly #view = new SchedulerView();
  readonly #queue: SchedulerQueue;
  readonly #events: EventRecorder;
  readonly #lookup: VolumeLookup;
  readonly #volumeWaits = new Map<string, VolumeWait>();
  /** The pods that wait for a claim, by the claim's key. */
  readonly #podsByClaim = new Map<string, Set<string>>();
  readonly #name: string;

  constructor(start: StartSchedulerOptions, informers: Informers) {
    this.#start = start;
    this.#informers = informers;
    this.#name = start.options?.schedulerName ?? "default-scheduler";
    this.#queue = new SchedulerQueue(start.clock, start.options?.delayMs ?? 20, (key) =>
      this.#schedule(key),
    );
    this.#events = new EventRecorder({ ...start, component: this.#name });
    this.#lookup = {
      claim: (namespace, name) => informers.of(persistentVolumeClaims).get({ namespace, name }),
      volume: (name) => informers.of(persistentVolumes).get({ name }),
      storageClass: (name) => informers.of(storageClasses).get({ name }),
      volumes: () => informers.of(persistentVolumes).list(),
    };
  }

  async run(): Promise<void> {
    const kinds = [
      namespaces,
      nodes,
      persistentVolumeClaims,
      persistentVolumes,
      storageClasses,
      services,
      pods,
    ];
    await this.#informers.synced(...kinds);
    this.#start.signal.addEventListener("abort", () => this.#queue.stop(), { once: true });
    this.#informers.of(namespaces).onChange(({ object }) => {
      this.#view.setNamespace(object.metadata.name ?? "", object.metadata.labels ?? {});
    });
    this.#informers.of(services).onChange(({ type, object }) => {
      const { namespace = "", name = "" } = object.metadata;
      const selector = type === "DELETED" ? undefined : object.spec?.selector;
      this.#view.setService(namespace, name, selector);
    });
    this.#informers.of(nodes).onChange((event) => this.#onNode(event));
    this.#informers.of(persistentVolumeClaims).onChange((event) => this.#onClaim(event));
    this.#informers.of(persistentVolumes).onChange(() => this.#queue.wakeAll());
    this.#informers.of(storageClasses).onChange(() => this.#queue.wakeAll());
    this.#informers.of(pods).onChange((event) => this.#onPod(event));
  }

  #onNode({ type, object, old }: ChangeEvent<Stored<Node>>): void {
    if (type === "DELETED") return this.#view.removeNode(object.metadata.name ?? "");
    this.#view.setNode(object);
    const isRelevant =
      old === undefined ||
      !isSame(old.spec, object.spec) ||
      !isSame(old.metadata.labels, object.metadata.labels) ||
      !isSame(old.status?.allocatable, object.status?.allocatable);
    if (isRelevant) this.#queue.wakeAll();
  }

  #onPod({ type, object, old }: ChangeEvent<Stored<Pod>>): void {
    const key = podKey(object);
    if (type === "DELETED") {
      this.#view.removePod(key);
      this.#dropVolumeWait(key);
      this.#queue.remove(key);
      return this.#queue.wakeAll();
    }
    if ((object.spec?.nodeName ?? "") !== "") {
      this.#queue.remove(key);
      this.#view.setPod(object);
      const isNews =
        (old?.spec?.nodeName ?? "") === "" ||
        hasEnded(object) !== (old !== undefined && hasEnded(old)) ||
        !isSame(old?.metadata.labels, object.metadata.labels);
      if (isNews) this.#queue.wakeAll();
      return;
    }
    if (!this.#isOurs(object)) return this.#queue.remove(key);
    if ((object.spec?.schedulingGates ?? []).length > 0) {
      const message = "Scheduling is blocked due to non-empty scheduling gates";
      return this.#setCondition(object, "SchedulingGated", message);
    }
    // Our own condition on a waiting pod is no reason to look at it again.
    const isChanged =
      old === undefined ||
      !isSame(old.metadata.labels, object.metadata.labels) ||
      !isSame(old.spec, object.spec);
    if (isChanged && !this.#volumeWaits.has(key)) {
      this.#queue.add(key, object.spec?.priority ?? 0);
    }
  }

  #isOurs(pod: Pod): boolean {
    const name = pod.spec?.schedulerName ?? "default-scheduler";
    return name === this.#name && pod.metadata.deletionTimestamp === undefined && !hasEnded(pod);
  }

  #schedule(key: string): void {
    const [namespace = "", name = ""] = key.split("/");
    const pod = this.#informers.of(pods).get({ namespace, name });
    if (pod === undefined || (pod.spec?.nodeName ?? "") !== "" || !this.#isOurs(pod)) return;
    const decision = schedulePod(pod, this.#view, this.#lookup, this.#start.random);
    if (decision.kind === "unschedulable") {
      this.#queue.postpone(key, pod.spec?.priority ?? 0);
      this.#setCondition(pod, "Unschedulable", decision.message);
      this.#events.record(pod, "Warning", "FailedScheduling", decision.message);
      return;
    }
    // From here on the pod counts as placed, before the API server says so.
    this.#view.setPod({ ...pod, spec: { ...pod.spec!, nodeName: decision.nodeName } });
    if (decision.waiting.length === 0) void this.#bind(pod, decision.nodeName);
    else void this.#requestVolumes(pod, decision.nodeName, decision.waiting);
  }

  async #bind(pod: Stored<Pod>, nodeName: string): Promise<void> {
    const key = podKey(pod);
    try {
      await this.#start.client.bindPod(keyOf(pod), nodeName);
      this.#events.record(
        pod,
        "Normal",
        "Scheduled",
        `Successfully assigned ${key} to ${nodeName}`,
      );
    } catch (error) {
      this.#giveUp(pod, error);
    }
  }

  async #requestVolumes(
    pod: Stored<Pod>,
    nodeName: string,
    waiting: readonly WaitingClaim[],
  ): Promise<void> {
    const timeoutMs = this.#start.options?.volumeTimeoutMs ?? 600_000;
    const timeout = this.#start.clock.setTimer(timeoutMs, () => {
      this.#giveUp(pod, new Error("binding volumes: context deadline exceeded"));
    });
    const claims = waiting.map(({ claim }) => claim.metadata.name ?? "");
    this.#volumeWaits.set(podKey(pod), { pod, nodeName, claims, timeout });
    for (const claim of claims) {
      const key = `${pod.metadata.namespace ?? ""}/${claim}`;
      this.#podsByClaim.set(key, (this.#podsByClaim.get(key) ?? new Set()).add(podKey(pod)));
    }
    try {
      for (const { claim, storageClass } of waiting) {
        if (storageClass.provisioner === staticProvisioner) await this.#reserve(claim, nodeName);
        else {
          const metadata = { annotations: { [selectedNodeAnnotation]: nodeName } };
          const target = keyOf(claim);
          await this.#start.client.patch(
            persistentVolumeClaims,
            target,
            { metadata },
            { type: "merge" },
          );
        }
      }
    } catch (error) {
      this.#giveUp(pod, error);
    }
  }

  /**
   * A volume without a provisioner is reserved for the claim; the volume controller completes the
   * pair.
   */
  async #reserve(claim: PersistentVolumeClaim, nodeName: string): Promise<void> {
    const node = this.#view.nodes.get(nodeName)?.node;
    const volume = findStaticVolume(claim, this.#lookup.volumes(), node);
    if (volume === undefined) throw new Error("no free volume is left");
    const { namespace, name, uid, resourceVersion } = claim.metadata;
    const claimRef = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace,
      name,
      uid,
      resourceVersion,
    };
    const metadata = { resourceVersion: volume.metadata.resourceVersion };
    await this.#start.client.patch(
      persistentVolumes,
      { name: volume.metadata.name ?? "" },
      { metadata, spec: { claimRef } },
      { type: "merge" },
    );
  }

  #onClaim({ type, object, old }: ChangeEvent<Stored<PersistentVolumeClaim>>): void {
    this.#queue.wakeAll();
    const { namespace = "", name = "" } = object.metadata;
    for (const key of [...(this.#podsByClaim.get(`${namespace}/${name}`) ?? [])]) {
      const wait = this.#volumeWaits.get(key);
      if (wait === undefined) continue;
      const wasSelected = old?.metadata.annotations?.[selectedNodeAnnotation] !== undefined;
      const isSelected = object.metadata.annotations?.[selectedNodeAnnotation] !== undefined;
      if (type === "DELETED" || (wasSelected && !isSelected)) {
        this.#giveUp(wait.pod, new Error(`the claim ${name} could not be provisioned`));
      } else if (wait.claims.every((claim) => this.#isBound(namespace, claim))) {
        this.#dropVolumeWait(key);
        void this.#bind(wait.pod, wait.nodeName);
      }
    }
  }

  #isBound(namespace: string, name: string): boolean {
    return this.#lookup.claim(namespace, name)?.status?.phase === "Bound";
  }

  #dropVolumeWait(key: string): void {
    const wait = this.#volumeWaits.get(key);
    if (wait === undefined) return;
    wait.timeout.cancel();
    this.#volumeWaits.delete(key);
    for (const claim of wait.claims) {
      const claimKey = `${wait.pod.metadata.namespace ?? ""}/${claim}`;
      const waiting = this.#podsByClaim.get(claimKey);
      waiting?.delete(key);
      if (waiting?.size === 0) this.#podsByClaim.delete(claimKey);
    }
  }

  #giveUp(pod: Stored<Pod>, error: unknown): void {
    const key = podKey(pod);
    this.#dropVolumeWait(key);
    const known = this.#informers.of(pods).get(keyOf(pod));
    if (known === undefined || known.metadata.uid !== pod.metadata.uid) {
      return this.#view.removePod(key);
    }
    if ((known.spec?.nodeName ?? "") !== "") return this.#view.setPod(known);
    this.#view.removePod(key);
    if (isKubeError(error, "NotFound")) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#start.log.warn("a pod could not be bound", { pod: key, error: message });
    this.#events.record(pod, "Warning", "FailedScheduling", message);
    this.#queue.postpone(key, pod.spec?.priority ?? 0);
    this.#queue.wakeAll();
  }

  #setCondition(pod: Stored<Pod>, reason: string, message: string): void {
    const known = conditionIn(pod.status, "PodScheduled");
    if (known?.status === "False" && known.reason === reason && known.message === message) return;
    const isTransition = known?.status !== "False";
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason,
      message,
      observedGeneration: pod.metadata.generation,
      lastProbeTime: null,
      lastTransitionTime: isTransition
        ? formatTime(this.#start.clock.nowMs())
        : known.lastTransitionTime,
    };
    const options = { type: "strategic", subresource: "status" } as const;
    this.#start.client
      .patch(pods, keyOf(pod), { status: { conditions: [condition] } }, options)
      .catch((error: unknown) => {
        this.#start.log.debug("a condition was not written", { error: String(error) });
      });
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
