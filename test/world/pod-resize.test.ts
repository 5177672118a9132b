// Pods that get other CPU and memory in place, and what becomes of those that cannot. Rules: spec/pod-resize.md [SIZE1]-[SIZE11].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { Container, Pod } from "../../src/kube/generated/types.ts";
import { nodes, pods as podKind } from "../../src/kube/resource.ts";
import { assertAllCopies, recoveries } from "./removal-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";

type Processes = NonNullable<ClusterSpec["processes"]>;

/** Guaranteed, as most people have it. */
function sized(cpu: string, memory: string, more: Partial<Container> = {}): Processes {
  const amounts = { cpu, memory };
  const resources = { requests: amounts, limits: amounts };
  const small = { cpu: "10m", memory: "32Mi" };
  const containers: Container[] = [
    { name: "foundationdb", resources, ...more },
    { name: "foundationdb-kubernetes-sidecar", resources: { requests: small, limits: small } },
  ];
  return { general: { podTemplate: { spec: { containers } } } };
}

interface Shape {
  readonly processes?: Processes;
  readonly spec?: Partial<ClusterSpec>;
  readonly world?: TestWorldOptions;
}

/** 16 pods with one CPU and 2Gi each, at rest. */
async function withPods(shape: Shape, body: (world: TestWorld) => Promise<void>): Promise<void> {
  await TestWorld.run({ nodes: 9, ...shape.world }, async (world) => {
    await world.createCluster({
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 8, log: 4, stateless: 4 },
      processes: shape.processes ?? sized("1", "2Gi"),
      ...shape.spec,
    });
    await world.untilReconciled();
    await world.clock.advance(2 * minuteMs);
    await body(world);
  });
}

const main = "foundationdb";

function runsWith(pod: Pod): string {
  const found = pod.status?.containerStatuses?.find(({ name }) => name === main)?.resources;
  return `${found?.limits?.["cpu"]} ${found?.limits?.["memory"]}`;
}

async function allRunWith(world: TestWorld): Promise<string[]> {
  return [...new Set((await world.pods()).map(runsWith))].sort();
}

async function podUids(world: TestWorld): Promise<string[]> {
  return (await world.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
}

async function restarts(world: TestWorld): Promise<number> {
  const statuses = (await world.pods()).flatMap(({ status }) => status?.containerStatuses ?? []);
  return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

async function marks(world: TestWorld): Promise<string[]> {
  return (await world.pods()).flatMap(
    ({ metadata }) => metadata.annotations?.[annotationKeys.resizeTarget] ?? [],
  );
}

async function waitOf(world: TestWorld, reason: string) {
  const { status } = await world.cluster();
  return status?.blockedBy?.find((wait) => wait.reason === reason);
}

async function untilWait(world: TestWorld, reason: string, limitMs = 5 * minuteMs) {
  await world.until(async () => (await waitOf(world, reason)) !== undefined, reason, limitMs);
  return waitOf(world, reason);
}

/** Fault domains in which pods were asked for other resources than they run with. */
async function zonesResizing(world: TestWorld): Promise<Set<string>> {
  const zones = (await world.pods()).flatMap((pod) => {
    const asked = pod.spec?.containers.find(({ name }) => name === main)?.resources?.limits;
    const isDone = `${asked?.["cpu"]} ${asked?.["memory"]}` === runsWith(pod);
    return isDone ? [] : [pod.spec?.nodeName ?? ""];
  });
  return new Set(zones);
}

function deletions(world: TestWorld): number {
  return world.activities.filter(
    (activity) => activity.type === "action" && activity.action.type === "deletePods",
  ).length;
}

async function assertUntouched(world: TestWorld, before: readonly string[]): Promise<void> {
  assert.deepEqual(await podUids(world), before, "every pod is the same one");
  assert.equal(await restarts(world), 0, "no container has started again");
  assert.deepEqual(await marks(world), [], "no mark is left");
}

for (const podUpdateStrategy of ["ReplaceTransactionSystem", "Replace", "Delete"] as const) {
  test(`[SIZE1] [SIZE3] [SIZE8] 16 pods are resized under their processes with ${podUpdateStrategy}, one fault domain at a time`, async () => {
    const spec = { automationOptions: { podUpdateStrategy } };
    await withPods({ spec }, async (world) => {
      const [pods, before] = [await podUids(world), recoveries(world)];
      assert.equal(pods.length, 16);
      await world.changeSpec({ processes: sized("2", "4Gi") });
      let most = 0;
      let isTold = false;
      const isDone = async (): Promise<boolean> => {
        most = Math.max(most, (await zonesResizing(world)).size);
        isTold ||= (await waitOf(world, "PodsResizing")) !== undefined;
        return (await allRunWith(world)).join() === "2 4Gi";
      };
      await world.until(isDone, "all pods have their resources", 20 * minuteMs);
      await world.untilReconciled();
      assert.equal(most, 1, "pods of one fault domain at a time");
      assert.ok(isTold);
      await assertUntouched(world, pods);
      assert.equal(recoveries(world), before, "no recovery");
      assert.deepEqual(await world.events("ReplacingProcesses"), []);
      assert.equal(deletions(world), 0);
      await assertAllCopies(world);
      const rested = world.requests.length;
      await world.clock.advance(10 * minuteMs);
      const reads = new Set(["get", "list", "watch"]);
      const idle = world.requests.slice(rested).filter(({ verb }) => !reads.has(verb));
      assert.deepEqual(
        idle.filter(({ resource }) => resource.plural !== "leases"),
        [],
      );
    });
  });
}

test("[SIZE1] the same amounts in another form change nothing, and less of both is a resize like more", async () => {
  await withPods({}, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("1000m", "2048Mi") });
    await world.untilReconciled();
    await assertUntouched(world, pods);
    await world.changeSpec({ processes: sized("0.5", "1536Mi") });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["500m 1536Mi"]);
    await assertUntouched(world, pods);
  });
});

test("[SIZE9] resources that are taken back or changed again half-way, and back again", async () => {
  for (const last of [sized("1", "2Gi"), sized("3", "3Gi")]) {
    await withPods({}, async (world) => {
      const pods = await podUids(world);
      await world.changeSpec({ processes: sized("2", "4Gi") });
      const isHalfWay = async (): Promise<boolean> => (await allRunWith(world)).length === 2;
      await world.until(isHalfWay, "some have them", 5 * minuteMs);
      await world.changeSpec({ processes: last });
      await world.untilReconciled(20 * minuteMs);
      const wanted = last === undefined ? "" : (await allRunWith(world)).join();
      assert.ok(wanted === "1 2Gi" || wanted === "3 3Gi", wanted);
      await assertUntouched(world, pods);
    });
  }
});

test("[SIZE9] another image half-way makes the pods again with all of it", async () => {
  await withPods({ world: { nodes: 14 } }, async (world) => {
    await world.changeSpec({ processes: sized("2", "4Gi") });
    const isHalfWay = async (): Promise<boolean> => (await allRunWith(world)).length === 2;
    await world.until(isHalfWay, "some have them", 5 * minuteMs);
    const env = [{ name: "A", value: "1" }];
    await world.changeSpec({ processes: sized("2", "4Gi", { env }) });
    await world.untilReconciled(120 * minuteMs);
    const pods = await world.pods();
    for (const pod of pods) {
      const container = pod.spec?.containers.find(({ name }) => name === main);
      assert.ok(container?.env?.some(({ name }) => name === "A"));
      assert.equal(runsWith(pod), "2 4Gi");
    }
    assert.deepEqual(await marks(world), []);
    await assertAllCopies(world);
  });
});
