// The order in which hosts are emptied for logical fault domains. Proves [PACK46] of spec/packing.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { emptyingHosts } from "./packing-migration.ts";

/** "a1" is on host a, "a1!" does not report, "1" has no node. */
function groupOf(text: string): ProcessGroup {
  const processGroupConditions = text.endsWith("!")
    ? [{ type: "MissingProcesses" as const, timestamp: 1 }]
    : [];
  return { processGroupID: text, processClass: "storage", processGroupConditions };
}

function hostOf({ processGroupID }: ProcessGroup): string {
  return /^[a-z]/.exec(processGroupID)?.[0] ?? "";
}

const rows: readonly [string, string[], string[], string[]][] = [
  [
    "a host after the other, however cheap members of others are",
    ["a1", "b1", "c1", "a2", "b2", "c2"],
    [],
    ["a1", "a2", "b1", "b2", "c1", "c2"],
  ],
  [
    "the host with the fewest first",
    ["a1", "a2", "b1", "a3", "b2"],
    [],
    ["b1", "b2", "a1", "a2", "a3"],
  ],
  [
    "a host that others are leaving before one with fewer",
    ["a1", "b1", "b2"],
    ["b3"],
    ["b1", "b2", "a1"],
  ],
  [
    "who does not report before all hosts",
    ["a1", "b1", "c1", "c2!"],
    ["a2"],
    ["c2!", "a1", "b1", "c1"],
  ],
  ["who has no node before those who have one", ["a1", "1", "2"], [], ["1", "2", "a1"]],
  ["nobody", [], ["a1"], []],
];

for (const [title, sorted, going, expected] of rows) {
  test(`[PACK46] ${title}`, () => {
    const found = emptyingHosts(sorted.map(groupOf), going.map(groupOf), hostOf);
    assert.deepEqual(
      found.map(({ processGroupID }) => processGroupID),
      expected,
    );
  });
}
