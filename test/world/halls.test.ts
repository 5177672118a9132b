// One database over three halls: created from the examples of the manual. Rules: spec/halls.md.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { emulatedNodes } from "../../src/sim/world.ts";
import {
  assertHallsAreTrue,
  coordinatorsByHall,
  groupsByHall,
  runExample,
  threeHalls,
} from "./hall-harness.ts";
import { acts, untilBlocked } from "./restart-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

test("[HALL8] [HALL9] [HALL18] the example three-data-hall: every class evenly in three zones, nine coordinators", async () => {
  await runExample("three-data-hall", {}, async (world) => {
    assert.deepEqual(await groupsByHall(world), {
      log: [3, 3, 3],
      stateless: [4, 4, 4],
      storage: [2, 2, 2],
    });
    await assertHallsAreTrue(world);
    assert.deepEqual(await coordinatorsByHall(world), { "zone-1": 3, "zone-2": 3, "zone-3": 3 });
    assert.equal(acts(world, "changeCoordinators").length, 0, "they were chosen at once");
    world.assertDataSafe();
    for (const shard of world.world.fdb.truth.replicas()) {
      const halls = shard.replicas.map(({ localities }) => localities["data_hall"]);
      assert.deepEqual([...new Set(halls)].sort(), ["zone-1", "zone-2", "zone-3"]);
    }
  });
});

test("[HALL4] [HALL12] two zones are not three halls: nothing is created, and everybody is told", async () => {
  await TestWorld.run({ nodes: 6, zones: 2 }, async (world) => {
    await world.createCluster(threeHalls);
    const wait = await untilBlocked(world, "HallsMissing");
    assert.match(wait.message, /exactly 3 values of data_hall are needed.*: zone-1, zone-2$/);
    await world.clock.advance(minuteMs);
    const { status } = await world.cluster();
    const reconciled = conditionIn(status, "Reconciled");
    assert.deepEqual(
      [reconciled?.status, reconciled?.reason, reconciled?.message],
      ["False", "HallsMissing", wait.message],
    );
    const events = await world.events("HallsMissing");
    assert.deepEqual(
      events.map(({ type, count }) => [type, count ?? 1]),
      [["Warning", 1]],
    );
    assert.deepEqual(await world.pods(), []);
  });
});

test("[HALL8] a hall without room stops only its own pods, and they follow when there is room", async () => {
  const small = { cpu: "100m", memory: "64Gi", pods: "110" };
  const nodes = emulatedNodes(9, 3).map((node) =>
    node.zone === "zone-3" ? { ...node, capacity: small } : node,
  );
  await TestWorld.run({ nodes }, async (world) => {
    await world.createCluster(threeHalls);
    await untilBlocked(world, "PodUnschedulable");
    await world.clock.advance(2 * minuteMs);
    const running = (await world.pods()).filter(({ status }) => status?.phase === "Running");
    assert.ok(running.length >= 14, `${running.length} pods run`);
    const waiting = (await world.pods()).filter(({ status }) => status?.phase !== "Running");
    assert.ok(waiting.length > 0);
    const names = await groupsByHall(world);
    assert.deepEqual(names, { log: [3, 3, 3], stateless: [2, 2, 2], storage: [2, 2, 2] });
    await world.clock.advance(10 * minuteMs);
    assert.equal(world.world.fdb.truth.databases()[0]?.isConfigured ?? false, false);
    const extra = await untilBlocked(world, "ConfigurationUnsafe");
    assert.match(extra.message, /three_data_hall needs/);
    for (const name of ["node-10", "node-11"]) {
      await world.during(
        world.world.kubelet.addNode({ name, zone: "zone-3" }),
        minuteMs,
        "another node",
      );
    }
    await world.untilReconciled(20 * minuteMs);
    await assertHallsAreTrue(world);
  });
});
