// Coordinators that are known by addresses, when all pods come back under others. Rules: spec/restart.md [T80]-[T82].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";
import { pageOf } from "./stuck-case.ts";

const routing = { useDNSInClusterFile: false };

async function deleteAllPods(world: TestWorld): Promise<void> {
  for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
}

async function remedyOf(world: TestWorld): Promise<string> {
  const { status } = await world.cluster();
  const [first] = status?.blockedBy ?? [];
  return first?.reason === "CoordinatorsMoved" ? (first.remedy ?? "") : "";
}

test("[T80] [T81] [FDB51] all pods deleted at once: the wait names what brings the database back, and it does (long)", async () => {
  await TestWorld.runWithCluster({ spec: { ...small, routing }, nodes: 9 }, async (world) => {
    const old = (await world.cluster()).status?.connectionString ?? "";
    await deleteAllPods(world);
    await world.until(
      async () => (await remedyOf(world)) !== "",
      "the wait names the moved coordinators",
    );
    await world.clock.advance(10 * minuteMs);
    assert.equal(world.world.fdb.truth.databases()[0]?.isAvailable, false, "it stays away");
    assert.equal((await world.events("CoordinatorsMoved"))[0]?.type, "Warning");
    assert.match(
      await pageOf(world),
      /coordinators are named by addresses that no pod has any more/,
    );
    // As a person does what it says.
    const remedy = await remedyOf(world);
    const patch: unknown = JSON.parse(/-p '(\{.*?\})' 2\./.exec(remedy)?.[1] ?? "");
    const [, next = ""] = /echo (\S+) > \/var\/fdb\/data\/fdb\.cluster/.exec(remedy) ?? [];
    assert.notEqual(next, old);
    assert.equal(next.split("@")[0], old.split("@")[0]);
    const key = { namespace: "default", name: "sample" };
    await world.client.patch(foundationDbClusters, key, patch as object, {
      type: "merge",
      subresource: "status",
    });
    for (const pod of await world.pods()) {
      world.world.fdb.faults.rewriteClusterFile(`${pod.status?.podIP}:4501`, next);
    }
    await world.clock.advance(minuteMs);
    await world.untilReconciled(15 * minuteMs);
    world.assertDataSafe();
    assert.equal(await remedyOf(world), "");
  });
});

test("[T82] with names the database comes back by itself, and nothing is said of moved coordinators", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 9 }, async (world) => {
    await deleteAllPods(world);
    await world.clock.advance(minuteMs);
    await world.untilReconciled(10 * minuteMs);
    assert.deepEqual(await world.events("CoordinatorsMoved"), []);
    world.assertDataSafe();
  });
});
