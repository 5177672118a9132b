// Everything bad that a random walk does to a world, one function for each kind of trouble, and what heals it all.
// What it does is drawn from the given generator alone. Rules: spec/world.md [W62].
import { foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterStatus } from "../../api/cluster.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf } from "../../kube/path.ts";
import { configMaps, nodes, persistentVolumeClaims, pods, services } from "../../kube/resource.ts";
import type { Resource, Stored } from "../../kube/resource.ts";
import type { World } from "../world.ts";
import type { FaultyRoad } from "./faulty-transport.ts";
import type { SlowDatabase } from "./slow-database.ts";

export interface ChaosParts {
  world: World;
  random: Random;
  /** Only objects with this label are touched. */
  labelSelector: string;
  /** Of the operator that runs. */
  road: () => FaultyRoad;
  database: () => SlowDatabase;
}

const holder = "walk.foundationdb.org/hold";

export type Trouble = (typeof troubles)[number];

export const troubles = [
  "delete pod",
  "delete several pods",
  "kill pod without grace",
  "evict pod",
  "crash processes",
  "stop node",
  "start node",
  "remove node",
  "cut network",
  "heal network",
  "spoil labels",
  "delete ConfigMap",
  "spoil ConfigMap",
  "delete service",
  "bad road",
  "good road",
  "slow database",
  "quick database",
  "compact history",
  "restart operator",
  "crash operator",
  "wipe status",
  "forget connection string",
  "swap labels",
  "hold pod",
  "cordon node",
  "uncordon node",
  "lose volume claim",
] as const;

export class Chaos {
  readonly #parts: ChaosParts;
  readonly #stopped = new Set<string>();
  readonly #cut = new Set<string>();
  #newNodes = 0;

  constructor(parts: ChaosParts) {
    this.#parts = parts;
  }

  /** Makes one trouble; what was hit, as a person reads it. */
  async make(trouble: Trouble): Promise<string> {
    const { world, random } = this.#parts;
    switch (trouble) {
      case "delete pod":
        return this.#deletePods(1);
      case "delete several pods":
        return this.#deletePods(randomInteger(random, 2, 6));
      case "kill pod without grace":
        return this.#deletePods(1, 0);
      case "evict pod":
        return this.#evictPod();
      case "crash processes":
        return this.#crashProcesses();
      case "stop node":
        return this.#stopNode();
      case "start node":
        return this.#startNodes(1);
      case "remove node":
        return this.#removeNode();
      case "cut network":
        return this.#cutNetwork();
      case "heal network":
        return this.#healNetwork();
      case "spoil labels":
        return this.#spoilLabels();
      case "delete ConfigMap":
        return this.#deleteOne(configMaps as Resource<KubeObject>);
      case "spoil ConfigMap":
        return this.#spoilConfigMap();
      case "delete service":
        return this.#deleteOne(services as Resource<KubeObject>);
      case "compact history":
        world.server.compact();
        return "";
      case "restart operator":
      case "crash operator":
        return this.#restartOperator(trouble === "crash operator");
      case "wipe status":
        return this.#editStatus(() => ({}));
      case "forget connection string":
        return this.#editStatus(({ connectionString: _, ...status }) => status);
      case "swap labels":
        return this.#swapLabels();
      case "hold pod":
        return this.#holdPod();
      case "cordon node":
        return this.#cordon(true);
      case "uncordon node":
        return this.#cordon(false);
      case "lose volume claim":
        return this.#loseVolumeClaim();
      default:
        return this.#changeConditions(trouble);
    }
  }

  /** Takes back everything that would not pass by itself. */
  async heal(): Promise<void> {
    this.#changeConditions("good road");
    this.#changeConditions("quick database");
    this.#healNetwork();
    await this.#startNodes(Infinity);
    await this.#cordon(false);
    await this.#releasePods();
  }

  #changeConditions(trouble: string): string {
    const { random, road, database } = this.#parts;
    const isBad = trouble === "bad road" || trouble === "slow database";
    const chance = isBad ? randomInteger(random, 1, 5) / 10 : 0;
    if (trouble.endsWith("road")) {
      Object.assign(road().conditions, { failureChance: chance, watchBreakChance: chance });
    } else {
      database().conditions.slowChance = chance;
    }
    return String(chance);
  }

  async #list<T extends KubeObject>(resource: Resource<T>): Promise<T[]> {
    const { world, labelSelector } = this.#parts;
    return (await world.client.list(resource, { labelSelector })).items;
  }

  async #somePods(count: number): Promise<Stored<Pod>[]> {
    const found = await this.#list(pods);
    const chosen: Stored<Pod>[] = [];
    while (chosen.length < count && found.length > 0) {
      const [pod] = found.splice(randomInteger(this.#parts.random, 0, found.length - 1), 1);
      if (pod !== undefined) chosen.push(pod);
    }
    return chosen;
  }

  async #deletePods(count: number, gracePeriodSeconds?: number): Promise<string> {
    const chosen = await this.#somePods(count);
    for (const pod of chosen) {
      await ignoringRaces(() =>
        this.#parts.world.client.delete(pods, keyOf(pod), {
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        }),
      );
    }
    return namesOf(chosen);
  }

  async #deleteOne(resource: Resource<KubeObject>): Promise<string> {
    const found = await this.#list(resource);
    if (found.length === 0) return "none";
    const object = randomPick(this.#parts.random, found);
    await ignoringRaces(() => this.#parts.world.client.delete(resource, keyOf(object)));
    return namesOf([object]);
  }

  async #evictPod(): Promise<string> {
    const chosen = await this.#somePods(1);
    for (const { metadata } of chosen) {
      const message = "The node was low on resource: memory.";
      this.#parts.world.kubelet.evictPod(metadata.namespace ?? "", metadata.name ?? "", message);
    }
    return namesOf(chosen);
  }

  async #crashProcesses(): Promise<string> {
    const chosen = await this.#somePods(randomInteger(this.#parts.random, 1, 4));
    for (const pod of chosen) {
      for (const { ip } of pod.status?.podIPs ?? []) {
        const host = ip.includes(":") ? `[${ip}]` : ip;
        this.#parts.world.fdb.faults.crashProcess(`${host}:4501`);
      }
    }
    return namesOf(chosen);
  }

  async #stopNode(): Promise<string> {
    const { world, random } = this.#parts;
    const running = world.kubelet.nodeNames().filter((name) => !this.#stopped.has(name));
    if (running.length < 2) return "none";
    const name = randomPick(random, running);
    this.#stopped.add(name);
    await world.kubelet.stopNode(name);
    return name;
  }

  async #startNodes(count: number): Promise<string> {
    const chosen = [...this.#stopped].slice(0, count);
    for (const name of chosen) {
      this.#stopped.delete(name);
      await this.#parts.world.kubelet.startNode(name);
    }
    return chosen.join(" ");
  }

  /** A node is gone for good; a new one takes its place in the zone, since volumes do not leave theirs. */
  async #removeNode(): Promise<string> {
    const { world, random } = this.#parts;
    const name = randomPick(random, world.kubelet.nodeNames());
    const node = await world.client.find(nodes, { name });
    const zone = node?.metadata.labels?.["topology.kubernetes.io/zone"];
    await world.kubelet.removeNode(name);
    this.#stopped.delete(name);
    this.#newNodes += 1;
    await world.kubelet.addNode({
      name: `new-node-${this.#newNodes}`,
      ...(zone === undefined ? {} : { zone }),
    });
    return name;
  }

  async #cutNetwork(): Promise<string> {
    const chosen = await this.#somePods(1);
    for (const { ip } of chosen.flatMap((pod) => pod.status?.podIPs ?? [])) {
      this.#cut.add(ip);
      this.#parts.world.network.cut(ip);
      this.#parts.world.fdb.faults.cutAddress(ip);
    }
    return namesOf(chosen);
  }

  #healNetwork(): string {
    for (const ip of this.#cut) {
      this.#parts.world.network.heal(ip);
      this.#parts.world.fdb.faults.restoreAddress(ip);
    }
    this.#cut.clear();
    return "";
  }

  async #spoilLabels(): Promise<string> {
    const { world, random } = this.#parts;
    const kinds = [pods, persistentVolumeClaims, configMaps] as unknown as Resource<KubeObject>[];
    const resource = randomPick(random, kinds);
    const found = await this.#list(resource);
    if (found.length === 0) return "none";
    const object = randomPick(random, found);
    // The label by which the walk finds its objects stays: it could not come back to them otherwise.
    const keys = Object.keys(object.metadata.labels ?? {}).filter(
      (key) => key !== this.#parts.labelSelector,
    );
    const labels = Object.fromEntries(
      keys.map((key) => [
        key,
        random.next() < 0.5 ? null : `spoilt-${randomInteger(random, 1, 99)}`,
      ]),
    );
    const patch = { metadata: { labels } };
    await ignoringRaces(() =>
      world.client.patch(resource, keyOf(object), patch, { type: "merge" }),
    );
    return namesOf([object]);
  }

  async #spoilConfigMap(): Promise<string> {
    const found = await this.#list(configMaps);
    if (found.length === 0) return "none";
    const object = randomPick(this.#parts.random, found);
    // A wrong connection string that a starting process has seen stays on its disk for ever: that one is left alone.
    const keys = Object.keys(object.data ?? {}).filter((key) => key !== "cluster-file");
    const spoilt = keys.length === 0 ? {} : { [randomPick(this.#parts.random, keys)]: null };
    const patch = { data: { ...spoilt, stray: "x" } };
    await ignoringRaces(() =>
      this.#parts.world.client.patch(configMaps, keyOf(object), patch, { type: "merge" }),
    );
    return namesOf([object]);
  }

  /** Somebody edits what only the operator should write. */
  async #editStatus(edit: (status: ClusterStatus) => ClusterStatus): Promise<string> {
    const { world, random } = this.#parts;
    const { items } = await world.client.list(foundationDbClusters);
    if (items.length === 0) return "none";
    const cluster = randomPick(random, items);
    const status = edit(cluster.status ?? {});
    await ignoringRaces(() =>
      world.client.updateStatus(foundationDbClusters, { ...cluster, status }),
    );
    return namesOf([cluster]);
  }

  /** Two pods say that they are each other. */
  async #swapLabels(): Promise<string> {
    const [one, two] = await this.#somePods(2);
    if (one === undefined || two === undefined) return "none";
    for (const [pod, other] of [
      [one, two],
      [two, one],
    ] as const) {
      const patch = { metadata: { labels: other.metadata.labels } };
      await ignoringRaces(() =>
        this.#parts.world.client.patch(pods, keyOf(pod), patch, { type: "merge" }),
      );
    }
    return namesOf([one, two]);
  }

  /** A finalizer keeps a deleted pod in sight. */
  async #holdPod(): Promise<string> {
    const { client } = this.#parts.world;
    const [pod] = await this.#somePods(1);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return "none";
    const patch = { metadata: { finalizers: [holder] } };
    await ignoringRaces(async () => {
      await client.patch(pods, keyOf(pod), patch, { type: "merge" });
      await client.delete(pods, keyOf(pod));
    });
    return namesOf([pod]);
  }

  async #releasePods(): Promise<void> {
    const { client } = this.#parts.world;
    for (const pod of (await client.list(pods)).items) {
      if (pod.metadata.finalizers?.includes(holder) !== true) continue;
      const patch = { metadata: { finalizers: null } };
      await ignoringRaces(() => client.patch(pods, keyOf(pod), patch, { type: "merge" }));
    }
  }

  async #cordon(isCordoned: boolean): Promise<string> {
    const { world, random } = this.#parts;
    const names = world.kubelet.nodeNames();
    const chosen = isCordoned ? [randomPick(random, names)] : names;
    const patch = { spec: { unschedulable: isCordoned ? true : null } };
    for (const name of chosen) {
      await ignoringRaces(() => world.client.patch(nodes, { name }, patch, { type: "merge" }));
    }
    return chosen.join(" ");
  }

  /** A volume is gone with its pod; only while everything else is well, since two such losses may be one too many. */
  async #loseVolumeClaim(): Promise<string> {
    const { world } = this.#parts;
    const found = await this.#somePods(Infinity);
    const [pod] = found.filter(({ spec }) =>
      spec?.volumes?.some((volume) => volume.persistentVolumeClaim !== undefined),
    );
    const isWhole = world.fdb.truth.databases().every(({ isAvailable, replicas }) => {
      const live = replicas.map((shard) => shard.replicas.filter((one) => one.isLive).length);
      return isAvailable && live.every((count) => count >= 2);
    });
    const isSafe =
      isWhole &&
      this.#cut.size + this.#stopped.size === 0 &&
      found.every(({ status }) => status?.phase === "Running");
    if (pod === undefined || !isSafe) return "none";
    const claim = `${pod.metadata.name ?? ""}-data`;
    const key = { name: claim, ...namespaceOf(pod) };
    await ignoringRaces(() => world.client.delete(persistentVolumeClaims, key));
    await ignoringRaces(() => world.client.delete(pods, keyOf(pod)));
    return claim;
  }

  async #restartOperator(isCrash: boolean): Promise<string> {
    const { world, road } = this.#parts;
    // A crashed operator says nothing more: even what it has under way does not arrive.
    if (isCrash) road().conditions.isClosed = true;
    await world.stopOperator();
    world.startOperator();
    return "";
  }
}

async function ignoringRaces(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isKubeError(error, "NotFound") && !isKubeError(error, "Conflict")) throw error;
  }
}

function namespaceOf({ metadata }: KubeObject): { namespace?: string } {
  return metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
}

function namesOf(objects: readonly KubeObject[]): string {
  return objects.map(({ metadata }) => metadata.name).join(" ");
}
