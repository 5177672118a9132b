// What is said of process groups that run and are not well.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { ConditionType } from "../../model/process-group.ts";
import { impairmentWaits } from "./impaired-processes.ts";
import type { Draft } from "../step.ts";

function groupWith(id: string, ...types: ConditionType[]): ProcessGroup {
  const processGroupConditions = types.map((type) => ({ type, timestamp: 1 }));
  return { processGroupID: id, processClass: "storage", processGroupConditions };
}

function waitsOf(groups: readonly ProcessGroup[], isEnabled = true) {
  const replacements = {
    enabled: isEnabled,
    failureDetectionTimeSeconds: 300,
    taintReplacementTimeSeconds: 20,
  };
  const spec = { version: "7.3.63", automationOptions: { replacements } };
  return impairmentWaits({ desired: { cluster: { spec } }, groups } as unknown as Draft);
}

const cases: [ConditionType, RegExp][] = [
  ["ProcessIsMarkedAsExcluded", /^storage-1 is excluded .*300 seconds is replaced$/],
  ["ProcessHasIOError", /^The disk of storage-1 gave errors/],
  ["ProcessHasHighRunLoopBusy", /^storage-1 is overloaded/],
  ["NodeTaintDetected", /^The node of storage-1 has a taint .* 20 seconds is replaced$/],
];
for (const [condition, expected] of cases) {
  test(`[P104] ${condition} is told with what becomes of it`, () => {
    const [wait, ...more] = waitsOf([groupWith("storage-1", condition), groupWith("storage-2")]);
    assert.match(wait?.message ?? "", expected);
    assert.notEqual(wait?.remedy ?? "", "");
    assert.equal(more.length, 0);
  });
}

test("[P104] who is leaving is not told, and several are told together", () => {
  const condition = "ProcessIsMarkedAsExcluded";
  const leaving = {
    ...groupWith("storage-3", condition),
    removalTimestamp: "2026-01-01T00:00:00Z",
  };
  const [wait] = waitsOf(
    [groupWith("storage-1", condition), groupWith("storage-2", condition), leaving],
    false,
  );
  assert.match(
    wait?.message ?? "",
    /^storage-1 and storage-2 are excluded .*\.replacements is off/,
  );
});
