// The memory of an instance about the coordination sets. Rules: spec/coordination.md [CO20], [CO21].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { coordinationSets } from "../../fdb/keys.ts";
import type { CoordinationSet } from "../../fdb/keys.ts";
import { nothingSeen, rememberSets, scopeOf } from "./shared-sets.ts";
import type { CoordinationSets } from "./shared-sets.ts";

function setsOf(entries: Partial<Record<CoordinationSet, readonly string[]>>): CoordinationSets {
  const contents = coordinationSets.map((set) => {
    const list = (entries[set] ?? []).map((processGroupId) => ({
      processGroupIdPrefix: "dc1",
      processGroupId,
      targets: [],
    }));
    return [set, { entries: list, foreign: [] }] as const;
  });
  return Object.fromEntries(contents) as unknown as CoordinationSets;
}

test("[CO20] an entry is remembered since it was seen first, and forgotten when it is gone", () => {
  const one = rememberSets(nothingSeen, setsOf({ pendingForRemoval: ["dc1-log-1"] }), 1_000);
  const two = rememberSets(
    one,
    setsOf({ pendingForRemoval: ["dc1-log-1"], readyForRestart: ["dc1-log-1"] }),
    5_000,
  );
  assert.deepEqual(
    [...two.firstSeenMs],
    [
      ["pendingForRemoval/dc1/dc1-log-1", 1_000],
      ["readyForRestart/dc1/dc1-log-1", 5_000],
    ],
  );
  const three = rememberSets(two, setsOf({}), 6_000);
  assert.equal(three.firstSeenMs.size, 0);
});

test("[CO21] each matter keeps its own time", () => {
  const first = rememberSets(nothingSeen, setsOf({ pendingForExclusion: ["dc1-log-1"] }), 1_000);
  const second = rememberSets(
    first,
    setsOf({ pendingForExclusion: ["dc1-log-1", "dc1-storage-1"] }),
    2_000,
  );
  const since = Object.fromEntries(
    [...second.unchanged].map(([key, { sinceMs }]) => [key, sinceMs]),
  );
  assert.deepEqual(since, {
    "exclusion/storage": 2_000,
    "exclusion/transaction": 1_000,
    "inclusion/storage": 1_000,
    "inclusion/transaction": 1_000,
    "restart/all": 1_000,
  });
});

test("[CO23] all classes but storage are judged together", () => {
  assert.equal(scopeOf("dc1-storage-1"), "storage");
  for (const one of ["log", "stateless", "transaction", "commit_proxy", "coordinator"]) {
    assert.equal(scopeOf(`dc1-${one}-1`), "transaction");
  }
});
