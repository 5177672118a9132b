// How many of a class may be excluded at once, as a table and as a property. Rules: spec/removal.md [R35], [R36].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { ProcessGroupStatus } from "../../api/cluster.ts";
import { exclusionBudget } from "./exclusion-budget.ts";

const nowMs = Date.UTC(2026, 0, 1);

interface Shape {
  reporting?: number;
  /** Missing for so many seconds each. */
  missing?: readonly number[];
  /** Marked, excluded and proven to be empty. */
  leaving?: number;
  ongoing?: number;
  desired: number;
  faultTolerance: number;
}

function budgetOf(shape: Shape): number {
  const groups: ProcessGroupStatus[] = [];
  const add = (change: Partial<ProcessGroupStatus>): void => {
    const processGroupID = `storage-${groups.length + 1}`;
    groups.push({ processGroupID, processClass: "storage", ...change } as ProcessGroupStatus);
  };
  for (let count = 0; count < (shape.reporting ?? 0); count += 1) add({});
  for (const seconds of shape.missing ?? []) {
    const timestamp = nowMs / 1000 - seconds;
    add({ processGroupConditions: [{ type: "MissingProcesses", timestamp }] });
  }
  for (let count = 0; count < (shape.leaving ?? 0); count += 1) {
    add({ removalTimestamp: "2026-01-01T00:00:00Z", exclusionTimestamp: "2026-01-01T00:00:00Z" });
  }
  const ongoing = new Set(groups.slice(0, shape.ongoing ?? 0).map((group) => group.processGroupID));
  const { desired, faultTolerance } = shape;
  return exclusionBudget({ groups, desired, faultTolerance, ongoing, nowMs }).allowed;
}

const table: [string, Shape, number][] = [
  ["as many as wanted, nothing to spare", { reporting: 4, desired: 4, faultTolerance: 0 }, 0],
  ["as many as wanted, one to spare", { reporting: 4, desired: 4, faultTolerance: 1 }, 1],
  ["as many as wanted, two to spare", { reporting: 4, desired: 4, faultTolerance: 2 }, 2],
  ["one more than wanted", { reporting: 5, desired: 4, faultTolerance: 0 }, 1],
  ["twice as many", { reporting: 8, desired: 4, faultTolerance: 1 }, 5],
  ["one under way", { reporting: 5, desired: 4, faultTolerance: 1, ongoing: 1 }, 1],
  ["two under way", { reporting: 5, desired: 4, faultTolerance: 1, ongoing: 2 }, 0],
  ["ten under way", { reporting: 10, desired: 4, faultTolerance: 1, ongoing: 10 }, 0],
  ["fewer than wanted", { reporting: 3, desired: 4, faultTolerance: 0 }, 0],
  ["fewer than wanted, one to spare", { reporting: 3, desired: 4, faultTolerance: 1 }, 0],
  ["none at all", { desired: 4, faultTolerance: 1 }, 0],
  ["none wanted", { reporting: 4, desired: 0, faultTolerance: 0 }, 4],
  ["leaving ones do not count", { reporting: 4, leaving: 3, desired: 4, faultTolerance: 0 }, 0],
];
for (const [title, shape, expected] of table) {
  test(`[R35] ${title}: ${expected} may be excluded`, () => {
    assert.equal(budgetOf(shape), expected);
  });
}

test("[R36] a process that has just gone missing blocks its class", () => {
  assert.equal(budgetOf({ reporting: 8, missing: [299], desired: 4, faultTolerance: 1 }), 0);
  assert.equal(budgetOf({ reporting: 8, missing: [301], desired: 4, faultTolerance: 1 }), 5);
  assert.equal(budgetOf({ reporting: 8, missing: [900, 10], desired: 4, faultTolerance: 1 }), 0);
});

test("[R36] one that is to go anyway blocks nobody", () => {
  const timestamp = nowMs / 1000 - 10;
  const missing = {
    processGroupID: "storage-9",
    processClass: "storage",
    removalTimestamp: "2026-01-01T00:00:00Z",
    processGroupConditions: [{ type: "MissingProcesses", timestamp }],
  } as ProcessGroupStatus;
  const present = { processGroupID: "storage-1", processClass: "storage" } as ProcessGroupStatus;
  const state = { desired: 1, faultTolerance: 1, ongoing: new Set<string>(), nowMs };
  assert.equal(exclusionBudget({ ...state, groups: [present, missing] }).allowed, 1);
});

test("[R35] missing ones are not counted as serving", () => {
  const missing = [600, 600, 600, 600, 600];
  assert.equal(budgetOf({ reporting: 20, missing, desired: 20, faultTolerance: 2 }), 2);
  assert.equal(budgetOf({ reporting: 15, missing, desired: 20, faultTolerance: 2 }), 0);
});

test("[R35] what is left reporting and not excluded is never below the wanted number minus what can be spared", () => {
  const shapes = fc.record({
    reporting: fc.nat(30),
    missing: fc.array(fc.nat(1000), { maxLength: 5 }),
    leaving: fc.nat(3),
    ongoing: fc.nat(30),
    desired: fc.nat(30),
    faultTolerance: fc.nat(2),
  });
  fc.assert(
    fc.property(shapes, (shape) => {
      const allowed = budgetOf(shape);
      assert.ok(allowed >= 0);
      if (allowed === 0) return;
      const left = shape.reporting - Math.min(shape.ongoing, shape.reporting) - allowed;
      assert.ok(left >= shape.desired - shape.faultTolerance);
    }),
    { seed: 1, numRuns: 300 },
  );
});
