// Readiness and liveness from the age of the copies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { healthOf } from "./runtime-health.ts";

const minuteMs = 60_000;
const fresh = { kind: "Pod", hasSynced: true, contactAtMs: 0, activeAtMs: 0, problem: undefined };

test("[RUN31] ready means that all copies are filled and were heard of lately", () => {
  assert.deepEqual(healthOf([fresh], 5 * minuteMs).notReady, []);
  const old = healthOf([{ ...fresh, problem: "connection refused" }], 6 * minuteMs).notReady;
  assert.deepEqual(old, ["nothing was heard of Pod objects for 360 s: connection refused"]);
  const empty = { ...fresh, hasSynced: false, contactAtMs: undefined, problem: "no such resource" };
  assert.deepEqual(healthOf([fresh, empty], 0).notReady, [
    "Pod objects have not been read yet: no such resource",
  ]);
});

test("[RUN30] only a loop that hangs is dead; a server that is away for hours is not our death", () => {
  const away = { ...fresh, activeAtMs: 180 * minuteMs, problem: "connection refused" };
  const later = healthOf([away], 181 * minuteMs);
  assert.equal(later.notReady.length, 1);
  assert.deepEqual(later.notAlive, []);
  assert.deepEqual(healthOf([fresh], 21 * minuteMs).notAlive, ["Pod objects hang for 1260 s"]);
});
