// Operators of several Kubernetes clusters act as one on their database in global mode. Rules: spec/multi.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { exampleOf } from "../../src/cli/examples.ts";
import { takeStage } from "../../src/cli/take-stage.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import {
  assertInBothRegions,
  createRegions,
  fourClusters,
  threeClusters,
} from "./multi-regions.ts";
import { rollOut } from "./multi-rollout.ts";
import { newVersion, oldVersion } from "./upgrade-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

const minimumUptimeSeconds = 120;
const globally = { automationOptions: { synchronizationMode: "global" as const } };

for (const layout of [threeClusters, fourClusters]) {
  const { names } = layout;
  test(`[MU20] [MU21] [MU22] what a knob for ${names.length} clusters costs in global and in local mode (long)`, async () => {
    const [atOnce, ...spread] = await rollOut(layout, minimumUptimeSeconds, [
      { mode: "global" },
      { mode: "global", spreadMs: 4_700, seed: 1 },
      { mode: "global", spreadMs: 4_700, seed: 2 },
      { mode: "local" },
    ]);
    const local = spread.pop();
    assert.ok(atOnce && local);
    assert.ok(atOnce.backMs <= 1_000, `back after ${atOnce.backMs} ms`);
    assert.equal(atOnce.recoveries, 1);
    for (const result of [atOnce, ...spread]) {
      assert.deepEqual(result.killed, [names.length === 3 ? 24 : 28], "all processes at once");
      assert.ok(result.recoveries <= 2, `${result.recoveries} recoveries`);
      assert.ok(result.seconds < minimumUptimeSeconds, `${result.seconds} s`);
    }
    for (const { backMs } of spread) assert.ok(backMs > 4_000 && backMs <= 5_000, `${backMs} ms`);
    // One process group may go first in each of them.
    assert.deepEqual([...new Set(local.killers)].toSorted(), names.toSorted());
    assert.equal(local.killed.filter((count) => count > 1).length, names.length);
    // With four clusters the second satellite is idle until the remote region takes over.
    assert.ok(local.recoveries >= 3, `${local.recoveries} recoveries`);
    assert.ok(local.seconds >= minimumUptimeSeconds * 2, `${local.seconds} s`);
  });
}

test("[MU5] [MU12] the example of two regions comes up, and its knob is one kill (long)", async () => {
  const { sites, stages } = exampleOf("ha");
  await MultiTestWorld.run({ names: sites, resource: "sample" }, async (world) => {
    for (const stage of stages) {
      const { generation } = world.multi.ground.fdb.truth.databases()[0] ?? { generation: 0 };
      await takeStage(stage, world.multi.worlds);
      await world.untilAllReconciled();
      if (stage.isCounted === true) assert.equal(world.database.generation - generation, 2);
    }
    const kills = world.acts("killProcesses");
    assert.deepEqual(
      kills.map(({ action }) => action.addresses.length),
      [24],
    );
    const { status } = await world.cluster("satellite");
    assert.equal(status?.databaseConfiguration?.usable_regions, 2);
    assertInBothRegions(world);
    world.assertDataSafe();
  });
});

test("[MU23] all transaction processes of all clusters are replaced by one exclusion and one inclusion (long)", async () => {
  const { names } = threeClusters;
  await MultiTestWorld.run({ names }, async (world) => {
    await createRegions(world, threeClusters, globally);
    await world.clock.advance(5 * minuteMs);
    const startMs = world.clock.nowMs();
    const leaving = new Set<string>();
    for (const name of names) {
      const { status } = await world.cluster(name);
      const processGroupsToRemove = (status?.processGroups ?? [])
        .filter(({ processClass }) => processClass !== "storage")
        .map(({ processGroupID }) => processGroupID);
      for (const id of processGroupsToRemove) leaving.add(id);
      await world.at(name).changeSpec({ processGroupsToRemove }, { name });
    }
    await world.untilAllReconciled(2 * hourMs);
    await world.clock.advance(10 * minuteMs);
    const exclusions = world.acts("excludeProcesses", startMs);
    assert.equal(exclusions.length, 1);
    assert.deepEqual(new Set(exclusions[0]?.action.processGroupIds), leaving);
    const chosen = exclusions[0]?.action.coordinators;
    assert.ok(chosen !== undefined, "the coordinators are changed first, in the same act");
    assert.equal(world.acts("changeCoordinators", startMs).length, 0);
    assert.equal(world.acts("includeProcesses", startMs).length, 1);
    const coordinators = coordinatorsOf(world.database.connectionString);
    for (const id of leaving) {
      const pod = id.replace(/^[a-z]+-/, "");
      assert.ok(!coordinators.some((each) => each.includes(`-${pod}.`)), id);
    }
    assert.deepEqual(await world.entries(), []);
    world.assertDataSafe();
  });
});

for (const synchronizationMode of ["local", "global"] as const) {
  test(`[MU24] an incompatible upgrade of all clusters is one restart for all in ${synchronizationMode} mode (long)`, async () => {
    const { names } = threeClusters;
    const spec = { version: oldVersion, automationOptions: { synchronizationMode } };
    await MultiTestWorld.run({ names }, async (world) => {
      await createRegions(world, threeClusters, spec);
      await world.clock.advance(2 * minuteMs);
      const startMs = world.clock.nowMs();
      for (const name of names) {
        await world.at(name).changeSpec({ version: newVersion }, { name });
        await world.clock.advance(minuteMs);
        const expected = name === names.at(-1) ? 1 : 0;
        assert.ok(world.acts("killProcesses", startMs).length <= expected, `too early: ${name}`);
      }
      await world.untilAllReconciled(2 * hourMs);
      const kills = world.acts("killProcesses", startMs);
      assert.equal(kills.length, 1);
      assert.equal(kills[0]?.action.addresses.length, 24);
      for (const name of names) {
        assert.equal((await world.cluster(name)).status?.runningVersion, newVersion);
      }
      await world.untilNoEntries();
      world.assertDataSafe();
    });
  });
}
