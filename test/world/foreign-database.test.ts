// A connection string that leads to the database of somebody else: neither database loses anything, and the right one is
// found again. Rules: spec/safety.md [S150], [S151].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { configMaps } from "../../src/kube/resource.ts";
import { minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

const namespace = "default";
const other = { name: "other" };

/** What fails is replaced soon. */
const impatient: Partial<ClusterSpec> = {
  ...small,
  automationOptions: { replacements: { failureDetectionTimeSeconds: 60 } },
};

/** Two databases at rest, each with a mode of its own. */
async function withTwo(body: (world: TestWorld) => Promise<void>): Promise<void> {
  await TestWorld.runWithCluster({ spec: impatient, nodes: 9 }, async (world) => {
    await world.createCluster(
      { ...impatient, databaseConfiguration: { redundancy_mode: "single" } },
      other,
    );
    await world.untilReconciled(5 * minuteMs, other);
    await world.clock.advance(2 * minuteMs);
    await body(world);
  });
}

async function connect(world: TestWorld, connectionString: string): Promise<void> {
  const key = { namespace, name: "sample" };
  const body = { status: { connectionString } };
  const options = { type: "merge", subresource: "status" } as const;
  await world.client.patch(foundationDbClusters, key, body, options);
}

async function stringOf(world: TestWorld, name = {}): Promise<string> {
  return (await world.cluster(name)).status?.connectionString ?? "";
}

function recoveriesIn(world: TestWorld): number {
  return world.world.fdb.truth.databases().flatMap(({ recoveries }) => recoveries).length;
}

test("[S151] a connection string of another database in the status is taken back from the ConfigMap", async () => {
  await withTwo(async (world) => {
    const [right, wrong] = [await stringOf(world), await stringOf(world, other)];
    const [pods, recoveries] = [(await world.pods()).map(nameOf), recoveriesIn(world)];
    await connect(world, wrong);
    await world.until(async () => (await stringOf(world)) === right, "the right one is back");
    await world.untilReconciled();
    await world.clock.advance(20 * minuteMs);
    await world.untilReconciled();
    await world.untilReconciled(minuteMs, other);
    assert.deepEqual((await world.pods()).map(nameOf), pods);
    assert.equal(recoveriesIn(world), recoveries, "nobody did anything to either database");
    assert.notEqual((await world.events("DatabaseForeign")).length, 0);
    world.assertDataSafe(2);
  });
});

test("[S150] nothing rests on the answers of another database, and it is said (long)", async () => {
  await withTwo(async (world) => {
    const [right, wrong] = [await stringOf(world), await stringOf(world, other)];
    const [pods, recoveries] = [(await world.pods()).map(nameOf), recoveriesIn(world)];
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    const key = { namespace, name: "sample-config" };
    const data = { "cluster-file": wrong };
    await world.client.patch(configMaps, key, { data }, { type: "merge" });
    await connect(world, wrong);
    world.world.startOperator();
    await world.clock.advance(30 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.blockedBy?.[0]?.reason, "DatabaseForeign", await world.report());
    const available = conditionIn(status, "Available");
    assert.equal(available?.status, "Unknown");
    assert.match(available?.message ?? "", /leads to a database that has none of the processes/);
    assert.deepEqual((await world.pods()).map(nameOf), pods);
    assert.equal(recoveriesIn(world), recoveries, "nobody did anything to either database");
    world.assertDataSafe(2);
    await connect(world, right);
    await world.untilReconciled();
    world.assertDataSafe(2);
  });
});
