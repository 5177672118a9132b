// Versions in which all processes change at once, wished for a cluster that lost its status: what it ran nobody remembers but its
// pods. Rules: spec/upgrade.md [U33], [U50], [U56], [U94].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { configMaps, pods } from "../../src/kube/resource.ts";
import {
  announceUpgrade,
  assertAllOn,
  killsOf,
  newVersion,
  oldVersion,
  untilBlocked,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
} from "./upgrade-harness.ts";
import { keyOfObject, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const single = { databaseConfiguration: { redundancy_mode: "single" } } as const;

/** While the operator is away the status is lost, and the pods of all coordinators with it. */
async function loseStatus(world: TestWorld, meanwhile = async (): Promise<void> => {}) {
  const before = await world.cluster();
  await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
  await meanwhile();
  for (const pod of await world.pods("log")) await world.client.delete(pods, keyOfObject(pod));
  const { metadata, ...rest } = await world.cluster();
  await world.client.updateStatus(foundationDbClusters, { ...rest, metadata, status: {} });
  world.world.startOperator();
  return before.status?.connectionString ?? "";
}

for (const imageType of ["unified", "split"] as const) {
  test(`[U33] where status and ConfigMap are lost the pods tell the version that runs, and none is made ahead of it (${imageType}) (long)`, async () => {
    await upgradeWorld({ spec: { ...single, imageType } }, async (world) => {
      const seedConnectionString = await loseStatus(world, async () => {
        await world.client.delete(configMaps, { namespace: "default", name: "sample-config" });
        await world.changeSpec({ version: newVersion });
      });
      await untilBlocked(world, "ConnectionStringLost");
      assert.equal((await world.cluster()).status?.runningVersion, oldVersion);
      await world.changeSpec({ seedConnectionString });
      await world.untilReconciled(upgradeLimitMs);
      assert.equal(killsOf(world).length, 1, "one restart for all");
      await assertAllOn(world, newVersion);
    });
  });
}

test("[U50][U56][U94] coordinators that ran ahead take the rest with them also where the status is lost (long)", async () => {
  await upgradeWorld({ spec: single }, async (world) => {
    await announceUpgrade(world);
    await loseStatus(world);
    await untilRunning(world, newVersion);
    await world.untilReconciled(upgradeLimitMs);
    assert.deepEqual(killsOf(world), []);
    await assertAllOn(world, newVersion);
  });
});
