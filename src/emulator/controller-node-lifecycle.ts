// What happens to nodes that fall silent or vanish: Ready becomes Unknown, taints follow, pods are
// evicted when their tolerations run out, and pods of vanished nodes are removed. Carries rules
// KUBELET30, KUBELET57 and KUBELET59.
import { conditionIn } from "../kube/condition.ts";
import { leastOf } from "../env/long-lists.ts";
import type { Timer } from "../env/clock.ts";
import { isKubeError } from "../kube/error.ts";
import type { Lease, Node, Pod, Taint } from "../kube/generated/types.ts";
import { keyOf, keyText } from "../kube/path.ts";
import { leases, nodes, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTime, parseTime } from "../kube/time.ts";
import { KeyedWork } from "./controller-part.ts";
import type { ControllerParts } from "./controller-part.ts";
import { leaseNamespace } from "./kubelet-node.ts";
import { isReady } from "./kubelet-services.ts";
import { tolerates } from "../kube/tolerations.ts";

const notReadyKey = "node.kubernetes.io/not-ready";
const unreachableKey = "node.kubernetes.io/unreachable";
/** A timer further away than this would only keep an idle world busy. */
const horizonMs = 86_400_000;
const orphanMs = 40_000;

export class NodeLifecycleController {
  readonly #parts: ControllerParts;
  readonly #work: KeyedWork;
  readonly #expiries = new Map<string, Timer>();
  /** Evictions that are due, by pod uid. */
  readonly #evictions = new Map<string, { dueMs: number; timer: Timer }>();
  readonly #podsByNode = new Map<string, Map<string, Stored<Pod>>>();

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#work = new KeyedWork(parts, "node lifecycle", 10, (name) => this.#sync(name));
  }

  start(): void {
    const { informers, signal } = this.#parts;
    informers.of(pods).onChange(({ type, object, old }) => {
      const key = keyText(keyOf(object));
      if (old !== undefined) this.#podsByNode.get(old.spec?.nodeName ?? "")?.delete(key);
      if (type === "DELETED") return this.#cancelEviction(object.metadata.uid ?? "");
      const nodeName = object.spec?.nodeName ?? "";
      if (nodeName === "") return;
      const onNode = this.#podsByNode.get(nodeName) ?? new Map<string, Stored<Pod>>();
      this.#podsByNode.set(nodeName, onNode.set(key, object));
      const node = informers.of(nodes).get({ name: nodeName });
      if (node !== undefined) this.#planEviction(node, object);
      else if (old === undefined || old.spec?.nodeName !== nodeName)
        this.#work.add(nodeName, orphanMs);
    });
    informers.of(nodes).onChange(({ type, object }) => {
      const name = object.metadata.name ?? "";
      this.#work.add(name, type === "DELETED" ? orphanMs : undefined);
      if (type === "DELETED") return;
      for (const pod of this.#podsByNode.get(name)?.values() ?? []) this.#planEviction(object, pod);
    });
    informers.of(leases).onChange(({ type, object }) => {
      if (object.metadata.namespace === leaseNamespace)
        this.#watchLease(object, type === "DELETED");
    });
    signal.addEventListener("abort", () => this.#stop(), { once: true });
  }

  #watchLease(lease: Lease, isGone: boolean): void {
    const name = lease.metadata.name ?? "";
    this.#expiries.get(name)?.cancel();
    this.#expiries.delete(name);
    const leftMs = isGone ? undefined : this.#leaseLeftMs(lease);
    if (leftMs === undefined || leftMs > horizonMs) return;
    const timer = this.#parts.clock.setTimer(Math.max(0, leftMs), () => this.#work.add(name));
    this.#expiries.set(name, timer);
  }

  #leaseLeftMs(lease: Lease): number | undefined {
    const renewedAtMs = parseTime(lease.spec?.renewTime);
    const { leaseDurationSeconds } = lease.spec ?? {};
    if (renewedAtMs === undefined || leaseDurationSeconds === undefined) return undefined;
    return renewedAtMs + leaseDurationSeconds * 1000 - this.#parts.clock.nowMs();
  }

  async #sync(name: string): Promise<void> {
    const node = this.#parts.informers.of(nodes).get({ name });
    if (node === undefined) return this.#removeOrphans(name);
    const lease = this.#parts.informers.of(leases).get({ namespace: leaseNamespace, name });
    const leftMs = lease && this.#leaseLeftMs(lease);
    const ready = conditionIn(node.status, "Ready");
    const isSilent = leftMs !== undefined && leftMs <= 0;
    let current = node;
    if (isSilent && ready?.status !== "Unknown") {
      current = await this.#markUnknown(node);
      await this.#markPodsNotReady(name);
    }
    await this.#setTaints(current, isSilent ? "Unknown" : (ready?.status ?? "Unknown"));
  }

  #markUnknown(node: Stored<Node>): Promise<Stored<Node>> {
    const now = formatTime(this.#parts.clock.nowMs());
    const conditions = (node.status?.conditions ?? []).map((condition) => ({
      ...condition,
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: now,
    }));
    const options = { type: "strategic", subresource: "status" } as const;
    const body = { status: { conditions } };
    return this.#parts.client.patch(nodes, keyOf(node), body, options);
  }

  async #markPodsNotReady(nodeName: string): Promise<void> {
    const lastTransitionTime = formatTime(this.#parts.clock.nowMs());
    for (const pod of [...(this.#podsByNode.get(nodeName)?.values() ?? [])]) {
      if (!isReady(pod)) continue;
      const conditions = [{ type: "Ready", status: "False", lastTransitionTime }];
      const options = { type: "strategic", subresource: "status" } as const;
      await ignoringNotFound(
        this.#parts.client.patch(pods, keyOf(pod), { status: { conditions } }, options),
      );
    }
  }

  /** The taints that belong to the node's condition, besides those that others put there. */
  async #setTaints(node: Stored<Node>, ready: string): Promise<void> {
    const timeAdded = formatTime(this.#parts.clock.nowMs());
    const key = ready === "True" ? undefined : ready === "False" ? notReadyKey : unreachableKey;
    const isOurs = (taint: Taint): boolean =>
      taint.key === notReadyKey || taint.key === unreachableKey;
    const before = node.spec?.taints ?? [];
    const wanted: Taint[] =
      key === undefined
        ? []
        : [
            { key, effect: "NoSchedule" },
            { key, effect: "NoExecute", timeAdded },
          ];
    const isSame = (left: Taint, right: Taint): boolean =>
      left.key === right.key && left.effect === right.effect;
    const ours = before.filter(isOurs);
    const isRight =
      ours.length === wanted.length &&
      wanted.every((taint) => ours.some((known) => isSame(known, taint)));
    if (isRight) return;
    const kept = wanted.map((taint) => ours.find((known) => isSame(known, taint)) ?? taint);
    const taints = [...before.filter((taint) => !isOurs(taint)), ...kept];
    const { resourceVersion } = node.metadata;
    const body = { metadata: { resourceVersion }, spec: { taints } };
    await this.#parts.client.patch(nodes, keyOf(node), body, { type: "merge" });
  }

  /**
   * A pod leaves a node with a NoExecute taint at once, later, or never, as its tolerations say.
   */
  #planEviction(node: Node, pod: Stored<Pod>): void {
    const uid = pod.metadata.uid ?? "";
    const dueMs = evictionTimeMs(node, pod, this.#parts.clock.nowMs());
    const known = this.#evictions.get(uid);
    if (dueMs === undefined || pod.metadata.deletionTimestamp !== undefined) {
      return this.#cancelEviction(uid);
    }
    if (known !== undefined && known.dueMs <= dueMs) return;
    known?.timer.cancel();
    const delayMs = Math.max(0, dueMs - this.#parts.clock.nowMs());
    const timer = this.#parts.clock.setTimer(delayMs, () => {
      this.#evictions.delete(uid);
      void this.#evict(pod);
    });
    this.#evictions.set(uid, { dueMs, timer });
  }

  async #evict(pod: Stored<Pod>): Promise<void> {
    const { uid, name } = pod.metadata;
    try {
      await ignoringNotFound(
        this.#parts.client.delete(pods, keyOf(pod), { preconditions: { uid } }),
      );
    } catch (error) {
      this.#parts.log.warn("a pod was not evicted", { pod: name, error: String(error) });
    }
  }

  #cancelEviction(uid: string): void {
    this.#evictions.get(uid)?.timer.cancel();
    this.#evictions.delete(uid);
  }

  async #removeOrphans(nodeName: string): Promise<void> {
    for (const pod of [...(this.#podsByNode.get(nodeName)?.values() ?? [])]) {
      const preconditions = { uid: pod.metadata.uid };
      await ignoringNotFound(
        this.#parts.client.delete(pods, keyOf(pod), { gracePeriodSeconds: 0, preconditions }),
      );
    }
  }

  #stop(): void {
    for (const timer of this.#expiries.values()) timer.cancel();
    for (const { timer } of this.#evictions.values()) timer.cancel();
  }
}

/** When the pod must go; undefined when it may stay for ever. */
export function evictionTimeMs(node: Node, pod: Pod, nowMs: number): number | undefined {
  let earliestMs: number | undefined;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== "NoExecute") continue;
    const matching = (pod.spec?.tolerations ?? []).filter((one) => tolerates(one, taint));
    const limits = matching.flatMap((one) => one.tolerationSeconds ?? []);
    if (matching.length > 0 && limits.length === 0) continue;
    const seconds = matching.length === 0 ? 0 : Math.max(0, leastOf(limits));
    const dueMs = (parseTime(taint.timeAdded) ?? nowMs) + seconds * 1000;
    earliestMs = Math.min(earliestMs ?? dueMs, dueMs);
  }
  return earliestMs;
}

async function ignoringNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
  }
}
