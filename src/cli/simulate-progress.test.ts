// The line that tells how far a simulation has come. Rules: spec/world.md [W112].
import assert from "node:assert/strict";
import { test } from "node:test";
import { progressLine } from "./simulate-progress.ts";

const minuteMs = 60_000;

test("[W112] progress tells lives, failures, speed and how long it takes still", () => {
  const some = { lived: 50, failed: 1, elapsedMs: 2 * minuteMs, cpuMs: 4 * minuteMs };
  assert.equal(
    progressLine({ ...some, total: 200 }),
    "50 of 200 lives, 1 failed, 12.5 lives per CPU minute, 06:00 left",
  );
  assert.equal(
    progressLine({ ...some, limitMs: 90 * minuteMs }),
    "50 lives, 1 failed, 12.5 lives per CPU minute, 1:28:00 left",
  );
  const none = { lived: 0, failed: 0, elapsedMs: 0, cpuMs: 10, total: 3 };
  assert.equal(progressLine(none), "0 of 3 lives, 0 failed");
});
