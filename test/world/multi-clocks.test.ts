// Operators of one database whose clocks disagree: nobody acts while another one does, and nobody waits for long because
// of a clock. Rules: spec/multi.md [MU32], [MU33].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { readLock } from "../../src/fdb/lock.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { templateWith } from "./restart-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

const names = ["one", "two"];
const right = { offsetMs: 0, driftMsPerHour: 0 };

const spec: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "double" },
  processCounts: { storage: 3, log: 3, stateless: 3 },
  lockOptions: { disableLocks: false },
  automationOptions: { podUpdateStrategy: "Delete" },
};

/** Two clusters with one database, whose containers need a while to start; the clock of the second is off. */
function withClock(offsetMs: number, body: (world: MultiTestWorld) => Promise<void>) {
  const skews = { one: right, two: { ...right, offsetMs } };
  const kubelet = { containerStartMs: { min: 20_000, max: 20_000 } };
  return MultiTestWorld.run({ names, skews, kubelet, nodes: 4 }, async (world) => {
    await world.createJoined(() => spec);
    await world.untilAllReconciled();
    await world.clock.advance(2 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}

/** Whether a process that keeps data is not up. */
async function isDown(world: MultiTestWorld, name: string): Promise<boolean> {
  const ready = (await world.at(name).pods()).filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      status?.containerStatuses?.every(({ ready: isReady }) => isReady) === true,
  );
  const keeping = ready.filter(({ metadata }) =>
    ["storage", "log"].includes(metadata.labels?.["foundationdb.org/fdb-process-class"] ?? ""),
  );
  return keeping.length < 6;
}

/** Lets time pass until all are reconciled; never is something of both down. How long it took. */
async function rollOut(world: MultiTestWorld, limitMs: number): Promise<number> {
  const startMs = world.clock.nowMs();
  while ((await world.late()) !== undefined) {
    assert.ok(world.clock.nowMs() - startMs < limitMs, "it takes too long");
    await world.clock.advance(500);
    const down = await Promise.all(names.map((name) => isDown(world, name)));
    assert.ok(!down.every(Boolean), "two operators act at the same time");
  }
  return world.clock.nowMs() - startMs;
}

for (const offsetMs of [10_000, -10_000, hourMs, -hourMs]) {
  test(`[MU32] a clock that is off by ${offsetMs / 1000} s makes nobody act beside another, nor slowly (long)`, async () => {
    await withClock(offsetMs, async (world) => {
      await world.changeAll(templateWith("42"));
      const tookMs = await rollOut(world, hourMs);
      assert.ok(tookMs < 15 * minuteMs, `${tookMs / 1000} s`);
    });
  });
}

test("[MU32] a clock that is set forward in the middle changes nothing (long)", async () => {
  await withClock(0, async (world) => {
    await world.changeAll(templateWith("42"));
    await world.clock.advance(30_000);
    world.stepClock("two", hourMs);
    await world.clock.advance(30_000);
    world.stepClock("one", hourMs);
    const tookMs = await rollOut(world, hourMs);
    assert.ok(tookMs < 15 * minuteMs, `${tookMs / 1000} s`);
  });
});

test("[MU33] an operator that is an hour ahead and dies with the lock holds up the others for as long as any other (long)", async () => {
  await withClock(hourMs, async (world) => {
    await world.at("two").changeSpec(templateWith("42"), { name: "two" });
    await world.clock.advance(20_000);
    assert.equal(await lockOwner(world), "two");
    await world.crashOperator("two");
    await world.at("one").changeSpec(templateWith("42"), { name: "one" });
    await world.clock.advance(9 * minuteMs);
    assert.equal(await lockOwner(world), "two", "it may still be acting");
    await world.clock.advance(3 * minuteMs);
    assert.equal(await lockOwner(world), "one");
    await world.at("one").untilReconciled(20 * minuteMs, { name: "one" });
    world.startOperator("two");
    await world.untilAllReconciled();
  });
});

async function lockOwner(world: MultiTestWorld): Promise<string | undefined> {
  const { connectionString } = world.database;
  const { status } = await world.cluster("one");
  const version = status?.runningVersion ?? "";
  const admin = world.multi.ground.fdb.admin.open({ name: "test", connectionString, version });
  const lock = await world.first.during(
    readLock({ admin, keys: operatorKeys() }),
    minuteMs,
    "a look at the lock",
  );
  admin.close();
  return lock?.owner;
}
