// Classes that grow and shrink in a whole world: who goes is excluded, proven to be empty, deleted and included again.
// Rules: spec/removal.md [R90], [R91].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../src/kube/resource.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import {
  assertAllCopies,
  assertNothingExcluded,
  classSize,
  commandsOf,
  groups,
  recoveries,
  spreadOver,
  untilSettled,
} from "./removal-harness.ts";

test("[R90] storage 5 to 3 keeps all data, costs no recovery and leaves nothing excluded", async () => {
  await TestWorld.runWithCluster(
    spreadOver({ storage: 5, log: 3, stateless: 3 }),
    async (world) => {
      const before = recoveries(world);
      await world.changeSpec({ processCounts: { storage: 3 } });
      await untilSettled(world);
      assert.equal(await classSize(world, "storage"), 3);
      const claims = await world.client.list(persistentVolumeClaims, { namespace: "default" });
      assert.equal(claims.items.length, 6);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
      assert.ok(recoveries(world) - before <= 1, "at most the recovery of a coordinator change");
    },
  );
});

test("[R90] storage 3 to 5 and back keeps all data", async () => {
  await TestWorld.runWithCluster(
    spreadOver({ storage: 3, log: 3, stateless: 3 }),
    async (world) => {
      const before = recoveries(world);
      await world.changeSpec({ processCounts: { storage: 5 } });
      await untilSettled(world);
      assert.equal(await classSize(world, "storage"), 5);
      assert.equal(recoveries(world), before, "more storage costs no recovery");
      await world.changeSpec({ processCounts: { storage: 3 } });
      await untilSettled(world);
      assert.equal(await classSize(world, "storage"), 3);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    },
  );
});

for (const [from, to] of [
  [4, 3],
  [5, 3],
] as const) {
  test(`[R91] logs ${from} to ${to}: one exclusion, at most one recovery`, async () => {
    const counts = { storage: 3, log: from, stateless: 3 };
    await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
      await world.clock.advance(2 * minuteMs);
      const before = recoveries(world);
      await world.changeSpec({ processCounts: { log: to } });
      await untilSettled(world);
      assert.equal(await classSize(world, "log"), to);
      assert.equal(commandsOf(world, "excludeProcesses").length, 1);
      assert.ok(recoveries(world) - before <= 1, `${recoveries(world) - before} recoveries`);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    });
  });
}

test("[R91] logs and stateless processes that go together cost one recovery", async () => {
  const counts = { storage: 3, log: 5, stateless: 5 };
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    await world.clock.advance(2 * minuteMs);
    const before = recoveries(world);
    await world.changeSpec({ processCounts: { log: 3, stateless: 3 } });
    await untilSettled(world);
    assert.equal((await groups(world)).length, 9);
    assert.equal(commandsOf(world, "excludeProcesses").length, 1);
    assert.ok(recoveries(world) - before <= 1, `${recoveries(world) - before} recoveries`);
    await assertNothingExcluded(world);
    await assertAllCopies(world);
  });
});
