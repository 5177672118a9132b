// Tests of how often a database is asked while something is awaited from it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DatedClusterPlan } from "./dated-plan.ts";
import { awaitedAfter, pollInterval } from "./poll-interval.ts";

function planWith(reasons: readonly string[], available = true): DatedClusterPlan {
  const waits = reasons.map((reason) => ({ step: "excludeProcesses", reason }));
  return { waits, status: { health: { available } } } as unknown as DatedClusterPlan;
}

test("[OP65] the pause grows with the age of what is awaited, within bounds", () => {
  const cases = [
    { ageMs: 0, expected: 1_000 },
    { ageMs: 10_000, expected: 1_000 },
    { ageMs: 25_000, expected: 2_500 },
    { ageMs: 50_000, expected: 5_000 },
    { ageMs: 3_600_000, expected: 5_000 },
    // The clock was set back.
    { ageMs: -60_000, expected: 1_000 },
  ];
  for (const { ageMs, expected } of cases) {
    const awaited = { what: "", sinceMs: 100_000 };
    assert.equal(pollInterval(awaited, 1_000, 100_000 + ageMs), expected, `${ageMs}`);
  }
});

test("[OP65] the same things, in whatever order and number, keep their age", () => {
  const first = awaitedAfter(
    { what: "", sinceMs: 0 },
    planWith(["ExclusionRunning", "LockHeld"]),
    5,
  );
  assert.equal(first.sinceMs, 5);
  const again = planWith(["LockHeld", "ExclusionRunning", "LockHeld", "StatusOutdated"]);
  assert.equal(awaitedAfter(first, again, 9), first);
});

test("[OP65] something else, or a database that does not serve, begins from the start", () => {
  const first = awaitedAfter({ what: "", sinceMs: 0 }, planWith(["LockHeld"]), 5);
  assert.equal(awaitedAfter(first, planWith(["ExclusionRunning"]), 9).sinceMs, 9);
  assert.equal(awaitedAfter(first, planWith(["LockHeld"], false), 9).sinceMs, 9);
});
