// Keeps the pods of ReplicaSets: as many as wanted, made from the template, counted in the status.
// Rule KUBELET61.
import { conditionIn } from "../kube/condition.ts";
import { randomText } from "../env/random.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod, PodTemplateSpec, ReplicaSet } from "../kube/generated/types.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import { pods, replicaSets } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { parseTime } from "../kube/time.ts";
import { KeyedWork } from "./controller-part.ts";
import type { ControllerParts } from "./controller-part.ts";
import { isReady } from "./kubelet-services.ts";
import { hasEnded } from "./scheduler-view.ts";

/** Letters and digits that form no words. */
export const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";

export function startReplicaSetController(parts: ControllerParts): void {
  const { informers } = parts;
  const controller = new ReplicaSetController(parts);
  const work = new KeyedWork(parts, "replica set controller", 20, (key) => controller.sync(key));
  informers.of(replicaSets).onChange(({ type, object }) => {
    if (type !== "DELETED") work.add(keyText(keyOf(object)));
  });
  informers.of(pods).onChange(({ type, object }) => {
    const owner = controllerOf(object);
    if (owner?.kind !== "ReplicaSet") return;
    controller.observe(object, type === "DELETED");
    work.add(`${object.metadata.namespace ?? ""}/${owner.name}`);
  });
}

class ReplicaSetController {
  readonly #parts: ControllerParts;
  readonly #pods = new Map<string, Map<string, Stored<Pod>>>();

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  observe(pod: Stored<Pod>, isGone: boolean): void {
    const owner = controllerOf(pod)?.uid ?? "";
    const owned = this.#pods.get(owner) ?? new Map<string, Stored<Pod>>();
    this.#pods.set(owner, owned);
    if (isGone) owned.delete(pod.metadata.uid ?? "");
    else owned.set(pod.metadata.uid ?? "", pod);
    if (owned.size === 0) this.#pods.delete(owner);
  }

  async sync(key: string): Promise<void> {
    const set = this.#parts.informers.of(replicaSets).get(parseKeyText(key));
    if (set === undefined) return;
    const owned = [...(this.#pods.get(set.metadata.uid ?? "")?.values() ?? [])];
    const active = owned.filter(
      (pod) => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined,
    );
    if (set.metadata.deletionTimestamp === undefined) {
      const missing = (set.spec?.replicas ?? 1) - active.length;
      for (let number = 0; number < missing; number += 1) await this.#create(set);
      for (const pod of surplus(active, -missing)) await this.#delete(pod);
    }
    await this.#writeStatus(set, active);
  }

  async #create(set: Stored<ReplicaSet>): Promise<void> {
    const { namespace, name = "" } = set.metadata;
    const suffix = randomText(this.#parts.random, 5, nameAlphabet);
    const template = set.spec?.template ?? { metadata: {} };
    const pod = podFromTemplate(template, {
      namespace,
      name: `${name}-${suffix}`,
      ownerReferences: [ownerReference(set)],
    });
    const created = await this.#parts.client.create(pods, pod);
    // The next pass must count this pod even before the watch shows it.
    this.observe(created, false);
  }

  async #delete(pod: Stored<Pod>): Promise<void> {
    try {
      await this.#parts.client.delete(pods, keyOf(pod), {
        preconditions: { uid: pod.metadata.uid },
      });
      const metadata = { ...pod.metadata, deletionTimestamp: "deleting" };
      this.observe({ ...pod, metadata }, false);
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
    }
  }

  async #writeStatus(set: Stored<ReplicaSet>, active: readonly Pod[]): Promise<void> {
    const ready = active.filter(isReady);
    const nowMs = this.#parts.clock.nowMs();
    const minReadyMs = (set.spec?.minReadySeconds ?? 0) * 1000;
    const available = ready.filter((pod) => nowMs - readySinceMs(pod, nowMs) >= minReadyMs);
    const status = {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: ready.length,
      availableReplicas: available.length,
      observedGeneration: set.metadata.generation,
    };
    const known: Record<string, unknown> = { ...set.status };
    if (Object.entries(status).every(([name, value]) => (known[name] ?? 0) === value)) return;
    const options = { type: "merge", subresource: "status" } as const;
    await this.#parts.client.patch(replicaSets, keyOf(set), { status }, options);
  }
}

export function controllerOf(object: { metadata: Stored<Pod>["metadata"] }) {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function ownerReference(owner: Stored<object>) {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

function podFromTemplate(
  template: PodTemplateSpec,
  metadata: Stored<Pod>["metadata"],
): Stored<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      labels: template.metadata?.labels,
      annotations: template.metadata?.annotations,
    },
    spec: template.spec,
  };
}

/** The least useful pods first: without a node, not ready, youngest. */
function surplus(active: readonly Stored<Pod>[], count: number): Stored<Pod>[] {
  const rank = (pod: Pod): number => ((pod.spec?.nodeName ?? "") === "" ? 0 : isReady(pod) ? 2 : 1);
  const bornMs = (pod: Stored<Pod>): number => parseTime(pod.metadata.creationTimestamp) ?? 0;
  return active
    .toSorted(
      (left, right) =>
        rank(left) - rank(right) ||
        bornMs(right) - bornMs(left) ||
        ((left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1),
    )
    .slice(0, Math.max(0, count));
}

function readySinceMs(pod: Pod, nowMs: number): number {
  const ready = conditionIn(pod.status, "Ready");
  return parseTime(ready?.lastTransitionTime) ?? nowMs;
}
