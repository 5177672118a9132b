// Times of the API server on our own clock, and nobody who reads them in another way.
import { strict as assert } from "node:assert";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { operatorTimeMs, ownTimeMs, toldAnnotation, toldMs } from "./server-time.ts";

test("[OP70] a time of the API server is moved by the difference of the clocks", () => {
  const time = "2026-01-02T00:00:10Z";
  const atMs = Date.parse(time);
  assert.equal(ownTimeMs({}, time), atMs);
  assert.equal(ownTimeMs({ serverAheadMs: 3_600_000 }, time), atMs - 3_600_000);
  assert.equal(ownTimeMs({ serverAheadMs: 3_600_000 }, undefined), undefined);
});

test("[OP70] what a pod was told when keeps its age when our clock is set forward", () => {
  const nowMs = Date.parse("2026-01-02T00:00:10Z");
  const annotation = toldAnnotation({ nowMs, serverAheadMs: 0 });
  const hourMs = 3_600_000;
  const later = { nowMs: nowMs + hourMs + 60_000, serverAheadMs: -hourMs };
  assert.equal(later.nowMs - toldMs(later, annotation), 60_000);
  assert.equal(toldMs({ nowMs, serverAheadMs: 0 }, undefined), 0);
  assert.equal(toldMs({ nowMs, serverAheadMs: 0 }, "soon"), 0);
  assert.equal(toldMs({ nowMs, serverAheadMs: 0 }, "99999999999"), nowMs, "not in the future");
});

test("[OP71] a time of an operator whose clock was ahead is now", () => {
  const nowMs = Date.parse("2026-01-02T00:00:10Z");
  assert.equal(operatorTimeMs({ nowMs }, "2026-01-02T01:00:00Z"), nowMs);
  assert.equal(operatorTimeMs({ nowMs }, "2026-01-02T00:00:00Z"), nowMs - 10_000);
  assert.equal(operatorTimeMs({ nowMs }, undefined), undefined);
});

test("[OP70] no decision reads a time of an object in another way", () => {
  const plan = join(import.meta.dirname, "..");
  const files = globSync("**/*.ts", { cwd: plan });
  const reading = files.filter((file) => {
    if (file.endsWith(".test.ts") || file === join("view", "server-time.ts")) return false;
    const text = readFileSync(join(plan, file), "utf8");
    return /\bparseTime\b|Date\.parse|cluster_controller_timestamp/.test(text);
  });
  assert.ok(files.length > 50);
  assert.deepEqual(reading, []);
});

/** What they read an operator wrote itself, or they only tell it to people. */
const readersOfTimes = [
  "backup/metrics.ts",
  "backup/observe.ts",
  "dated-plan.ts",
  "metrics-cluster.ts",
  "status-writes.ts",
  "stored-facts.ts",
  "transition-events.ts",
];

test("[OP70] effects compare no time of an object with our clock, but for these", () => {
  const operate = join(import.meta.dirname, "../../operate");
  const reading = globSync("**/*.ts", { cwd: operate }).filter((file) => {
    if (file.endsWith(".test.ts")) return false;
    return /\bparseTime\(|Date\.parse/.test(readFileSync(join(operate, file), "utf8"));
  });
  assert.deepEqual(reading.toSorted(), readersOfTimes);
});
