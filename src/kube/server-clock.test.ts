// The difference of two clocks, measured by whole seconds and answers that take their time.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { measuredTransport, ServerClock } from "./server-clock.ts";

test("[KUBE92] clocks that agree within what can be seen have no difference", () => {
  const clock = new ServerClock();
  assert.equal(clock.aheadMs, 0);
  for (const nowMs of [10_000, 10_999, 11_500]) {
    clock.note(Math.floor(nowMs / 1000) * 1000, nowMs, nowMs + 200);
    assert.equal(clock.aheadMs, 0, `${nowMs}`);
  }
});

test("[KUBE92] the difference is known the better the more answers there are", () => {
  const clock = new ServerClock();
  const offMs = 3_600_300;
  for (const [askedMs, tookMs] of [
    [0, 8_000],
    [10_000, 100],
    [20_650, 100],
    [30_300, 100],
  ] as const) {
    clock.note(Math.floor((askedMs + tookMs / 2 + offMs) / 1000) * 1000, askedMs, askedMs + tookMs);
    assert.ok(Math.abs(clock.aheadMs - offMs) <= 500 + tookMs / 2, `${clock.aheadMs}`);
  }
  assert.ok(Math.abs(clock.aheadMs - offMs) <= 400, `${clock.aheadMs}`);
});

test("[KUBE92] when a clock is set, the newest answer counts and the change is told", () => {
  const told: number[] = [];
  const clock = new ServerClock((aheadMs) => told.push(aheadMs));
  clock.note(1_000_000, 1_000_000, 1_000_000);
  clock.note(4_600_000, 1_000_000, 1_000_000);
  clock.note(4_601_000, 1_001_000, 1_001_000);
  clock.note(1_002_000, 1_002_000, 1_002_000);
  assert.deepEqual(told, [3_600_500, 0]);
});

test("[KUBE92] an answer without a date tells nothing", async () => {
  const clock = new ServerClock();
  let dateMs: number | undefined;
  const answer = () => Promise.resolve({ status: 200, body: {}, ...(dateMs ? { dateMs } : {}) });
  const inner = { request: answer, watch: () => Promise.resolve() };
  const transport = measuredTransport(inner, { nowMs: () => 0 }, clock);
  await transport.request({ method: "GET", path: "/" });
  assert.equal(clock.aheadMs, 0);
  dateMs = 60_000;
  await transport.request({ method: "GET", path: "/" });
  assert.equal(clock.aheadMs, 60_500);
});
