// Databases over several Kubernetes clusters come up and come to rest, each cluster under an operator of its own.
// Rules: spec/multi.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { runMultiExample } from "./multi-example.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { hourMs, minuteMs, tiny } from "./world-harness.ts";
import { assertInBothRegions, createRegions, fourClusters } from "./multi-regions.ts";

test("[MU1] [MU4] [MU10] three Kubernetes clusters become one three_data_hall database in three phases (long)", async () => {
  const skews = { az2: { offsetMs: 7_000, driftMsPerHour: 500 } };
  await runMultiExample("three-kubernetes-clusters", { skews }, async (world, halls) => {
    await world.clock.advance(2 * minuteMs);
    world.assertDataSafe();
    const coordinators = world.database.connectionString.split("@")[1]?.split(",") ?? [];
    const perHall = halls.map(
      (name) => coordinators.filter((each) => each.includes(`.svc.${name}.local`)).length,
    );
    assert.deepEqual(perHall, [3, 3, 3]);
    for (const { replicas } of world.database.replicas) {
      const found = replicas.map(({ localities }) => localities["data_hall"]);
      assert.deepEqual([...new Set(found)].sort(), halls);
    }
    for (const name of halls) {
      const { status } = await world.cluster(name);
      assert.equal(status?.databaseConfiguration?.redundancy_mode, "three_data_hall");
      const foreign = status?.processGroups?.filter(
        ({ processGroupID }) => !processGroupID.startsWith(`${name}-`),
      );
      assert.deepEqual(foreign, []);
    }
  });
});

test("[MU11] a Kubernetes cluster is taken out of a database without losing anything (long)", async () => {
  await runMultiExample("three-kubernetes-clusters", {}, async (world) => {
    await world.changeAll({ databaseConfiguration: { redundancy_mode: "triple" } });
    await world.untilAllReconciled();
    const none = { storage: -1, log: -1, stateless: -1 };
    await world.at("az1").changeSpec({ processCounts: none }, { name: "sample" });
    const isEmpty = async (): Promise<boolean> =>
      ((await world.cluster("az1")).status?.processGroups ?? []).length === 0;
    await world.at("az1").until(isEmpty, "no process group is left", hourMs, { name: "sample" });
    assert.equal((await world.at("az1").pods()).length, 0);
    await world.clock.advance(2 * minuteMs);
    assert.ok(!world.database.connectionString.includes("az1.local"));
    world.assertDataSafe();
  });
});

test("[MU5] four Kubernetes clusters become one database of two regions with satellites (long)", async () => {
  const { names } = fourClusters;
  await MultiTestWorld.run({ names }, async (world) => {
    await createRegions(world, fourClusters);
    world.assertDataSafe();
    for (const name of names) {
      const { status } = await world.cluster(name);
      assert.equal(status?.databaseConfiguration?.usable_regions, 2, name);
    }
    assertInBothRegions(world);
  });
});

test("[MU1] one seed is one history, over all clusters", async () => {
  const historyOf = async (seed: number): Promise<string> => {
    let hash = "";
    await MultiTestWorld.run({ names: ["one", "two"], nodes: 3, seed }, async (world) => {
      await world.createJoined(() => tiny);
      await world.untilAllReconciled();
      hash = world.trace.hash();
    });
    return hash;
  };
  const first = await historyOf(1);
  assert.equal(await historyOf(1), first);
  assert.notEqual(await historyOf(2), first);
});
