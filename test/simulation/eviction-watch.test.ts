// The watchman of lives notices an eviction that takes more than the database can lose. Rules: spec/world.md [W138].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pods } from "../../src/kube/resource.ts";
import { Watchman } from "../../src/sim/workloads/watchman.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "../world/world-harness.ts";

test("[W138] what is evicted beside a pod that is down is noticed, unless it was refused or somebody else is about", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    const watchman = new Watchman();
    let isDisturbed = false;
    watchman.watch(world.world, () => isDisturbed, false, undefined);
    await world.createCluster(small);
    await world.untilReconciled(10 * minuteMs);
    watchman.look();
    const label = "foundationdb.org/fdb-process-class";
    const storage = (await world.pods()).filter(
      ({ metadata }) => metadata.labels?.[label] === "storage",
    );
    const [first, second] = storage;
    assert.ok(first !== undefined && second !== undefined);
    const evict = (isLetThrough: boolean): Promise<void> =>
      watchman.inspectEviction(second.metadata.name ?? "", () => Promise.resolve(isLetThrough));
    await evict(true);
    assert.deepEqual(watchman.violations, [], "one may go");
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    await world.client.delete(pods, keyOfObject(first));
    await world.clock.advance(minuteMs);
    await evict(false);
    assert.deepEqual(watchman.violations, [], "it was refused");
    await evict(true);
    assert.match(watchman.violations.join(), /is taken down while these are: .*drained/);
    watchman.violations.length = 0;
    isDisturbed = true;
    await evict(true);
    assert.deepEqual(watchman.violations, [], "somebody else is about");
  });
});
