// A cluster that must not be deleted by mistake, in a whole world. Rules: spec/upgrade.md [U70]-[U74].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { pods } from "../../src/kube/resource.ts";
import { deletionProtection } from "../../src/api/cluster.ts";
import { TestWorld, keyOfObject, minuteMs, small } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };

function annotate(world: TestWorld, value: string | null): Promise<unknown> {
  const body = { metadata: { annotations: { [deletionProtection]: value } } };
  return world.client.patch(foundationDbClusters, key, body, { type: "merge" });
}

async function isThere(world: TestWorld): Promise<boolean> {
  try {
    await world.cluster();
    return true;
  } catch (error) {
    if (isKubeError(error, "NotFound")) return false;
    throw error;
  }
}

async function finalizersOf(world: TestWorld): Promise<readonly string[]> {
  return (await world.cluster()).metadata.finalizers ?? [];
}

test("[U70][U71][U72] a protected cluster survives its deletion, is looked after, and goes when the annotation goes", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await annotate(world, "true");
    await world.clock.advance(minuteMs);
    assert.deepEqual(await finalizersOf(world), [deletionProtection]);
    await world.client.delete(foundationDbClusters, key);
    await world.clock.advance(minuteMs);
    const { metadata, status } = await world.cluster();
    assert.ok(metadata.deletionTimestamp !== undefined);
    const held = conditionIn(status, "DeletionHeld");
    assert.equal(held?.status, "True");
    assert.equal((await world.events("DeletionHeld")).length, 1);
    const before = await world.pods();
    assert.equal(before.length, 3);
    const [victim] = await world.pods("stateless");
    assert.ok(victim);
    await world.client.delete(pods, keyOfObject(victim));
    await world.clock.advance(2 * minuteMs);
    assert.equal((await world.pods()).length, 3, "a lost pod comes back");
    world.assertDataSafe();
    await annotate(world, null);
    await world.until(async () => !(await isThere(world)), "the cluster is gone").catch(rethrow);
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(await world.pods(), []);
  });
});

/** A cluster that is gone has no report. */
function rethrow(error: unknown): void {
  if (!isKubeError(error, "NotFound")) throw error;
}

test("[U70][U74] taking the annotation away takes only our finalizer away", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const body = { metadata: { finalizers: ["example.com/other"] } };
    await world.client.patch(foundationDbClusters, key, body, { type: "merge" });
    await annotate(world, "true");
    await world.clock.advance(minuteMs);
    assert.deepEqual(await finalizersOf(world), ["example.com/other", deletionProtection]);
    await annotate(world, "false");
    await world.clock.advance(minuteMs);
    assert.deepEqual(await finalizersOf(world), ["example.com/other"]);
  });
});

test("[U72] protection also ends for a cluster that is skipped", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await annotate(world, "true");
    await world.clock.advance(minuteMs);
    await world.changeSpec({ skip: true });
    await world.client.delete(foundationDbClusters, key);
    await world.clock.advance(minuteMs);
    assert.ok(await isThere(world));
    await annotate(world, null);
    await world.clock.advance(minuteMs);
    assert.equal(await isThere(world), false);
  });
});

test("[U73] an unprotected cluster goes at once, and nothing is written for it", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const mark = world.requests.length;
    await world.client.delete(foundationDbClusters, key);
    await world.clock.advance(minuteMs);
    assert.equal(await isThere(world), false);
    const writes = world.writesSince(mark).filter((write) => !write.includes("events"));
    assert.deepEqual(writes, []);
  });
});

test("[U75] a cluster that was deleted without its pods and volumes is taken over by a new resource", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const generation = world.world.fdb.truth.databases()[0]?.generation;
    const before = (await world.pods()).map(({ metadata }) => metadata.uid);
    await world.client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
    await world.until(async () => !(await isThere(world)), "the resource is gone").catch(rethrow);
    await world.clock.advance(minuteMs);
    await world.createCluster(small);
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    assert.deepEqual(
      (await world.pods()).map(({ metadata }) => metadata.uid),
      before,
    );
    assert.equal(world.world.fdb.truth.databases()[0]?.generation, generation, "no recovery");
    world.assertDataSafe();
  });
});

const unplanned: [string, object][] = [
  ["that is paused", { skip: true }],
  ["with an invalid spec", { processes: { general: { customParameters: ["datadir=/tmp"] } } }],
];
for (const [title, change] of unplanned) {
  test(`[U70] a cluster ${title} is protected from deletion, too`, async () => {
    await TestWorld.runWithCluster({ spec: small }, async (world) => {
      await world.changeSpec(change);
      await world.clock.advance(10_000);
      await annotate(world, "true");
      await world.until(
        async () => (await finalizersOf(world)).includes(deletionProtection),
        "the finalizer is there",
      );
      await world.client.delete(foundationDbClusters, key);
      await world.clock.advance(minuteMs);
      assert.ok(await isThere(world));
      assert.equal((await world.pods()).length, 9);
      world.assertDataSafe();
    });
  });
}
