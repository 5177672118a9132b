// One of several operators, or one of its links, is away for a while in the middle of a change; all comes right
// afterwards. Rules: spec/multi.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { cutCluster, restoreCluster } from "../../src/sim/faults/cut-cluster.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { knobs } from "./restart-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

const { names } = threeClusters;

/** A database of two regions at rest, which is whole again in the end. */
function inRegions(body: (world: MultiTestWorld) => Promise<void>): Promise<void> {
  return MultiTestWorld.run({ names }, async (world) => {
    await createRegions(world, threeClusters);
    await body(world);
    await world.untilAllReconciled(hourMs);
    await world.clock.advance(2 * minuteMs);
    assert.equal(await world.late(), undefined);
    world.assertDataSafe();
  });
}

const change = {
  ...knobs("knob_disable_posix_kernel_aio=1"),
  processCounts: { log: 5 },
};

test("[MU8] an operator that is dead for an hour in the middle of a change finishes it afterwards (long)", async () => {
  await inRegions(async (world) => {
    await world.changeAll(change);
    await world.clock.advance(1_500);
    await world.crashOperator("remote");
    const requests = world.at("remote").requests.length;
    await world.clock.advance(hourMs);
    assert.equal(world.at("remote").requests.length, requests);
    assert.notEqual(await world.late(), undefined);
    world.startOperator("remote");
  });
});

test("[MU6] an operator without the database says so, does no harm and goes on when it is back (long)", async () => {
  await inRegions(async (world) => {
    world.links("remote").database.cut();
    await world.changeAll(change);
    await world.clock.advance(10 * minuteMs);
    const { status } = await world.cluster("remote");
    assert.notEqual(status?.health?.available, true);
    assert.equal(world.database.isAvailable, true);
    assert.equal(world.acts("killProcesses").filter(({ name }) => name === "remote").length, 0);
    world.links("remote").database.restore();
  });
});

test("[MU6] an operator without its API server changes nothing there until it is back (long)", async () => {
  await inRegions(async (world) => {
    world.links("main").kubernetes.cut();
    await world.changeAll(change);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.at("main").pods("log")).length, 4);
    assert.equal(world.database.isAvailable, true);
    world.links("main").kubernetes.restore();
  });
});

test("[MU9] a cluster that is cut off from the others is waited for, and all finish when it is back (long)", async () => {
  await inRegions(async (world) => {
    const remote = world.at("remote").world;
    cutCluster(remote, world.links("remote"));
    await world.changeAll(change);
    await world.clock.advance(15 * minuteMs);
    assert.equal(world.database.isAvailable, true);
    const live = world.database.replicas.flatMap(({ replicas }) =>
      replicas.filter(({ isLive }) => isLive).map(({ localities }) => localities["dcid"]),
    );
    assert.deepEqual([...new Set(live)], ["main"]);
    restoreCluster(remote, world.links("remote"));
  });
});
