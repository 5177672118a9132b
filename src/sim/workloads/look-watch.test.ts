// The watch over looks itself. Rules: spec/world.md [W137].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { LookWatch, looksMax } from "./look-watch.ts";

const minuteMs = 60_000;

test("[W137] a loop that waits only for itself is found, a busy hour is not", () => {
  const busy = new LookWatch();
  for (let minute = 0; minute <= 60; minute += 1) {
    const looks = minute * (looksMax / 5);
    assert.equal(busy.note({ atMs: minute * minuteMs, looks }), undefined);
  }
  const turning = new LookWatch();
  assert.equal(turning.note({ atMs: 0, looks: 0 }), undefined);
  const problem = turning.note({ atMs: 2 * minuteMs, looks: 2_400 });
  assert.match(problem ?? "", /2400 times within five minutes/);
});

test("[W137] an operator that was started again counts from zero", () => {
  const watch = new LookWatch();
  assert.equal(watch.note({ atMs: 0, looks: looksMax * 10 }), undefined);
  assert.equal(watch.note({ atMs: 1_000, looks: 0 }), undefined);
  assert.equal(watch.note({ atMs: 2_000, looks: looksMax }), undefined);
  assert.notEqual(watch.note({ atMs: 3_000, looks: looksMax + 1 }), undefined);
});
