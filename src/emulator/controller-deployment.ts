// Rolls Deployments out: one ReplicaSet per template, the newest grows while the older ones shrink
// within the limits of the strategy, and the status says how far it is. Carries rules KUBELET62
// and KUBELET63.
import { conditionIn } from "../kube/condition.ts";
import { mostOf } from "../env/long-lists.ts";
import { createHash } from "node:crypto";
import { isKubeError } from "../kube/error.ts";
import type { Deployment, ReplicaSet } from "../kube/generated/types.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import { deployments, replicaSets } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTime } from "../kube/time.ts";
import { KeyedWork } from "./controller-part.ts";
import type { ControllerParts } from "./controller-part.ts";
import { controllerOf, nameAlphabet, ownerReference } from "./controller-replica-set.ts";

const hashLabel = "pod-template-hash";
const revisionAnnotation = "deployment.kubernetes.io/revision";

export function startDeploymentController(parts: ControllerParts): void {
  const { informers } = parts;
  const controller = new DeploymentController(parts);
  const work = new KeyedWork(parts, "deployment controller", 20, (key) => controller.sync(key));
  informers.of(deployments).onChange(({ type, object }) => {
    if (type !== "DELETED") work.add(keyText(keyOf(object)));
  });
  informers.of(replicaSets).onChange(({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind === "Deployment") work.add(`${object.metadata.namespace ?? ""}/${owner.name}`);
  });
}

type StoredSet = Stored<ReplicaSet>;

class DeploymentController {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  async sync(key: string): Promise<void> {
    const deployment = this.#parts.informers.of(deployments).get(parseKeyText(key));
    if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return;
    const owned = this.#parts.informers
      .of(replicaSets)
      .list()
      .filter((set) => controllerOf(set)?.uid === deployment.metadata.uid);
    const hash = templateHash(deployment);
    let current = owned.find((set) => set.metadata.labels?.[hashLabel] === hash);
    const older = owned.filter((set) => set !== current);
    if (current === undefined && deployment.spec?.paused !== true) {
      current = await this.#create(deployment, hash, older);
    }
    if (current !== undefined && deployment.spec?.paused !== true) {
      await this.#roll(deployment, current, older);
    }
    await this.#writeStatus(deployment, current, older);
  }

  async #create(
    deployment: Stored<Deployment>,
    hash: string,
    older: readonly StoredSet[],
  ): Promise<StoredSet> {
    const revision = mostOf(older.map(revisionOf), 0) + 1;
    const template = deployment.spec?.template ?? { metadata: {} };
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    const { namespace, name = "" } = deployment.metadata;
    const { surge } = limits(deployment);
    const wanted = deployment.spec?.replicas ?? 1;
    const running = sum(older, (set) => set.spec?.replicas ?? 0);
    const isRecreate = deployment.spec?.strategy?.type === "Recreate" && running > 0;
    const replicas = isRecreate ? 0 : Math.max(0, Math.min(wanted, wanted + surge - running));
    const set: StoredSet = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        namespace,
        name: `${name}-${hash}`,
        labels,
        annotations: { [revisionAnnotation]: String(revision) },
        ownerReferences: [ownerReference(deployment)],
      },
      spec: {
        replicas,
        minReadySeconds: deployment.spec?.minReadySeconds,
        selector: {
          ...deployment.spec?.selector,
          matchLabels: { ...deployment.spec?.selector?.matchLabels, [hashLabel]: hash },
        },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    try {
      const created = await this.#parts.client.create(replicaSets, set);
      const annotations = { [revisionAnnotation]: String(revision) };
      const body = { metadata: { annotations } };
      // Through the status: a change of annotations alone would count as a new generation.
      const options = { type: "merge", subresource: "status" } as const;
      await this.#parts.client.patch(deployments, keyOf(deployment), body, options);
      return created;
    } catch (error) {
      if (!isKubeError(error, "AlreadyExists")) throw error;
      return this.#parts.client.get(replicaSets, keyOf(set));
    }
  }

  async #roll(
    deployment: Stored<Deployment>,
    current: StoredSet,
    older: readonly StoredSet[],
  ): Promise<void> {
    const wanted = deployment.spec?.replicas ?? 1;
    const live = older.filter((set) => (set.spec?.replicas ?? 0) > 0);
    if (deployment.spec?.strategy?.type === "Recreate") {
      for (const set of live) await this.#scale(set, 0);
      const left = sum(older, (set) => set.status?.replicas ?? 0);
      if (live.length === 0 && left === 0) await this.#scale(current, wanted);
      return;
    }
    const { surge, unavailable } = limits(deployment);
    const olderWanted = sum(live, (set) => set.spec?.replicas ?? 0);
    const roof = live.length === 0 ? wanted : wanted + surge;
    await this.#scale(current, Math.max(0, Math.min(wanted, roof - olderWanted)));
    let available = sum([current, ...live], availableOf);
    for (const set of live.toSorted((left, right) => revisionOf(left) - revisionOf(right))) {
      const has = set.spec?.replicas ?? 0;
      const sick = has - availableOf(set);
      const spare = Math.max(0, available - (wanted - unavailable));
      const fewer = Math.min(has, sick + spare);
      available -= Math.max(0, fewer - sick);
      if (fewer > 0) await this.#scale(set, has - fewer);
    }
  }

  async #scale(set: StoredSet, replicas: number): Promise<void> {
    if ((set.spec?.replicas ?? 1) === replicas) return;
    const body = { spec: { replicas } };
    await this.#parts.client.patch(replicaSets, keyOf(set), body, { type: "merge" });
  }

  async #writeStatus(
    deployment: Stored<Deployment>,
    current: StoredSet | undefined,
    older: readonly StoredSet[],
  ): Promise<void> {
    const all = current === undefined ? older : [current, ...older];
    const wanted = deployment.spec?.replicas ?? 1;
    const total = (pick: (set: StoredSet) => number | undefined): number =>
      sum(all, (set) => pick(set) ?? 0);
    const available = total((set) => set.status?.availableReplicas);
    const counts = {
      observedGeneration: deployment.metadata.generation,
      replicas: total((set) => set.status?.replicas),
      updatedReplicas: current?.status?.replicas ?? 0,
      readyReplicas: total((set) => set.status?.readyReplicas),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, wanted - available),
    };
    const known: Record<string, unknown> = { ...deployment.status };
    const isSame = Object.entries(counts).every(([name, value]) => (known[name] ?? 0) === value);
    if (isSame && deployment.status?.conditions !== undefined) return;
    const isAvailable = available >= wanted - limits(deployment).unavailable;
    const isComplete =
      counts.updatedReplicas === wanted && counts.replicas === wanted && isAvailable;
    const condition = this.#conditionBuilder(deployment);
    const setName = `ReplicaSet "${current?.metadata.name ?? ""}"`;
    const status = {
      ...counts,
      conditions: [
        isAvailable
          ? condition(
              "Available",
              "True",
              "MinimumReplicasAvailable",
              "Deployment has minimum availability.",
            )
          : condition(
              "Available",
              "False",
              "MinimumReplicasUnavailable",
              "Deployment does not have minimum availability.",
            ),
        isComplete && available >= wanted
          ? condition(
              "Progressing",
              "True",
              "NewReplicaSetAvailable",
              `${setName} has successfully progressed.`,
            )
          : condition("Progressing", "True", "ReplicaSetUpdated", `${setName} is progressing.`),
      ],
    };
    const options = { type: "merge", subresource: "status" } as const;
    await this.#parts.client.patch(deployments, keyOf(deployment), { status }, options);
  }

  #conditionBuilder(deployment: Stored<Deployment>) {
    const now = formatTime(this.#parts.clock.nowMs());
    return (type: string, status: string, reason: string, message: string) => {
      const known = conditionIn(deployment.status, type);
      const isSame = known?.status === status;
      return {
        type,
        status,
        reason,
        message,
        lastUpdateTime: now,
        lastTransitionTime: isSame ? known.lastTransitionTime : now,
      };
    };
  }
}

/** A set that was just told to shrink does not count the pods that it is about to lose. */
function availableOf(set: StoredSet): number {
  return Math.min(set.spec?.replicas ?? 0, set.status?.availableReplicas ?? 0);
}

function revisionOf(set: StoredSet): number {
  return Number(set.metadata.annotations?.[revisionAnnotation] ?? 0);
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

/** How many pods more and fewer than wanted there may be during a rollout. */
function limits(deployment: Deployment): { surge: number; unavailable: number } {
  const wanted = deployment.spec?.replicas ?? 1;
  const rolling = deployment.spec?.strategy?.rollingUpdate;
  const scaled = (value: string | number, round: (number: number) => number): number => {
    const percent = /^(\d+)%$/.exec(String(value))?.[1];
    return percent === undefined ? Number(value) : round((Number(percent) * wanted) / 100);
  };
  const surge = scaled(rolling?.maxSurge ?? "25%", Math.ceil);
  const unavailable = scaled(rolling?.maxUnavailable ?? "25%", Math.floor);
  // Both zero would never move.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** Equal templates have equal hashes. */
function templateHash(deployment: Deployment): string {
  const text = JSON.stringify(deployment.spec?.template);
  const digest = createHash("sha256").update(text).digest();
  return Array.from(
    digest.subarray(0, 10),
    (byte) => nameAlphabet[byte % nameAlphabet.length],
  ).join("");
}
