// Clocks of operators that are set wrong.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { skewedClock } from "./skewed-clock.ts";
import { VirtualClock } from "../env/virtual-clock.ts";

test("[MU3] a skewed clock is off by its offset and gains by its drift", async () => {
  const clock = new VirtualClock(1_000_000);
  const skewed = skewedClock(clock, { offsetMs: -5_000, driftMsPerHour: 3_600 });
  assert.equal(skewed.nowMs(), 995_000);
  await clock.advance(3_600_000);
  assert.equal(skewed.nowMs(), 995_000 + 3_600_000 + 3_600);
});

test("[MU3] a skewed clock can be set forward, and its timers do not notice", async () => {
  const clock = new VirtualClock(0);
  const skewed = skewedClock(clock, { offsetMs: 0, driftMsPerHour: 0 });
  const fired: number[] = [];
  skewed.setTimer(10_000, () => fired.push(skewed.nowMs()));
  skewed.step(3_600_000);
  assert.equal(skewed.nowMs(), 3_600_000);
  await clock.advance(10_000);
  assert.deepEqual(fired, [3_610_000]);
  assert.deepEqual([skewed.steppedMs(0), skewed.steppedMs(3_600_000)], [3_600_000, 0]);
  assert.throws(() => skewed.step(-1), RangeError);
});

test("[MU3] a skewed clock can be set back between two processes", async () => {
  const clock = new VirtualClock(10_000);
  const skewed = skewedClock(clock, { offsetMs: 5_000, driftMsPerHour: 0 });
  skewed.step(2_000);
  skewed.setBack(9_000);
  assert.equal(skewed.steppedMs(0), 0, "another process knows of no step");
  assert.equal(skewed.nowMs(), 8_000);
  await clock.advance(1_000);
  assert.equal(skewed.nowMs(), 9_000);
  assert.throws(() => skewed.setBack(-1), RangeError);
});

test("[MU3] timers of a skewed clock go by its own measure of time", async () => {
  const clock = new VirtualClock(0);
  const fast = skewedClock(clock, { offsetMs: 0, driftMsPerHour: 3_600_000 });
  const fired: number[] = [];
  fast.setTimer(10_000, () => fired.push(clock.nowMs()));
  const cancelled = fast.setTimer(20_000, () => fired.push(-1));
  cancelled.cancel();
  await clock.advance(60_000);
  assert.deepEqual(fired, [5_000]);
});

test("[MU3] a clock never goes back, and one that would is refused", async () => {
  const clock = new VirtualClock(0);
  const slow = skewedClock(clock, { offsetMs: 0, driftMsPerHour: -3_000_000 });
  let lastMs = slow.nowMs();
  for (let step = 0; step < 100; step += 1) {
    await clock.advance(7);
    assert.ok(slow.nowMs() >= lastMs);
    lastMs = slow.nowMs();
  }
  assert.throws(() => skewedClock(clock, { offsetMs: 0, driftMsPerHour: -3_600_000 }), RangeError);
});
