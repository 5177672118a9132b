// What a removal writes, and what is at stake.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { mergePatchOf } from "./merge-patch.ts";
import { lossText, removalOf } from "./removal.ts";

const at = "2026-01-01T00:00:00Z";
const cluster: FoundationDBCluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { name: "sample", namespace: "default" },
  spec: {
    version: "7.3.63",
    databaseConfiguration: { redundancy_mode: "double" },
    processGroupsToRemove: ["gone-1", "storage-1"],
  },
  status: {
    processGroups: [
      { processGroupID: "storage-1", processClass: "storage", faultDomain: "a" },
      { processGroupID: "storage-2", processClass: "storage", faultDomain: "b" },
      { processGroupID: "storage-3", processClass: "storage", removalTimestamp: at },
      {
        processGroupID: "storage-4",
        processClass: "storage",
        removalTimestamp: at,
        exclusionTimestamp: at,
      },
      { processGroupID: "stateless-1", processClass: "stateless" },
    ],
  },
};

test("[PL40] [PL41] the list keeps what is open, and takes what is asked for", () => {
  const { ids, spec } = removalOf(cluster, ["storage-2", "storage-3", "nobody-1"], true);
  assert.deepEqual(ids, ["storage-2"]);
  assert.deepEqual(spec.processGroupsToRemove, ["storage-1", "storage-2"]);
});

test("[PL41] what stands there already is no change", () => {
  const { spec } = cluster;
  const listed = { ...cluster, spec: { ...spec, processGroupsToRemove: ["storage-1"] } };
  assert.equal(removalOf(listed, ["storage-1"], true).spec, listed.spec);
});

test("[PL42] without exclusion a removal that has not ended can be hastened", () => {
  const { ids, spec } = removalOf(cluster, ["storage-3", "storage-4"], false);
  assert.deepEqual(ids, ["storage-3"]);
  assert.deepEqual(spec.processGroupsToRemoveWithoutExclusion, ["storage-3"]);
  assert.deepEqual(spec.processGroupsToRemove, ["gone-1", "storage-1"]);
});

test("[PL42] what is lost is said", () => {
  assert.match(lossText(cluster, ["stateless-1"]).join(" "), /^None of them holds data/);
  const one = lossText(cluster, ["storage-1"]).join(" ");
  assert.match(one, /: storage-1\. They lie in 1 fault domain; double keeps the data when 1 fault/);
  assert.match(one, /whose other copies are lost or not yet made is lost for good/);
  assert.match(lossText(cluster, ["storage-1", "storage-2"]).join(" "), /DATA WILL BE LOST/);
});

test("[PL42] those that go in the same way since earlier, and those that are down, count", () => {
  const { spec, status } = cluster;
  const before = {
    ...cluster,
    spec: { ...spec, processGroupsToRemoveWithoutExclusion: ["storage-2"] },
  };
  const earlier = lossText(before, ["storage-1"]).join(" ");
  assert.match(earlier, /Besides, storage-2: asked to go in the same way earlier\./);
  assert.match(earlier, /Together they lie in 2 fault domains; .*DATA WILL BE LOST/);
  const [first, second, third, fourth] = status?.processGroups ?? [];
  assert.ok(first && second && third && fourth);
  const down = [{ type: "MissingProcesses" as const, timestamp: 1 }];
  const withGroups = (...processGroups: NonNullable<typeof status>["processGroups"] & object) =>
    lossText({ ...cluster, status: { processGroups } }, ["storage-1"]).join(" ");
  const sick = withGroups(first, { ...second, processGroupConditions: down });
  assert.match(sick, /Besides, storage-2: not well now\. .*DATA WILL BE LOST/);
  // Its data was moved away before, so it does not count however it is.
  const emptied = withGroups(first, { ...fourth, processGroupConditions: down });
  assert.match(emptied, /They lie in 1 fault domain;/);
  const skipped = withGroups(first, { ...fourth, exclusionSkipped: true });
  assert.match(skipped, /storage-4: asked to go .*DATA WILL BE LOST/);
});

test("[PL31] a patch changes what differs and nothing else", () => {
  assert.equal(mergePatchOf({ a: 1, b: [1] }, { b: [1], a: 1 }), undefined);
  const before = { a: 1, b: { c: 1, d: 2 }, e: [1, 2], f: 0 };
  const after = { a: 1, b: { c: 3 }, e: [2] };
  assert.deepEqual(mergePatchOf(before, after), { b: { c: 3, d: null }, e: [2], f: null });
});

/** As RFC 7386 says. */
function applied(target: unknown, patch: unknown): unknown {
  const isPlain = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isPlain(patch)) return patch;
  const result: Record<string, unknown> = isPlain(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applied(result[key], value);
  }
  return result;
}

test("[PL31] a patch leads from one object to the other", () => {
  const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 2 }));
  const { node } = fc.letrec<{ node: object; value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, leaf, tie("node")),
    node: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { noNullPrototype: true }),
  }));
  fc.assert(
    fc.property(node, node, (before, after) => {
      assert.deepEqual(applied(before, mergePatchOf(before, after) ?? {}), after);
    }),
    { seed: 1 },
  );
});
