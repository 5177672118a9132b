// Worlds in which nodes are drained as kubectl does it: cordoned, and every pod asked to go, again and again, until it does.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { isKubeError } from "../../src/kube/error.ts";
import type { PodDisruptionBudget } from "../../src/kube/generated/types.ts";
import { nodes, podDisruptionBudgets, storageClasses } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { redundancyOf } from "../../src/model/redundancy.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { frugalProcesses, keyOfObject, minuteMs, nameOf, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const evictionPauseMs = 5_000;
const drainsOn = { drains: { enabled: true } };

export interface DrainShape {
  readonly mode?: NonNullable<ClusterSpec["databaseConfiguration"]>["redundancy_mode"];
  /** Volumes are disks of the nodes. */
  readonly isLocal?: boolean;
  readonly spec?: Partial<ClusterSpec>;
  readonly world?: TestWorldOptions;
}

/** A cluster that leaves drained nodes, at rest. */
export async function withDrains(
  { mode = "double", isLocal = false, spec = {}, world: options }: DrainShape,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await TestWorld.run({ nodes: 6, zones: 1, ...options }, async (world) => {
    await world.client.create(storageClasses, localClass);
    await world.createCluster({
      databaseConfiguration: { redundancy_mode: mode },
      processCounts: { storage: 4, log: 4, stateless: 4 },
      ...spec,
      processes: isLocal ? localProcesses : frugalProcesses,
      automationOptions: { ...drainsOn, ...spec.automationOptions },
    });
    await world.untilReconciled(10 * minuteMs);
    await world.clock.advance(3 * minuteMs);
    await body(world);
  });
}

export const localClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "local" },
  provisioner: "disk.emulated.foundationdb.org",
  volumeBindingMode: "WaitForFirstConsumer",
  parameters: { place: "node" },
} as const;

export const localProcesses: NonNullable<ClusterSpec["processes"]> = {
  general: {
    ...frugalProcesses["general"],
    volumeClaimTemplate: { metadata: {}, spec: { storageClassName: "local" } },
  },
};

export async function setNode(world: TestWorld, name: string, change: object): Promise<void> {
  await world.client.patch(nodes, { name }, change, { type: "merge" });
}

export function cordon(world: TestWorld, name: string, unschedulable = true): Promise<void> {
  return setNode(world, name, { spec: { unschedulable: unschedulable ? true : null } });
}

export async function podsOn(world: TestWorld, node: string) {
  return (await world.pods()).filter(({ spec }) => spec?.nodeName === node);
}

/** Nodes with pods of the cluster, sorted. */
export async function usedNodes(world: TestWorld): Promise<string[]> {
  const found = (await world.pods()).map(({ spec }) => spec?.nodeName ?? "");
  return [...new Set(found)].filter((name) => name !== "").sort();
}

/** One round of evictions; how many pods were there. */
export async function evictAll(world: TestWorld, node: string): Promise<number> {
  const here = (await podsOn(world, node)).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  for (const pod of here) {
    try {
      await world.client.evictPod(keyOfObject(pod));
    } catch (error) {
      assert.ok(
        isKubeError(error, "TooManyRequests") || isKubeError(error, "NotFound"),
        String(error),
      );
    }
  }
  return (await podsOn(world, node)).length;
}

/** The least number of copies of any data that were served, and the least fault tolerance, while it lasted. */
export class CopyWatch {
  least = Infinity;
  tolerance = Infinity;
  readonly #world: TestWorld;

  constructor(world: TestWorld) {
    this.#world = world;
  }

  look(): void {
    for (const { replicas } of this.#world.world.fdb.truth.replicas()) {
      this.least = Math.min(this.least, replicas.filter(({ isLive }) => isLive).length);
    }
    for (const { faultTolerance } of this.#world.world.fdb.measures()) {
      if (faultTolerance !== undefined) {
        this.tolerance = Math.min(this.tolerance, faultTolerance.data);
      }
    }
  }
}

/** Drains the nodes as if for each there were a `kubectl drain`; ends when all are empty. */
export async function drain(
  world: TestWorld,
  names: readonly string[],
  limitMs = 30 * minuteMs,
): Promise<CopyWatch> {
  const watch = new CopyWatch(world);
  for (const name of names) await cordon(world, name);
  let nextMs = 0;
  let left = 1;
  await world.until(
    async () => {
      watch.look();
      if (world.clock.nowMs() < nextMs) return false;
      nextMs = world.clock.nowMs() + evictionPauseMs;
      left = 0;
      for (const name of names) left += await evictAll(world, name);
      return left === 0;
    },
    `${names.join(", ")} is drained`,
    limitMs,
  );
  return watch;
}

/** The drain ended; all copies are there again, and never more than one of them was missing. */
export async function assertBorne(world: TestWorld, watch: CopyWatch): Promise<void> {
  const { spec } = await world.cluster();
  const promised = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  assert.ok(watch.least >= promised.storageCopies - 1, `only ${watch.least} copies were left`);
  const { tolerance } = watch;
  assert.ok(tolerance >= promised.faultTolerance - 1, `it could lose ${tolerance} zones at times`);
  await world.untilReconciled(20 * minuteMs);
  await assertAllCopies(world);
}

export async function untilEmpty(world: TestWorld, name: string, limitMs = 20 * minuteMs) {
  const isEmpty = async (): Promise<boolean> => (await podsOn(world, name)).length === 0;
  await world.until(isEmpty, `${name} is empty`, limitMs);
}

export async function waitOf(world: TestWorld, reason: string) {
  const { status } = await world.cluster();
  const warning = conditionIn(status, "Warning");
  if (warning?.reason === reason) return warning;
  return status?.blockedBy?.find((wait) => wait.reason === reason);
}

export async function untilWait(world: TestWorld, reason: string): Promise<void> {
  await world.until(async () => (await waitOf(world, reason)) !== undefined, reason);
}

export async function budgets(world: TestWorld): Promise<Stored<PodDisruptionBudget>[]> {
  return (await world.client.list(podDisruptionBudgets)).items;
}

export async function budgetOf(world: TestWorld): Promise<Stored<PodDisruptionBudget>> {
  const [budget, ...others] = (await budgets(world)).filter((one) => nameOf(one) === "sample");
  assert.ok(budget !== undefined, "there is a budget");
  assert.deepEqual(others, []);
  return budget;
}

export function copiedBytes(world: TestWorld): number {
  return world.world.fdb.measures().reduce((sum, one) => sum + one.copiedBytes, 0);
}
