// Limits that are too low for what runs, in pods that are resized in place. Rules: spec/pod-resize.md [SIZE3], [SIZE12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { allRunWith, marks, podUids, runsWith, sized, waitOf, withPods } from "./resize-harness.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

/** As the kernel would: who has this, and has had it for a while, is killed as often as it starts. */
async function killing(
  world: TestWorld,
  limits: string,
  { afterMs, forMs }: { afterMs: number; forMs: number },
): Promise<void> {
  const since = new Map<string, number>();
  const endMs = world.clock.nowMs() + forMs;
  while (world.clock.nowMs() < endMs) {
    for (const pod of await world.pods()) {
      const ip = pod.status?.podIP ?? "";
      if (runsWith(pod) !== limits) continue;
      if (!since.has(ip)) since.set(ip, world.clock.nowMs());
      if (world.clock.nowMs() - (since.get(ip) ?? 0) < afterMs) continue;
      world.world.fdb.faults.crashProcess(`${ip}:4501`);
    }
    await world.clock.advance(500);
  }
}

async function zonesWith(world: TestWorld, limits: string): Promise<number> {
  const pods = (await world.pods()).filter((pod) => runsWith(pod) === limits);
  return new Set(pods.map(({ spec }) => spec?.nodeName)).size;
}

for (const afterMs of [3_000, 40_000]) {
  test(`[SIZE12] a limit that kills after ${afterMs / 1000} s reaches one fault domain, and is taken back there (long)`, async () => {
    await withPods({}, async (world) => {
      const before = await podUids(world);
      await world.changeSpec({ processes: sized("1", "256Mi") });
      await killing(world, "1 256Mi", { afterMs, forMs: 5 * minuteMs });
      assert.equal(await zonesWith(world, "1 256Mi"), 1);
      assert.match((await waitOf(world, "PodsResizing"))?.message ?? "", /have to serve/);
      world.assertDataSafe();
      await world.changeSpec({ processes: sized("1", "2Gi") });
      await world.untilReconciled(10 * minuteMs);
      assert.deepEqual(await allRunWith(world), ["1 2Gi"]);
      assert.deepEqual(await marks(world), []);
      assert.deepEqual(await podUids(world), before);
    });
  });
}

test("[SIZE12] a limit that is raised after it was too low is proved as well, and then the others follow (long)", async () => {
  await withPods({}, async (world) => {
    await world.changeSpec({ processes: sized("1", "256Mi") });
    await killing(world, "1 256Mi", { afterMs: 3_000, forMs: 2 * minuteMs });
    await world.changeSpec({ processes: sized("1", "1Gi") });
    await world.clock.advance(30_000);
    assert.equal(await zonesWith(world, "1 1Gi"), 1);
    await world.untilReconciled(30 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["1 1Gi"]);
    assert.deepEqual(await marks(world), []);
  });
});

test("[SIZE12] an operator that starts again between two fault domains knows what is not proved (long)", async () => {
  await withPods({}, async (world) => {
    await world.changeSpec({ processes: sized("1", "1Gi") });
    await world.until(async () => (await zonesWith(world, "1 1Gi")) === 1, "the first");
    await world.clock.advance(10_000);
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    world.world.startOperator();
    await world.clock.advance(20_000);
    assert.equal(await zonesWith(world, "1 1Gi"), 1);
    await world.untilReconciled(30 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["1 1Gi"]);
  });
});

test("[SIZE12] while the database has nobody to spare no limit is lowered, and one is raised", async () => {
  await withPods({}, async (world) => {
    const [first] = await world.pods("storage");
    const nodeName = first?.spec?.nodeName ?? "";
    await world.during(world.world.kubelet.stopNode(nodeName), minuteMs, "a node stops");
    await world.clock.advance(20_000);
    await world.changeSpec({ processes: sized("1", "1Gi") });
    await world.clock.advance(20_000);
    assert.equal(await zonesWith(world, "1 1Gi"), 0);
    assert.match((await waitOf(world, "PodsResizing"))?.message ?? "", /Lower limits wait/);
    await world.changeSpec({ processes: sized("1", "4Gi") });
    await world.until(async () => (await zonesWith(world, "1 4Gi")) > 0, "others get more");
    await world.during(world.world.kubelet.startNode(nodeName), minuteMs, "it is back");
    await world.untilReconciled(60 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["1 4Gi"]);
  });
});

test("[SIZE12] instances of one database that are told at once lower limits one after the other (long)", async () => {
  const { names } = threeClusters;
  await MultiTestWorld.run({ names }, async (multi) => {
    const automationOptions = { synchronizationMode: "global" as const };
    await createRegions(multi, threeClusters, { automationOptions, processes: sized("1", "2Gi") });
    await multi.clock.advance(2 * minuteMs);
    await multi.changeAll({ processes: sized("1", "1Gi") });
    const untilMs = multi.clock.nowMs() + 50_000;
    let most = 0;
    while (multi.clock.nowMs() < untilMs) {
      const zones = await Promise.all(multi.worlds.map((world) => zonesWith(world, "1 1Gi")));
      most = Math.max(
        most,
        zones.reduce((sum, count) => sum + count, 0),
      );
      await multi.clock.advance(500);
    }
    assert.equal(most, 1);
    await multi.untilAllReconciled(120 * minuteMs);
    for (const world of multi.worlds) assert.deepEqual(await allRunWith(world), ["1 1Gi"]);
    multi.assertDataSafe();
  });
});
