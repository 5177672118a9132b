// A new setting that one process group proves before all others: good ones, bad ones, wishes that change meanwhile.
// Rules: spec/restart.md [T110]-[T117].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { acts, knobs, recoveries, untilBlocked, whileServing } from "./restart-harness.ts";
import { minuteMs, securedProcesses, small, TestWorld } from "./world-harness.ts";

/** With processes that have no role. */
const roomy: Partial<ClusterSpec> = {
  ...small,
  processCounts: { storage: 4, log: 4, stateless: 7 },
  minimumUptimeSecondsForBounce: 60,
};
const options = { spec: roomy, nodes: 9 };
/** fdbserver ends at once with it. */
const bad = knobs("knob_max_trace_lines=5", "knob_cache_eviction_policy=fifo");

function kills(world: TestWorld): number[] {
  return acts(world, "killProcesses").map((kill) => kill.processGroupIds.length);
}

for (const imageType of ["unified", "split"] as const) {
  test(`[T113] [KAS66] a knob that ends fdbserver costs one process and no recovery, is explained, and heals when it is taken back (${imageType} image) (long)`, async () => {
    await TestWorld.runWithCluster({ ...options, spec: { ...roomy, imageType } }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      const before = recoveries(world);
      await world.changeSpec(bad);
      const blocked = await untilBlocked(world, "CanaryFailed");
      assert.match(blocked.message, /knob_max_trace_lines=5 and knob_cache_eviction_policy=fifo/);
      assert.match(blocked.message, /spec\.processes\.general\.customParameters/);
      assert.match(blocked.message, /Nothing else is restarted/);
      const [, pod] = /kubectl logs (sample-\S+) -c foundationdb/.exec(blocked.remedy ?? "") ?? [];
      const path = `/api/v1/namespaces/default/pods/${pod}/log`;
      const query = { container: "foundationdb" };
      const said = await world.world.transport.request({ method: "GET", path, query });
      assert.match(String(said.body), /knob_cache_eviction_policy=fifo[^]*exited with code 1: /);
      const { status } = await world.cluster();
      const reconciled = conditionIn(status, "Reconciled");
      assert.deepEqual([reconciled?.status, reconciled?.reason], ["False", "CanaryFailed"]);
      const [event] = await world.events("CanaryFailed");
      assert.equal(event?.type, "Warning");
      let passedMs = 0;
      await whileServing(world, () => Promise.resolve((passedMs += 1_000) > 15 * minuteMs));
      assert.deepEqual([kills(world), recoveries(world) - before], [[1], 0]);
      await world.changeSpec(knobs());
      await world.untilReconciled(5 * minuteMs);
      assert.deepEqual([kills(world), recoveries(world) - before], [[1], 0]);
      world.assertDataSafe();
    });
  });
}

test("[T111] [FENCE6] a knob of storage alone does not reach the last copy beside a fenced one", async () => {
  const spec = { ...roomy, processCounts: { storage: 2, log: 3, stateless: 3 } };
  await TestWorld.runWithCluster({ ...options, spec }, async (world) => {
    const [pod] = await world.pods("storage");
    const id = pod?.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    await world.changeSpec({ fence: [id] });
    await untilBlocked(world, "ProcessGroupFenced");
    await world.clock.advance(2 * minuteMs);
    const customParameters = ["knob_cache_eviction_policy=fifo"];
    await world.changeSpec({ processes: { storage: { customParameters } } });
    const held = await untilBlocked(world, "RestartHeld");
    assert.match(held.message, new RegExp(`none can be missed now: .*${id} is fenced`));
    assert.match(held.remedy ?? "", /or take its fence away\.$/);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(kills(world), []);
    await world.changeSpec({ fence: null });
    await untilBlocked(world, "CanaryFailed");
    assert.ok(kills(world).length <= 1);
    await world.changeSpec({ processes: { storage: null } });
    await world.untilReconciled(10 * minuteMs);
    world.assertDataSafe();
  });
});

for (const delayMs of [0, 40_000, 75_000]) {
  test(`[T116] a knob that ends fdbserver, ${delayMs} ms after TLS was asked for, costs one process too (long)`, async () => {
    const spec = { ...roomy, processes: securedProcesses };
    await TestWorld.runWithCluster({ ...options, spec, hasCertificates: true }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec({ mainContainer: { enableTls: true } });
      await world.clock.advance(delayMs);
      await world.changeSpec(bad);
      await untilBlocked(world, "CanaryFailed");
      let passedMs = 0;
      await whileServing(world, () => Promise.resolve((passedMs += 1_000) > 5 * minuteMs));
      await world.changeSpec(knobs());
      await world.untilReconciled(30 * minuteMs);
      world.assertDataSafe();
    });
  });
}

test("[T113] a corrected knob is another try: the one process comes back with it, and the others follow by one kill", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(2 * minuteMs);
    const before = recoveries(world);
    await world.changeSpec(bad);
    await untilBlocked(world, "CanaryFailed");
    await world.clock.advance(5 * minuteMs);
    await world.changeSpec(knobs("knob_max_trace_lines=5", "knob_cache_eviction_policy=lru"));
    await world.untilReconciled(10 * minuteMs);
    assert.deepEqual([kills(world), recoveries(world) - before], [[1, 14], 1]);
    world.assertDataSafe();
  });
});

test("[T113] another bad knob in its place says so again, with the new value", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec(bad);
    await untilBlocked(world, "CanaryFailed");
    await world.changeSpec(knobs("knob_cache_eviction_policy=oldest"));
    await untilBlocked(world, "CanaryProving");
    const blocked = await untilBlocked(world, "CanaryFailed");
    assert.match(blocked.message, /knob_cache_eviction_policy=oldest/);
    assert.deepEqual(kills(world), [1]);
  });
});

test("[T114] an operator that starts while the first one has failed leaves the others alone too (long)", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec(bad);
    await untilBlocked(world, "CanaryFailed");
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    await world.clock.advance(10 * minuteMs);
    world.world.startOperator();
    await world.clock.advance(10 * minuteMs);
    await untilBlocked(world, "CanaryFailed");
    assert.deepEqual(kills(world), [1]);
    await world.changeSpec(knobs());
    await world.untilReconciled(5 * minuteMs);
    assert.deepEqual(kills(world), [1]);
  });
});

for (const delayMs of [3_000, 5_000, 8_000, 12_000, 16_000]) {
  test(`[T114] an operator that ends ${delayMs} ms after a knob goes on where it was: one recovery, nobody twice`, async () => {
    await TestWorld.runWithCluster(options, async (world) => {
      await world.clock.advance(2 * minuteMs);
      const before = recoveries(world);
      await world.changeSpec(knobs("knob_max_trace_lines=5"));
      await world.clock.advance(delayMs);
      await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
      world.world.startOperator();
      await world.untilReconciled(15 * minuteMs);
      const ids = acts(world, "killProcesses").flatMap((kill) => kill.processGroupIds);
      assert.equal(new Set(ids).size, ids.length);
      assert.equal(recoveries(world) - before, 1);
    });
  });
}

for (const [name, knob, expected] of [
  ["taken back", [], [1, 1]],
  ["changed once more", ["knob_max_trace_lines=6"], undefined],
] as const) {
  test(`[T110] a knob that is ${name} while the first one proves it`, async () => {
    await TestWorld.runWithCluster(options, async (world) => {
      await world.clock.advance(2 * minuteMs);
      const before = recoveries(world);
      await world.changeSpec(knobs("knob_max_trace_lines=5"));
      for (let seconds = 0; kills(world).length === 0 && seconds < 60; seconds += 1) {
        await world.clock.advance(1_000);
      }
      assert.deepEqual(kills(world), [1]);
      await world.changeSpec(knobs(...knob));
      await world.untilReconciled(15 * minuteMs);
      if (expected !== undefined) assert.deepEqual(kills(world), expected);
      assert.equal(recoveries(world) - before, expected === undefined ? 1 : 0);
      world.assertDataSafe();
    });
  });
}

test("[FDB60] a knob that does not exist is rolled out, and only the log of the pods tells", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec(knobs("knob_no_such_thing=1", "knob_max_trace_lines=many"));
    await world.untilReconciled(10 * minuteMs);
    assert.deepEqual(kills(world), [1, 14]);
    assert.deepEqual(await world.events("CanaryFailed"), []);
  });
});

test("[T110] one that is excluded and runs with the old command line proves nothing, although nobody calls it wrong", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const groups = (await world.cluster()).status?.processGroups ?? [];
    const ids = groups.filter(({ processClass }) => processClass === "stateless");
    const id = ids[0]?.processGroupID ?? "";
    await world.changeSpec({ buggify: { blockRemoval: [id] }, processGroupsToRemove: [id] });
    await untilBlocked(world, "RemovalBlocked");
    await world.clock.advance(3 * minuteMs);
    const before = (await world.cluster()).status?.processGroups ?? [];
    const left = before.find(({ processGroupID }) => processGroupID === id);
    assert.notEqual(left?.exclusionTimestamp, undefined);
    await world.changeSpec(bad);
    await untilBlocked(world, "CanaryFailed");
    assert.deepEqual(kills(world), [1]);
  });
});
