// Process groups in the status of a cluster.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  addCondition,
  compareProcessGroups,
  conditionOf,
  conditionTypes,
  hasAnyCondition,
  hasCondition,
  isExcluded,
  isReadyForRemoval,
  isMarkedForRemoval,
  markForRemoval,
  newProcessGroup,
  removeCondition,
  replacementConditions,
  revokeExclusion,
  setCondition,
  setExcluded,
  skipExclusion,
  withAddresses,
  withoutFuture,
} from "./process-group.ts";
import type { ProcessGroupState } from "./process-group.ts";

const startMs = Date.parse("2026-01-02T03:04:05.678Z");
const empty: ProcessGroupState = {};

test("[M46] a new process group misses what it needs", () => {
  const types = (processClass: string): string[] =>
    newProcessGroup("x-1", processClass, startMs).processGroupConditions.map(({ type }) => type);
  assert.deepEqual(types("stateless"), ["MissingProcesses", "MissingPod"]);
  assert.deepEqual(types("log"), ["MissingProcesses", "MissingPod", "MissingPVC"]);
});

test("[M47] a condition keeps its first time until it is cleared", () => {
  const once = setCondition(empty, "PodPending", true, startMs);
  const twice = addCondition(once, "PodPending", startMs + 60_000);
  assert.equal(twice, once);
  assert.equal(conditionOf(once, "PodPending")?.timestamp, Math.floor(startMs / 1000));
  assert.deepEqual(setCondition(once, "PodPending", false, startMs), {});
  assert.equal(removeCondition(once, "PodFailing"), once);
});

test("[M48] an excluded process group keeps only what says that it is going, or stays for a look", () => {
  const marked = markForRemoval(
    addCondition(addCondition(empty, "PodFailing", startMs), "ResourcesTerminating", startMs),
    startMs,
  );
  const excluded = setExcluded(marked, startMs);
  assert.deepEqual(
    excluded.processGroupConditions?.map(({ type }) => type),
    ["ResourcesTerminating"],
  );
  const fenced = addCondition(excluded, "Fenced", startMs);
  assert.ok(hasCondition(fenced, "Fenced"));
  assert.ok(hasCondition(setExcluded(addCondition(empty, "Fenced", startMs), startMs), "Fenced"));
  assert.ok(isReadyForRemoval(excluded));
  assert.equal(addCondition(excluded, "MissingPod", startMs), excluded);
  assert.ok(!hasCondition(addCondition(excluded, "MissingPod", startMs), "MissingPod"));
  assert.ok(!hasAnyCondition(removeCondition(excluded, "ResourcesTerminating")));
  assert.equal(setExcluded(excluded, startMs + 1000), excluded);
});

test("[M49] marks keep their first time and exclusion can be skipped or revoked", () => {
  const marked = markForRemoval({ ...empty, hall: "kept" } as ProcessGroupState, startMs);
  assert.equal(marked.removalTimestamp, "2026-01-02T03:04:05Z");
  assert.equal(markForRemoval(marked, startMs + 5000), marked);
  assert.ok(isMarkedForRemoval(marked) && !isExcluded(marked));
  assert.ok(isExcluded(skipExclusion(marked, startMs)));
  assert.ok("hall" in skipExclusion(marked, startMs));
  assert.deepEqual(revokeExclusion(setExcluded(marked, startMs)), marked);
  assert.ok(isExcluded({ exclusionSkipped: true }));
});

test("[M50] addresses follow the pod or pile up", () => {
  const old: ProcessGroupState = { addresses: ["1.1.1.1"] };
  assert.deepEqual(withAddresses(old, ["2.2.2.2"], false).addresses, ["2.2.2.2"]);
  assert.deepEqual(withAddresses(old, ["2.2.2.2", "1.1.1.1"], true).addresses, [
    "1.1.1.1",
    "2.2.2.2",
  ]);
  assert.equal(withAddresses(old, ["", ""], false), old);
  assert.equal(withAddresses(old, [], true), old);
  assert.equal(withAddresses(old, ["1.1.1.1"], false), old);
});

test("[M51] condition types are fixed and entries are sorted by id", () => {
  assert.equal(new Set(conditionTypes).size, 22);
  assert.equal(replacementConditions.length, 11);
  assert.ok(replacementConditions.every((type) => conditionTypes.includes(type)));
  const sorted = [{ processGroupID: "log-2" }, { processGroupID: "log-10" }].toSorted(
    compareProcessGroups,
  );
  assert.deepEqual(
    sorted.map((group) => group.processGroupID),
    ["log-10", "log-2"],
  );
});

test("[OP71] a condition that begins in the future begins now", () => {
  const nowMs = 1_700_000_000_000;
  const group = (timestamp: number) => ({
    processGroupID: "log-1",
    processClass: "log",
    processGroupConditions: [
      { type: "MissingPod" as const, timestamp },
      { type: "PodFailing" as const, timestamp: 1_600_000_000 },
    ],
  });
  const near = group(1_700_000_010);
  assert.equal(withoutFuture(near, nowMs), near);
  assert.deepEqual(withoutFuture(group(1_700_003_600), nowMs), group(1_700_000_000));
});
