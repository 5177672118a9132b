// The virtual clock: order of timers, quiet between them, and the ends of a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sleep } from "./clock.ts";
import { VirtualClock, virtualStartMs } from "./virtual-clock.ts";

test("[SIM1] timers fire in the order of their due time, then of their setting", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }),
      async (delays) => {
        const clock = new VirtualClock();
        const fired: { index: number; atMs: number }[] = [];
        delays.forEach((delayMs, index) => {
          clock.setTimer(delayMs, () =>
            fired.push({ index, atMs: clock.nowMs() - virtualStartMs }),
          );
        });
        const result = await clock.run();
        const expected = delays
          .map((atMs, index) => ({ index, atMs }))
          .toSorted((left, right) => left.atMs - right.atMs || left.index - right.index);
        assert.deepEqual(fired, expected);
        assert.deepEqual(result, { reason: "stuck", events: delays.length });
      },
    ),
    { seed: 1, numRuns: 50 },
  );
});

test("[SIM2] promise chains end before time moves on", async () => {
  const clock = new VirtualClock();
  const seen: number[] = [];
  const work = async (): Promise<void> => {
    await sleep(clock, 10);
    for (let turn = 0; turn < 1000; turn += 1) await Promise.resolve();
    seen.push(clock.nowMs() - virtualStartMs);
    await sleep(clock, 5);
    seen.push(clock.nowMs() - virtualStartMs);
  };
  clock.setTimer(11, () => seen.push(11));
  const done = work();
  await clock.run();
  await done;
  assert.deepEqual(seen, [10, 11, 15]);
});

test("[SIM3] a cancelled timer never fires and is not counted as pending", async () => {
  const clock = new VirtualClock();
  let fired = 0;
  const timers = Array.from({ length: 5000 }, (_, index) =>
    clock.setTimer(index, () => (fired += 1)),
  );
  timers.forEach((timer, index) => {
    if (index % 5 !== 0) timer.cancel();
    if (index % 5 === 1) timer.cancel();
  });
  assert.equal(clock.pendingTimers, 1000);
  await clock.run();
  assert.equal(fired, 1000);
  assert.equal(clock.pendingTimers, 0);
  timers[0]?.cancel();
  assert.equal(clock.pendingTimers, 0);
});

test("[SIM4] a run stops at its instant, its condition or its number of events", async () => {
  const clock = new VirtualClock();
  let ticks = 0;
  const tick = (): void => {
    ticks += 1;
    clock.setTimer(10, tick);
  };
  clock.setTimer(10, tick);
  assert.deepEqual(await clock.advance(35), { reason: "time", events: 3 });
  assert.equal(clock.nowMs(), virtualStartMs + 35);
  assert.deepEqual(await clock.run({ until: () => ticks === 5 }), {
    reason: "condition",
    events: 2,
  });
  assert.deepEqual(await clock.run({ maxEvents: 4 }), { reason: "events", events: 4 });
  assert.equal(clock.nextTimerMs, virtualStartMs + 100);
  assert.equal(clock.firedTimers, 9);
});

test("[SIM5] a world without timers is reported as stuck, and an error in a timer ends the run", async () => {
  const clock = new VirtualClock();
  assert.deepEqual(await clock.run({ until: () => false }), { reason: "stuck", events: 0 });
  clock.setTimer(1, () => {
    throw new Error("broken");
  });
  await assert.rejects(clock.run(), /broken/);
  assert.deepEqual(await clock.run(), { reason: "stuck", events: 0 });
  assert.throws(() => clock.setTimer(Number.NaN, () => {}), RangeError);
});
