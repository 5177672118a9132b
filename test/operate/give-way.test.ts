// A large cluster beside others: how it lets them have their turns.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { gaveWay, InPieces, isLarge } from "../../src/operate/give-way.ts";
import { planCluster, planInPieces } from "../../src/plan/chain.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { wantedIn } from "../../src/plan/status/update-status.ts";
import { PlanWorld } from "./plan-world.ts";

function worldOf(storage: number): PlanWorld {
  return new PlanWorld({ processCounts: { storage, log: 3, stateless: 3 } });
}

/** Every look at it finds this much more time gone. */
function stopwatchOf(stepMs: number): () => number {
  let nowMs = 0;
  return () => (nowMs += stepMs);
}

const created = ({ actions }: Plan): number =>
  actions.filter(({ type }) => type === "createPod").length;

test("[OP79] what a large cluster should look like is made in pieces, and kept", async () => {
  const world = worldOf(300);
  world.pass();
  // As after a change of its spec: nothing of what is known holds.
  world.cluster = { ...world.cluster, metadata: { ...world.cluster.metadata, generation: 2 } };
  const snapshot = world.snapshot();
  assert.ok(isLarge(snapshot));
  const clock = new VirtualClock(0);
  let turns = 0;
  const counted = {
    nowMs: () => clock.nowMs(),
    steppedMs: () => 0,
    setTimer: (delayMs: number, run: () => void) => {
      turns += 1;
      return clock.setTimer(delayMs, run);
    },
  };
  const given = gaveWay({ clock: counted, stopwatch: stopwatchOf(10) }, snapshot);
  await clock.advance(0);
  assert.equal(await given, true);
  assert.ok(turns >= 50 && turns <= 80, `${turns} turns`);
  const { desired, groups } = wantedIn(world.snapshot());
  assert.equal(desired, wantedIn(snapshot).desired, "the next look finds all of it");
  assert.ok(groups.length >= 300);
  const busy = { clock, stopwatch: stopwatchOf(1_000) };
  assert.equal(await gaveWay(busy, world.snapshot()), false, "there is nothing left to make");
});

test("[OP79] a large cluster is planned in pieces, and the plan is the same", async () => {
  const world = worldOf(300);
  for (let pass = 0; pass < 5; pass += 1) world.pass();
  const snapshot = world.snapshot();
  const clock = new VirtualClock(0);
  let [machineMs, pauses, isOver] = [0, 0, false];
  const busy = {
    nowMs: () => clock.nowMs(),
    steppedMs: () => 0,
    setTimer: (delayMs: number, run: () => void) => {
      pauses += 1;
      // The others take their time, which is not the plan's.
      machineMs += 10_000;
      return clock.setTimer(delayMs, run);
    },
  };
  const pieces = new InPieces({ clock: busy, stopwatch: () => machineMs });
  const isTimeUp = (): boolean => {
    machineMs += 20;
    return pieces.workedMs > 5_000;
  };
  const planned = pieces.run(planInPieces(snapshot, undefined, isTimeUp)).then((plan) => {
    isOver = true;
    return plan;
  });
  await clock.run({ until: () => isOver });
  assert.ok(pauses >= 5, `${pauses} pauses`);
  assert.deepEqual(await planned, planCluster(snapshot));
});

test("[OP79] a small cluster goes through without a pause", () => {
  const world = worldOf(50);
  world.pass();
  assert.equal(isLarge(world.snapshot()), false);
});

test("[OP79] missing pods are made five hundred at a time, until all are there", () => {
  const world = worldOf(1_100);
  assert.equal(created(world.pass()), 500);
  assert.equal(created(world.pass()), 500);
  assert.equal(created(world.pass()), 106);
  assert.equal(created(world.pass()), 0);
  assert.equal(world.pods.size, 1_106);
});
