// The machine's clock when its time is set, and when the machine sleeps.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { machineClock } from "./clock.ts";

function source() {
  const time = { wall: 1_000_000, steady: 50 };
  const pass = (byMs: number): void => {
    time.wall += byMs;
    time.steady += byMs;
  };
  return { time, pass, source: { wallMs: () => time.wall, steadyMs: () => time.steady } };
}

test("[RUN15] a clock follows a time that is set forward, and one that slept", () => {
  const { time, pass, source: from } = source();
  const clock = machineClock(1, from);
  assert.equal(clock.nowMs(), 1_000_000);
  pass(5_000);
  assert.equal(clock.nowMs(), 1_005_000);
  time.wall += 900;
  assert.equal(clock.nowMs(), 1_005_000, "a little is nothing");
  time.wall += 3_600_000;
  assert.equal(clock.nowMs(), 4_605_900);
  pass(1_000);
  assert.equal(clock.nowMs(), 4_606_900);
});

test("[RUN15] a clock never goes back, and runs on evenly when its time is set back", () => {
  const { time, pass, source: from } = source();
  const clock = machineClock(1, from);
  time.wall -= 3_600_000;
  assert.equal(clock.nowMs(), 1_000_000);
  pass(5_000);
  assert.equal(clock.nowMs(), 1_005_000);
  time.wall += 3_600_000;
  assert.equal(clock.nowMs(), 1_005_000);
});

test("[S167] a clock tells by how much it was set since a moment", () => {
  const { time, pass, source: from } = source();
  const clock = machineClock(1, from);
  const firstMs = clock.nowMs();
  pass(5_000);
  assert.equal(clock.steppedMs(firstMs), 0);
  time.wall += 60_000;
  const secondMs = clock.nowMs();
  pass(5_000);
  time.wall += 3_600_000;
  const thirdMs = clock.nowMs();
  const found = [firstMs, secondMs, thirdMs].map((ms) => clock.steppedMs(ms));
  assert.deepEqual(found, [3_660_000, 3_600_000, 0]);
  for (let step = 0; step < 200; step += 1) {
    time.wall += 2_000;
    clock.nowMs();
  }
  assert.equal(clock.steppedMs(firstMs), 4_060_000);
  assert.equal(clock.steppedMs(clock.nowMs()), 0);
});

test("[RUN15] timers that came due meanwhile fire at once", async () => {
  const { time, source: from } = source();
  const clock = machineClock(1, from);
  const fired: string[] = [];
  clock.setTimer(600_000, () => fired.push("due"));
  clock.setTimer(7_200_000, () => fired.push("later"));
  clock.setTimer(600_000, () => fired.push("cancelled")).cancel();
  time.wall += 3_600_000;
  clock.nowMs();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(fired, ["due"]);
  clock.stop();
});

test("[RUN15] a faster clock goes by its own beginning alone", () => {
  const { time, pass, source: from } = source();
  const clock = machineClock(10, from);
  time.wall += 3_600_000;
  pass(1_000);
  assert.equal(clock.nowMs(), 1_010_000);
});
