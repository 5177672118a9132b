// One pod on its node: volumes, network, init containers one after another, containers, status,
// and the end. It acts on events and timers only; a pod in good order costs nothing. Carries rules
// KUBELET3, KUBELET4, KUBELET23 and KUBELET81.
import type { Timer } from "../env/clock.ts";
import { randomInteger } from "../env/random.ts";
import type { Container, Pod } from "../kube/generated/types.ts";
import { keyOf, keyText } from "../kube/path.ts";
import { persistentVolumeClaims, persistentVolumes } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { RequestHandler } from "../pod/container-program.ts";
import { ContainerRunner } from "./kubelet-container.ts";
import type { ContainerHost } from "./kubelet-container.ts";
import type { KubeletCore, NodeState } from "./kubelet-core.ts";
import { resolveEnvironment } from "./kubelet-environment.ts";
import { openFiles } from "./kubelet-files.ts";
import { OwnPodWriter } from "./kubelet-own-pod.ts";
import { ProbeRunner } from "./kubelet-probe.ts";
import { PodResizer } from "./kubelet-resize.ts";
import { buildPodStatus, earlierRestarts, recordedStatus } from "./kubelet-status.ts";
import { StatusWriter } from "./kubelet-status-writer.ts";
import { PodVolumes } from "./kubelet-volumes.ts";

const mountRetryMs = { first: 1000, longest: 60_000 };
/** Within this time a pod that is taken over must be found again as it was, or it is shown as it is. */
const takeOverMs = 60_000;
/** A pod whose object changed is looked at by the kubelet within this time. */
const syncMs = 200;

export class PodWorker {
  readonly key: string;
  readonly uid: string;
  readonly node: NodeState;
  readonly #core: KubeletCore;
  readonly #volumes: PodVolumes;
  readonly #containers: ContainerRunner[];
  readonly #probes = new Map<ContainerRunner, ProbeRunner[]>();
  readonly #closers = new Map<ContainerRunner, (() => void)[]>();
  readonly #podListeners = new Map<ContainerRunner, (() => void)[]>();
  /** Restartable init containers after whose first start the next one was begun. */
  readonly #hasBegun = new Set<ContainerRunner>();
  readonly #ownPod: OwnPodWriter;
  readonly #resizer: PodResizer;
  readonly #status: StatusWriter;
  readonly #startedAtMs: number;
  #pod: Stored<Pod>;
  #podIps: readonly string[] = [];
  #timers = new Map<string, Timer>();
  #mountFailures = 0;
  readonly #ends = new Set<() => void>();
  #isTerminating = false;
  #isDead = false;
  #failure: { reason: string; message: string } | undefined;
  /** It ran before, and its containers are not all found again: until then nothing is said of it. */
  #isBeingTakenOver: boolean;

  constructor(core: KubeletCore, node: NodeState, pod: Stored<Pod>) {
    this.#core = core;
    this.node = node;
    this.#pod = pod;
    this.key = keyText(keyOf(pod));
    this.uid = pod.metadata.uid ?? "";
    const isTakenOver = core.isTakenOver(pod);
    this.#isBeingTakenOver = isTakenOver;
    const startedMs = isTakenOver ? Date.parse(pod.status?.startTime ?? "") : NaN;
    this.#startedAtMs = Number.isNaN(startedMs) ? core.clock.nowMs() : startedMs;
    const namespace = pod.metadata.namespace ?? "";
    this.#volumes = new PodVolumes({
      pod,
      configMap: (name) => core.configMap(namespace, name),
      secret: (name) => core.secret(namespace, name),
      claim: (name) => core.informers.of(persistentVolumeClaims).get({ namespace, name }),
      volume: (name) => core.informers.of(persistentVolumes).get({ name }),
      persistentStore: (id) => core.persistentStore(id),
    });
    this.#resizer = new PodResizer(core, node, {
      pod: () => this.#pod,
      touch: () => this.#touch(),
      apply: (name, resources, isRestarted) =>
        this.container(name)?.changeResources(resources, isRestarted, this.#graceMs()),
    });
    this.#ownPod = new OwnPodWriter(core, node, () => this.#pod);
    this.#status = new StatusWriter(
      core,
      node,
      () => this.#pod,
      (nowMs) => this.#buildStatus(nowMs),
    );
    const { initContainers = [], containers } = pod.spec ?? { containers: [] };
    const create = (container: Container, isInit: boolean): ContainerRunner =>
      new ContainerRunner(this.#containerHost(), container, {
        isInit,
        waitsFor: initContainers.length > 0 ? "PodInitializing" : "ContainerCreating",
        restartCount: isTakenOver
          ? (recordedStatus(pod, container.name)?.restartCount ?? 0)
          : earlierRestarts(pod, container.name),
        ...(isTakenOver ? { recorded: recordedStatus(pod, container.name) } : {}),
      });
    this.#containers = [
      ...initContainers.map((container) => create(container, true)),
      ...containers.map((container) => create(container, false)),
    ];
  }

  start(): void {
    if (this.#isBeingTakenOver) this.#later("take-over", takeOverMs, () => this.#endTakeOver());
    this.#touch();
    this.#keepDeadline();
    this.#resizer.start();
    this.#mount();
  }

  /** Says how the pod is. One that is taken over was described before and is found again first. */
  #touch(): void {
    if (!this.#isBeingTakenOver) return this.#status.touch();
    const areBack = this.#containers.every((one) => {
      const { recorded, isReady } = one.report();
      return recorded !== undefined && isReady === recordedStatus(this.#pod, recorded.name)?.ready;
    });
    if (areBack) this.#endTakeOver();
  }

  #endTakeOver(): void {
    this.#isBeingTakenOver = false;
    this.#timers.get("take-over")?.cancel();
    this.#timers.delete("take-over");
    this.#status.touch();
  }

  /** A pod may run for so long from its start on; the time can be set, and shortened, while it runs. */
  #keepDeadline(): void {
    const seconds = this.#pod.spec?.activeDeadlineSeconds;
    if (seconds === undefined) return;
    const leftMs = this.#startedAtMs + seconds * 1000 - this.#core.clock.nowMs();
    this.#later("deadline", Math.max(0, leftMs), () => {
      const message = "Pod was active on the node longer than the specified deadline";
      this.#fail("DeadlineExceeded", "Normal", message);
    });
  }

  /** The pod's object changed in the API. */
  update(pod: Stored<Pod>): void {
    const before = this.#pod;
    this.#pod = pod;
    if (this.#isDead) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (!this.#isTerminating) return this.#terminate();
      const isShorter =
        (pod.metadata.deletionGracePeriodSeconds ?? 0) <
        (before.metadata.deletionGracePeriodSeconds ?? Infinity);
      if (isShorter) this.#stopContainers();
      return;
    }
    this.#changeImages(pod);
    if (pod.metadata.generation !== before.metadata.generation) this.#resizer.consider();
    if (pod.spec?.activeDeadlineSeconds !== before.spec?.activeDeadlineSeconds)
      this.#keepDeadline();
    const isSame =
      isEqual(before.metadata.annotations, pod.metadata.annotations) &&
      isEqual(before.metadata.labels, pod.metadata.labels);
    if (isSame) return;
    this.#later("sync", syncMs, () => {
      this.#volumes.refresh();
      for (const listeners of [...this.#podListeners.values()]) {
        for (const changed of [...listeners]) changed();
      }
    });
  }

  /** The image is the one thing that may change in a running container. */
  #changeImages(pod: Stored<Pod>): void {
    const graceMs = this.#graceMs();
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    for (const { name, image } of [...initContainers, ...containers]) {
      this.container(name)?.changeImage(image, graceMs);
    }
  }

  #graceMs(): number {
    return (this.#pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
  }

  /** The kubelet reaches the API server again. */
  catchUp(known: {
    get(key: { namespace?: string; name: string }): Stored<Pod> | undefined;
  }): void {
    const pod = known.get(keyOf(this.#pod));
    if (pod?.metadata.uid === this.uid) this.update(pod);
    this.#volumes.refresh();
    this.#status.rewrite();
    this.#ownPod.flush();
  }

  /** A ConfigMap changed: the mounted files follow after a while. */
  configMapChanged(name: string): void {
    if (this.#volumes.usesConfigMap(name)) this.#refreshLater();
  }

  /** So do those of a Secret. */
  secretChanged(name: string): void {
    if (this.#volumes.usesSecret(name)) this.#refreshLater();
  }

  #refreshLater(): void {
    if (this.#isDead || !this.node.isConnected) return;
    if (this.#timers.has("mount")) return this.#mount();
    if (this.#timers.has("config-map")) return;
    const { min, max } = this.#core.options.configMapDelayMs;
    const delayMs = randomInteger(this.#core.random, min, max);
    this.#later("config-map", delayMs, () => this.#volumes.refresh());
  }

  /** The kubelet evicts the pod: it fails and stays to be seen. */
  evict(message: string): void {
    this.#fail("Evicted", "Warning", message);
  }

  /** The pod as a whole has failed; one whose containers have all ended is done and cannot any more. */
  #fail(reason: string, type: "Normal" | "Warning", message: string): void {
    if (this.#isTerminating || this.#isDead || this.#failure !== undefined) return;
    if (reason !== "Evicted" && this.#isOver()) return;
    this.#core.events.record(this.#pod, type, reason, message);
    this.#failure = { reason, message };
    this.#isBeingTakenOver = false;
    this.#stopContainers();
    this.#status.touch();
  }

  #isOver(): boolean {
    const mains = this.#containers.filter((one) => !one.isInit);
    return mains.every((one) => one.isFinished);
  }

  /** The object or the node is gone: everything stops, nothing is reported. */
  destroy(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const timer of this.#timers.values()) timer.cancel();
    for (const container of this.#containers) {
      this.#release(container);
      container.destroy();
    }
    this.#resizer.stop();
    this.#status.stop();
    this.#ownPod.stop();
    this.#announceEnd();
  }

  #announceEnd(): void {
    for (const ended of [...this.#ends]) ended();
    this.#ends.clear();
  }

  /** Calls back when the pod stops; returns what forgets it. */
  onEnd(ended: () => void): () => void {
    this.#ends.add(ended);
    return () => void this.#ends.delete(ended);
  }

  get ips(): readonly string[] {
    return this.#podIps;
  }

  container(name: string): ContainerRunner | undefined {
    return this.#containers.find((one) => one.container.name === name);
  }

  #mount(): void {
    // Whoever tries takes the place of the next try: a pod whose volumes are there is started once.
    this.#timers.get("mount")?.cancel();
    this.#timers.delete("mount");
    if (this.#isTerminating || this.#failure !== undefined) return;
    const problem = this.#volumes.mount();
    if (problem === undefined) return this.#connect();
    this.#core.events.record(this.#pod, "Warning", "FailedMount", problem);
    const { first, longest } = mountRetryMs;
    const pauseMs = Math.min(longest, first * 2 ** this.#mountFailures);
    this.#mountFailures += 1;
    this.#later("mount", pauseMs, () => this.#mount());
  }

  #connect(): void {
    this.#podIps = this.#core.assignAddresses(this.#pod, this.node);
    this.#touch();
    this.#beginNext();
  }

  /** The next init container when one is left, otherwise all containers. */
  #beginNext(): void {
    const nextInit = this.#containers.find((one) => one.isInit && !one.hasInitialized);
    if (nextInit !== undefined) return nextInit.begin();
    for (const container of this.#containers) if (!container.isInit) container.begin();
  }

  #terminate(): void {
    this.#isTerminating = true;
    this.#isBeingTakenOver = false;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    this.#stopContainers();
    this.#finishWhenStopped();
  }

  #stopContainers(): void {
    const { deletionGracePeriodSeconds } = this.#pod.metadata;
    const graceSeconds =
      deletionGracePeriodSeconds ?? this.#pod.spec?.terminationGracePeriodSeconds ?? 30;
    for (const container of this.#containers) {
      if (container.isRunning) {
        const message = `Stopping container ${container.container.name}`;
        this.#core.events.record(this.#pod, "Normal", "Killing", message);
      }
      container.stop(graceSeconds * 1000);
    }
  }

  #finishWhenStopped(): void {
    if (!this.#isTerminating || this.#containers.some((one) => one.isRunning)) return;
    this.#announceEnd();
    this.#status.finish(() => void this.#core.deletePod(this.#pod));
  }

  #buildStatus(nowMs: number) {
    return buildPodStatus(
      {
        pod: this.#pod,
        containers: this.#containers.map((container) => container.report()),
        podIps: this.#podIps,
        hostIp: this.#hostIp(),
        startedAtMs: this.#startedAtMs,
        failure: this.#failure,
        isTerminating: this.#isTerminating,
        resources: (name) => this.#resizer.resourcesOf(name),
        resize: this.#resizer.state,
      },
      nowMs,
    );
  }

  #hostIp(): string {
    return (
      (this.#core.isTakenOver(this.#pod) ? this.#pod.status?.hostIP : undefined) ?? this.node.ip
    );
  }

  #containerHost(): ContainerHost {
    const core = this.#core;
    return {
      clock: core.clock,
      random: core.random,
      podKey: this.key,
      podUid: this.uid,
      startMs: core.options.containerStartMs,
      restartPolicy: this.#pod.spec?.restartPolicy ?? "Always",
      network: core.network,
      pull: (reference) => core.pull(this.node, reference),
      keepImage: (reference) => void this.node.images.set(reference, 0),
      findImage: (reference) => core.images.find(reference),
      environment: (container) =>
        resolveEnvironment(container, {
          pod: this.#pod,
          podIps: this.#podIps,
          hostIp: this.node.ip,
          configMap: (name) => core.configMap(this.#pod.metadata.namespace ?? "", name),
          secret: (name) => core.secret(this.#pod.metadata.namespace ?? "", name),
        }),
      files: (container, image) =>
        openFiles(container, image.files, this.uid, (name) => this.#volumes.store(name)),
      programContext: (container) => this.#programContext(container),
      emit: (type, reason, message) => {
        if (type === "Warning" || core.options.emitNormalEvents) {
          core.events.record(this.#pod, type, reason, message);
        }
      },
      onChange: () => this.#touch(),
      onStarted: (container) => this.#onStarted(container),
      onStopped: (container) => this.#onStopped(container),
    };
  }

  #programContext(container: Container) {
    const runner = this.container(container.name);
    const { namespace = "", name = "" } = this.#pod.metadata;
    return {
      pod: { namespace, name, uid: this.uid, ips: this.#podIps },
      nodeName: this.node.name,
      clock: this.#core.clock,
      random: this.#core.random,
      runtime: this.#core.runtime,
      ownPod: this.#ownPod.door(),
      onPodChange: (changed: () => void) => append(this.#podListeners, runner, changed),
      listen: (address: string, port: number, useTls: boolean, handler: RequestHandler) => {
        const isAny = ["", "0.0.0.0", "::", "localhost"].includes(address);
        const targets = isAny ? this.#podIps : this.#podIps.filter((ip) => ip === address);
        const closers = targets.map((ip) => this.#core.network.listen(ip, port, useTls, handler));
        for (const close of closers) if (close !== undefined) append(this.#closers, runner, close);
        return closers.length > 0 && closers.every((close) => close !== undefined);
      },
    };
  }

  #onStarted(runner: ContainerRunner): void {
    this.#watch(runner);
    if (!runner.isRestartable || this.#hasBegun.has(runner)) return;
    this.#hasBegun.add(runner);
    this.#beginNext();
  }

  #watch(runner: ContainerRunner): void {
    const { readinessProbe, livenessProbe } = runner.container;
    const base = {
      container: runner.container,
      ip: this.#podIps[0] ?? "",
      clock: this.#core.clock,
      network: this.#core.network,
    };
    if (readinessProbe !== undefined) {
      const onVerdict = (isGood: boolean, message: string): void => {
        if (!isGood) this.#unhealthy(`Readiness probe failed: ${message}`);
        runner.setProbedReady(isGood);
      };
      append(this.#probes, runner, new ProbeRunner({ ...base, probe: readinessProbe, onVerdict }));
    }
    if (livenessProbe !== undefined) {
      const onVerdict = (isGood: boolean, message: string): void => {
        if (isGood) return;
        this.#unhealthy(`Liveness probe failed: ${message}`);
        runner.restart(this.#graceMs());
      };
      append(this.#probes, runner, new ProbeRunner({ ...base, probe: livenessProbe, onVerdict }));
    }
  }

  #unhealthy(message: string): void {
    this.#core.events.record(this.#pod, "Warning", "Unhealthy", message);
  }

  #onStopped(runner: ContainerRunner): void {
    this.#release(runner);
    this.#touch();
    if (this.#isTerminating) return this.#finishWhenStopped();
    if (runner.isInit && runner.exitCode === 0 && !this.#isDead) this.#beginNext();
  }

  #release(runner: ContainerRunner): void {
    for (const probe of this.#probes.get(runner) ?? []) probe.stop();
    for (const close of this.#closers.get(runner) ?? []) close();
    this.#probes.delete(runner);
    this.#closers.delete(runner);
    this.#podListeners.delete(runner);
  }

  #later(name: string, delayMs: number, run: () => void): void {
    this.#timers.get(name)?.cancel();
    const timer = this.#core.clock.setTimer(delayMs, () => {
      this.#timers.delete(name);
      run();
    });
    this.#timers.set(name, timer);
  }
}

function append<T>(
  map: Map<ContainerRunner, T[]>,
  runner: ContainerRunner | undefined,
  item: T,
): void {
  if (runner === undefined) return;
  const items = map.get(runner);
  if (items === undefined) map.set(runner, [item]);
  else items.push(item);
}

function isEqual(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
