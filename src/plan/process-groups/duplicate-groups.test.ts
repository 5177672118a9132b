// Process groups that stand in the status more than once. Rules: spec/plan.md [P101].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProcessGroupStatus } from "../../api/cluster.ts";
import { uniqueGroups } from "./duplicate-groups.ts";

const one: ProcessGroupStatus = { processGroupID: "storage-1", processClass: "storage" };
const marked = { ...one, removalTimestamp: "2026-01-01T00:00:00Z" };
const excluded = { ...marked, exclusionTimestamp: "2026-01-01T00:01:00Z" };

const cases: readonly [string, readonly ProcessGroupStatus[], ProcessGroupStatus][] = [
  ["the same twice", [one, { ...one }], one],
  ["three times", [one, one, one], one],
  ["one that is marked stays marked", [one, marked], marked],
  ["the same the other way round", [marked, one], marked],
  ["one that not all call excluded is proven again", [excluded, marked], marked],
  ["one that all call excluded", [excluded, excluded], excluded],
  [
    "one that not all let go without exclusion",
    [{ ...excluded, exclusionSkipped: true }, excluded],
    excluded,
  ],
  [
    "all addresses are kept, since all may have to be excluded",
    [
      { ...one, addresses: ["10.0.0.1"], faultDomain: "a" },
      { ...one, addresses: ["10.0.0.2", "10.0.0.1"] },
    ],
    { ...one, addresses: ["10.0.0.1", "10.0.0.2"], faultDomain: "a" },
  ],
  ["of two classes the one with a pod", [{ ...one, processClass: "log" }, one], one],
];

for (const [title, groups, expected] of cases) {
  test(`[P101] ${title}`, () => {
    const { groups: found, events } = uniqueGroups(
      groups,
      (each) => each.processClass === "storage",
    );
    assert.deepEqual(found, [expected]);
    assert.match(events[0]?.message ?? "", /^The status listed storage-1 more than once/);
  });
}

test("[P101] a status without repetitions stays the same", () => {
  const groups = [one, { ...one, processGroupID: "storage-2" }];
  const found = uniqueGroups(groups, () => true);
  assert.equal(found.groups, groups);
  assert.deepEqual(found.events, []);
});
