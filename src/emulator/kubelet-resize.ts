// Other CPU and memory for the containers of a pod that runs: whether the node has room, what the pod says meanwhile, and when
// it is done. A node with the label `emulated.foundationdb.org/cpu-manager-policy: static` gives CPUs to Guaranteed pods for good.
// Carries rules KUBELET103 and KUBELET104.
import type { Timer } from "../env/clock.ts";
import { randomInteger } from "../env/random.ts";
import type { Container, Pod, ResourceRequirements } from "../kube/generated/types.ts";
import { nodes, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { KubeletCore, NodeState } from "./kubelet-core.ts";
import { recordedStatus } from "./kubelet-status.ts";
import type { ContainerResources, ResizeState } from "./kubelet-status.ts";
import { add, amounts, podRequests } from "./scheduler-resources.ts";
import type { Amounts } from "./scheduler-resources.ts";
import { hasEnded } from "./scheduler-view.ts";

export const cpuManagerLabel = "emulated.foundationdb.org/cpu-manager-policy";
const retryMs = 10_000;

export interface ResizeHost {
  readonly pod: () => Stored<Pod>;
  /** Something is to be said. */
  touch(): void;
  /** The container runs with these resources from now on; `isRestarted` when it has to start again for them. */
  apply(name: string, resources: ResourceRequirements, isRestarted: boolean): void;
}

export class PodResizer {
  readonly #core: KubeletCore;
  readonly #node: NodeState;
  readonly #host: ResizeHost;
  readonly #resources = new Map<string, ContainerResources>();
  #state: ResizeState | undefined;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(core: KubeletCore, node: NodeState, host: ResizeHost) {
    this.#core = core;
    this.#node = node;
    this.#host = host;
    const pod = host.pod();
    for (const container of containersOf(pod)) {
      // A kubelet that starts again knows what it has given before.
      const known = recordedStatus(pod, container.name)?.resources;
      const given = known ?? container.resources ?? {};
      this.#resources.set(container.name, { allocated: given, applied: given });
    }
  }

  get state(): ResizeState | undefined {
    return this.#state;
  }

  resourcesOf(name: string): ContainerResources | undefined {
    return this.#resources.get(name);
  }

  /** A kubelet that starts again goes on with what was not done. */
  start(): void {
    if (this.#wanted().length > 0) this.consider();
  }

  /** The pod's spec has changed. */
  consider(): void {
    if (this.#isOver || this.#timer !== undefined) return;
    if (this.#wanted().length === 0) return this.#say(undefined);
    this.#later(this.#pauseMs(), () => this.#decide());
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#core.allocations.delete(this.#host.pod().metadata.uid ?? "");
  }

  #wanted(): Container[] {
    return containersOf(this.#host.pod()).filter(({ name, resources = {} }) => {
      const known = this.#resources.get(name);
      return known !== undefined && !isSame(known.allocated, resources);
    });
  }

  #decide(): void {
    const changed = this.#wanted();
    if (changed.length === 0) return this.#say(undefined);
    const obstacle = this.#obstacle(changed);
    if (obstacle !== undefined) {
      this.#say(obstacle);
      return obstacle.reason === "Deferred"
        ? this.#later(retryMs, () => this.#decide())
        : undefined;
    }
    for (const { name, resources = {} } of changed) {
      const applied = this.#resources.get(name)?.applied ?? {};
      this.#resources.set(name, { allocated: resources, applied });
    }
    const pod = this.#host.pod();
    this.#core.allocations.set(pod.metadata.uid ?? "", podRequests(pod));
    this.#say({ type: "PodResizeInProgress" });
    this.#later(this.#pauseMs(), () => this.#finish());
  }

  #finish(): void {
    for (const { name, resizePolicy = [] } of containersOf(this.#host.pod())) {
      const known = this.#resources.get(name);
      if (known === undefined || isSame(known.applied, known.allocated)) continue;
      const changed = changedNames(known.applied, known.allocated);
      const isRestarted = resizePolicy.some(
        ({ resourceName, restartPolicy }) =>
          restartPolicy === "RestartContainer" && changed.has(resourceName),
      );
      this.#resources.set(name, { allocated: known.allocated, applied: known.allocated });
      this.#host.apply(name, known.allocated, isRestarted);
    }
    this.#say(undefined);
    // It may have been changed again meanwhile.
    this.consider();
  }

  #obstacle(changed: readonly Container[]): ResizeState | undefined {
    const pod = this.#host.pod();
    const node = this.#core.informers.of(nodes).get({ name: this.#node.name });
    const type = "PodResizePending";
    const isStatic = node?.metadata.labels?.[cpuManagerLabel] === "static";
    if (isStatic && pod.status?.qosClass === "Guaranteed" && changed.some(this.#hasOtherCpu)) {
      const message =
        'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
      return { type, reason: "Infeasible", message };
    }
    const requests = podRequests(pod);
    const capacity = amounts(node?.status?.allocatable);
    const used = this.#usedByOthers(pod);
    for (const resource of ["cpu", "memory"]) {
      const [asked = 0, there = 0] = [requests[resource], capacity[resource]];
      const taken = used[resource] ?? 0;
      const figures = `${resource}, requested: ${asked}`;
      if (asked > there) {
        const message = `Node didn't have enough capacity: ${figures}, capacity: ${there}`;
        return { type, reason: "Infeasible", message };
      }
      if (asked > there - taken) {
        const message = `Node didn't have enough resource: ${figures}, used: ${taken}, capacity: ${there}`;
        return { type, reason: "Deferred", message };
      }
    }
    return undefined;
  }

  readonly #hasOtherCpu = ({ name, resources }: Container): boolean =>
    this.#resources.get(name)?.allocated.requests?.["cpu"] !== resources?.requests?.["cpu"];

  #usedByOthers(pod: Stored<Pod>): Amounts {
    const used: Record<string, number> = {};
    for (const other of this.#core.informers.of(pods).list()) {
      if (other.spec?.nodeName !== this.#node.name || hasEnded(other)) continue;
      if (other.metadata.uid === pod.metadata.uid) continue;
      add(used, this.#core.allocations.get(other.metadata.uid ?? "") ?? podRequests(other));
    }
    return used;
  }

  #say(state: ResizeState | undefined): void {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) {
      // It has seen another generation of the pod.
      if (state === undefined) this.#host.touch();
      return;
    }
    this.#state = state;
    if (state?.reason !== undefined) {
      const reason = `Resize${state.reason}`;
      this.#core.events.record(this.#host.pod(), "Warning", reason, state.message ?? "");
    }
    this.#host.touch();
  }

  #pauseMs(): number {
    const { min, max } = this.#core.options.containerStartMs;
    return randomInteger(this.#core.random, min, max);
  }

  #later(delayMs: number, run: () => void): void {
    this.#timer = this.#core.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      if (!this.#isOver) run();
    });
  }
}

function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

function changedNames(
  before: ResourceRequirements,
  after: ResourceRequirements,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const list of ["requests", "limits"] as const) {
    for (const name of ["cpu", "memory"]) {
      if (before[list]?.[name] !== after[list]?.[name]) names.add(name);
    }
  }
  return names;
}

function isSame(left: ResourceRequirements, right: ResourceRequirements): boolean {
  return left === right || changedNames(left, right).size === 0;
}
