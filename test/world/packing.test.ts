// Logical fault domains in a whole world. Rules: spec/packing.md [PACK70]-[PACK79].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { exampleCluster, runWithExample } from "./example.ts";
import { assertAllCopies, assertNothingExcluded } from "./removal-harness.ts";
import { hourMs, minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";
import { assertNoSharedHost, assertZones, domainSizes } from "./packing-harness.ts";

const file = "bin-packing.yaml";

test("[PACK70] the example comes up with every class in its logical fault domains", async () => {
  await runWithExample(file, { nodes: 8 }, async (world) => {
    assert.deepEqual(await domainSizes(world, "storage"), {
      "storage-0": 2,
      "storage-1": 2,
      "storage-2": 2,
    });
    assert.deepEqual(await domainSizes(world, "log"), { "log-0": 2, "log-1": 1, "log-2": 1 });
    await assertNoSharedHost(world);
    await assertZones(world);
    world.assertDataSafe();
  });
});

/** The cluster of the example before somebody thought of packing. */
async function runUnpacked(
  options: TestWorldOptions,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  const { distributionConfig: _, ...spec } = exampleCluster(file).spec;
  await TestWorld.runWithCluster({ ...options, spec }, body);
}

/** Looks of half a second each: an exclusion may cost a recovery, and no more. */
const longestRecovery = 20;

/** The database answers and no host is shared, all the way to a settled cluster. */
async function migrate(world: TestWorld, change: object): Promise<void> {
  await world.changeSpec(change);
  let unavailable = 0;
  const isSettled = async (): Promise<boolean> => {
    await assertNoSharedHost(world);
    assert.deepEqual(world.world.fdb.truth.dataLost(), []);
    const isDown = world.world.fdb.truth.databases().some((database) => !database.isAvailable);
    unavailable = isDown ? unavailable + 1 : 0;
    assert.ok(unavailable <= longestRecovery, "the database is away for longer than a recovery");
    const { metadata, status } = await world.cluster();
    const isDone = status?.generations?.reconciled === metadata.generation;
    return isDone && (status?.processGroups ?? []).every((group) => !isMarkedForRemoval(group));
  };
  await world.until(isSettled, "the migration is over", 2 * hourMs);
  await assertZones(world);
  await assertNothingExcluded(world);
  await assertAllCopies(world);
}

const { distributionConfig } = exampleCluster(file).spec;

test("[PACK71] turned on and off for a running cluster it migrates without a loss", async () => {
  await runUnpacked({ nodes: 10 }, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await migrate(world, { distributionConfig });
    assert.deepEqual(await domainSizes(world, "storage"), {
      "storage-0": 2,
      "storage-1": 2,
      "storage-2": 2,
    });
    await migrate(world, { distributionConfig: { enabled: false } });
    assert.deepEqual(await domainSizes(world, "storage"), { "": 6 });
  });
});
