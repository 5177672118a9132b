// Halls that are lost: the database lives on, the operator does no harm, and everything heals when the hall is back.
// Rules: spec/halls.md [HALL16], [HALL23], [HALL30].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import {
  assertHallsAreTrue,
  coordinatorsByHall,
  groupsByHall,
  hallNodes,
  runExample,
  statusOf,
  untilHealthy,
} from "./hall-harness.ts";
import { acts, untilBlocked } from "./restart-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const nine = { "zone-1": 3, "zone-2": 3, "zone-3": 3 };

async function lose(world: TestWorld, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await world.during(world.world.kubelet.stopNode(name), minuteMs, `the loss of ${name}`);
  }
}

async function bringBack(world: TestWorld, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await world.during(world.world.kubelet.startNode(name), minuteMs, `the return of ${name}`);
  }
}

async function markedGroups(world: TestWorld): Promise<string[]> {
  const { status } = await world.cluster();
  return (status?.processGroups ?? [])
    .filter(isMarkedForRemoval)
    .map(({ processGroupID }) => processGroupID);
}

function coordinatorChanges(world: TestWorld): number {
  return acts(world, "changeCoordinators").length;
}

test("[HALL30] a hall and one more zone are lost: the database serves, and the hall that returns heals it (long)", async () => {
  await runExample("three-data-hall", {}, async (world) => {
    const [lost, other] = [await hallNodes(world, "zone-3"), await hallNodes(world, "zone-2")];
    await lose(world, lost);
    await world.clock.advance(2 * minuteMs);
    world.assertDataSafe();
    await lose(world, other.slice(0, 1));
    await world.clock.advance(5 * minuteMs);
    world.assertDataSafe();
    assert.deepEqual(await markedGroups(world), [], "nothing is replaced before its time");
    assert.equal(
      coordinatorChanges(world),
      0,
      "no full set can be formed, so the present one stays",
    );
    await untilBlocked(world, "NodeNotReady");

    await world.clock.advance(3 * hourMs);
    world.assertDataSafe();
    const marked = await markedGroups(world);
    assert.equal(marked.length, 1, `as many as maxConcurrentReplacements: ${marked.join(", ")}`);
    assert.deepEqual(await groupsByHall(world), {
      log: [3, 3, 3],
      stateless: [4, 4, 4],
      storage: [2, 2, 2],
    });

    await bringBack(world, [...lost, ...other.slice(0, 1)]);
    await world.untilReconciled(hourMs);
    await untilHealthy(world);
    await assertHallsAreTrue(world);
    world.assertDataSafe();
    assert.deepEqual(await coordinatorsByHall(world), nine);
  });
});

test("[HALL23] [HALL16] the fallback mode in an outage of a hall, and back (long)", async () => {
  await runExample("three-data-hall", {}, async (world) => {
    const lost = await hallNodes(world, "zone-1");
    const before = await groupsByHall(world);
    await lose(world, lost);
    await world.clock.advance(3 * minuteMs);
    await world.changeSpec({
      databaseConfiguration: { redundancy_mode: "three_data_hall_fallback" },
    });
    const isSet = async (mode: string): Promise<boolean> =>
      (await statusOf(world)).cluster?.configuration?.redundancy_mode === mode;
    await world.until(
      () => isSet("three_data_hall_fallback"),
      "the fallback is in force",
      15 * minuteMs,
    );
    await world.clock.advance(10 * minuteMs);
    world.assertDataSafe();
    const { cluster } = await statusOf(world);
    assert.equal(cluster?.data?.state?.healthy, true, "two halls are enough now");
    assert.deepEqual(await groupsByHall(world), before, "an outage never shrinks the cluster");
    assert.equal(coordinatorChanges(world), 0, "a majority is healthy");

    await bringBack(world, lost);
    await world.untilReconciled(30 * minuteMs);
    await world.changeSpec({ databaseConfiguration: { redundancy_mode: "three_data_hall" } });
    await world.untilReconciled(30 * minuteMs);
    await untilHealthy(world);
    assert.equal(await isSet("three_data_hall"), true);
    assert.deepEqual(await coordinatorsByHall(world), nine);
    for (const shard of world.world.fdb.truth.replicas()) {
      const halls = new Set(shard.replicas.map(({ localities }) => localities["data_hall"]));
      assert.equal(halls.size, 3);
    }
    world.assertDataSafe();
  });
});

test("[HALL30] a datacenter and one more zone are lost with three zones each", async () => {
  await runExample("three-datacenter", {}, async (world) => {
    assert.deepEqual(await coordinatorsByHall(world, "dcid"), nine);
    const [lost, other] = [await hallNodes(world, "zone-3"), await hallNodes(world, "zone-2")];
    await lose(world, [...lost, ...other.slice(0, 1)]);
    await world.clock.advance(5 * minuteMs);
    world.assertDataSafe();
    await bringBack(world, [...lost, ...other.slice(0, 1)]);
    await world.untilReconciled(hourMs);
    await untilHealthy(world);
    await assertHallsAreTrue(world, "dcid");
  });
});
