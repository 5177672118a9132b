// The decision about replacement buckets, case by case. Rules: spec/buckets.md [BKT1]-[BKT7].
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterSpec, ProcessGroupStatus } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { processClasses } from "../../model/process-class.ts";
import { ReplacementBudget, bucketOf } from "./replacement-budget.ts";

type Replacements = NonNullable<ClusterSpec["automationOptions"]>["replacements"];

function optionsOf(replacements: Replacements) {
  return automationOf({ version: "7.3.63", automationOptions: { replacements } }).replacements;
}

const on = { enabled: true };
const marked = { removalTimestamp: "2026-01-01T00:00:00Z" };
const excluded = { ...marked, exclusionTimestamp: "2026-01-01T00:01:00Z" };

function group(id: string, state: Partial<ProcessGroupStatus> = {}): ProcessGroupStatus {
  return { processGroupID: id, processClass: id.replace(/-\d+$/, ""), ...state };
}

/** Which of the failed process groups may be replaced, beside those that are there. */
function replaced(
  replacements: Replacements,
  present: readonly ProcessGroupStatus[],
  failed: readonly (string | ProcessGroupStatus)[],
): string[] {
  const budget = new ReplacementBudget(optionsOf(replacements), present);
  return failed
    .map((one) => (typeof one === "string" ? group(one) : one))
    .filter((one) => budget.take(one) === undefined)
    .map((one) => one.processGroupID);
}

const everyone = ["storage-1", "storage-2", "log-1", "log-2", "stateless-1", "stateless-2"];

interface Case {
  readonly title: string;
  readonly replacements: Replacements;
  readonly present?: readonly ProcessGroupStatus[];
  readonly failed?: readonly (string | ProcessGroupStatus)[];
  readonly expected: readonly string[];
}

const cases: readonly Case[] = [
  {
    title: "[BKT1] switched off, one bucket takes one",
    replacements: { replacementBucket: { storage: 5, log: 5, stateless: 5 } },
    expected: ["storage-1"],
  },
  {
    title: "[BKT1] switched off, the general limit is the user's to say",
    replacements: { maxConcurrentReplacements: 3 },
    expected: ["storage-1", "storage-2", "log-1"],
  },
  {
    title: "[BKT1] switched off, a removal in flight takes a place whatever its class",
    replacements: { maxConcurrentReplacements: 2 },
    present: [group("grv_proxy-9", marked)],
    expected: ["storage-1"],
  },
  {
    title: "[BKT2] switched on, each bucket takes one unless told otherwise",
    replacements: { replacementBucket: on },
    expected: ["storage-1", "log-1", "stateless-1"],
  },
  {
    title: "[BKT2] switched on, each bucket has its own limit and the general one is ignored",
    replacements: { maxConcurrentReplacements: 0, replacementBucket: { ...on, log: 2 } },
    expected: ["storage-1", "log-1", "log-2", "stateless-1"],
  },
  {
    title: "[BKT4] removals in flight are taken off their bucket only",
    replacements: { replacementBucket: { ...on, storage: 2, log: 2 } },
    present: [group("storage-9", marked), group("log-9", marked), group("log-8", marked)],
    expected: ["storage-1", "stateless-1"],
  },
  {
    title: "[BKT4] one that is excluded gives its place back",
    replacements: { replacementBucket: on },
    present: [group("storage-9", excluded), group("log-9", { ...marked, exclusionSkipped: true })],
    expected: ["storage-1", "log-1", "stateless-1"],
  },
  {
    title: "[BKT4] more removals than the limit leave no room, and none is owed later",
    replacements: { replacementBucket: { ...on, storage: 1 } },
    present: [1, 2, 3].map((number) => group(`storage-${90 + number}`, marked)),
    expected: ["log-1", "stateless-1"],
  },
  {
    title: "[BKT5] a bucket at 0 takes none",
    replacements: { replacementBucket: { ...on, storage: 0, stateless: 0 } },
    expected: ["log-1"],
  },
  {
    title: "[BKT6] with fault domains counted, all of one domain go together",
    replacements: { faultDomainBasedReplacements: true, replacementBucket: on },
    failed: [
      group("storage-1", { faultDomain: "a" }),
      group("storage-2", { faultDomain: "b" }),
      group("storage-3", { faultDomain: "a" }),
      group("log-1", { faultDomain: "b" }),
    ],
    expected: ["storage-1", "storage-3", "log-1"],
  },
  {
    title: "[BKT6] domains in flight count, and their members are free",
    replacements: { faultDomainBasedReplacements: true, replacementBucket: { ...on, storage: 2 } },
    present: [group("storage-9", { ...marked, faultDomain: "a" })],
    failed: [
      group("storage-1", { faultDomain: "b" }),
      group("storage-2", { faultDomain: "c" }),
      group("storage-3", { faultDomain: "a" }),
    ],
    expected: ["storage-1", "storage-3"],
  },
  {
    title: "[BKT6] a process group without a known domain is one of its own",
    replacements: { faultDomainBasedReplacements: true },
    failed: ["storage-1", "storage-2"],
    expected: ["storage-1"],
  },
  {
    title: "[BKT6] a bucket at 0 takes no domain either",
    replacements: { faultDomainBasedReplacements: true, maxConcurrentReplacements: 0 },
    present: [group("storage-9", { ...marked, faultDomain: "a" })],
    failed: [group("storage-1", { faultDomain: "a" })],
    expected: [],
  },
];

for (const { title, replacements, present = [], failed = everyone, expected } of cases) {
  test(title, () => assert.deepEqual(replaced(replacements, present, failed), expected));
}

test("[BKT3] storage, logs and the rest: the bucket of every class", () => {
  const options = optionsOf({ replacementBucket: on });
  const found = Map.groupBy([...processClasses, "general"], (one) => bucketOf(options, one));
  assert.deepEqual(found.get("storage"), ["storage"]);
  assert.deepEqual(found.get("log"), ["transaction", "log", "coordinator"]);
  assert.equal(found.get("stateless")?.length, processClasses.length + 1 - 4);
  const all = [...processClasses].map((one) => bucketOf(optionsOf({}), one));
  assert.deepEqual([...new Set(all)], ["general"]);
});

const someGroups = fc.array(
  fc.record({
    processClass: fc.constantFrom("storage", "log", "transaction", "stateless", "test"),
    state: fc.constantFrom({}, marked, excluded),
    faultDomain: fc.constantFrom("a", "b", "c", undefined),
  }),
  { maxLength: 25 },
);

const limits = fc.record({
  faultDomainBasedReplacements: fc.boolean(),
  maxConcurrentReplacements: fc.nat(4),
  replacementBucket: fc.record({
    enabled: fc.boolean(),
    storage: fc.nat(4),
    log: fc.nat(4),
    stateless: fc.nat(4),
  }),
});

test("[BKT4] no bucket ever takes more than its limit, and none is left while somebody fits", () => {
  const property = fc.property(limits, someGroups, (replacements, found) => {
    const groups = found.map(({ processClass, state, faultDomain }, index) =>
      group(`${processClass}-${index}`, { processClass, faultDomain: faultDomain ?? "", ...state }),
    );
    const budget = new ReplacementBudget(optionsOf(replacements), groups);
    const before = new Map(budget.buckets().map(({ name, used }) => [name, used]));
    const held = groups
      .filter((one) => one.removalTimestamp === undefined)
      .flatMap((one) => budget.take(one) ?? []);
    for (const { name, limit, used } of budget.buckets()) {
      assert.ok(used <= Math.max(limit, before.get(name) ?? 0), name);
    }
    for (const { used, limit } of held) assert.ok(used >= limit);
  });
  fc.assert(property, { seed: 1, numRuns: 500 });
});
