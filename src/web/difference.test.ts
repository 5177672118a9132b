// Differences of values of JSON. Rules: spec/web.md [WEB2], [WEB3].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { applied, differences } from "./difference.ts";
import type { Change, Json } from "./difference.ts";

const cases: readonly [title: string, before: Json, after: Json, changes: readonly Change[]][] = [
  ["the same", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ["a member", { a: { b: 1, c: 2 } }, { a: { b: 3, c: 2 } }, [{ at: ["a", "b"], set: 3 }]],
  ["a new member", {}, { a: null }, [{ at: ["a"], set: null }]],
  ["a member that is gone", { a: 1, b: 2 }, { b: 2 }, [{ at: ["a"], remove: true }]],
  ["another kind", { a: [1] }, { a: { 0: 1 } }, [{ at: ["a"], set: { 0: 1 } }]],
  ["more behind", [1, 2], [1, 2, 3], [{ at: [], shift: 0, push: [3] }]],
  ["a ring", [1, 2, 3], [2, 3, 4], [{ at: [], shift: 1, push: [4] }]],
  ["a ring of gaps", [null, null, 3], [null, 3, null], [{ at: [], shift: 1, push: [null] }]],
  ["less in front", [1, 2, 3], [3], [{ at: [], shift: 2, push: [] }]],
  ["an element", [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 3 }], [{ at: [1, "a"], set: 3 }]],
  ["another list", [1, 2, 3], [9], [{ at: [], set: [9] }]],
  ["a first element", [], [1], [{ at: [], set: [1] }]],
  ["none any more", [1], [], [{ at: [], set: [] }]],
];

for (const [title, before, after, changes] of cases) {
  test(`[WEB3] what travels: ${title}`, () => {
    assert.deepEqual(differences(before, after), changes);
    assert.deepEqual(applied(before, changes), after);
  });
}

test("[WEB2] members that are undefined are none", () => {
  assert.deepEqual(differences({ a: 1, b: undefined }, { a: 1 }), []);
  assert.deepEqual(differences({ a: 1 }, { a: undefined }), [{ at: ["a"], remove: true }]);
});

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1, 2.5, "", "a", "__proto__"),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__", "constructor", "1"), tie("value")),
  ),
})).value;

test("[WEB2] differences of two values make the first the second, also after a journey as JSON", () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const travelled = JSON.parse(JSON.stringify(differences(before, after))) as Change[];
      assert.equal(
        JSON.stringify(sorted(applied(before, travelled))),
        JSON.stringify(sorted(after)),
      );
    }),
    { seed: 7480, numRuns: 2_000 },
  );
});

test("[WEB2] what no change touches is the very same object", () => {
  const before = { tiles: { a: { state: "well" }, b: { state: "well" } }, columns: [{ id: "x" }] };
  const after = structuredClone(before);
  after.tiles.b.state = "failing";
  const found = applied(before, differences(before, after));
  assert.deepEqual(found, after);
  assert.equal(found.tiles.a, before.tiles.a);
  assert.equal(found.columns, before.columns);
  assert.notEqual(found.tiles.b, before.tiles.b);
  assert.equal(before.tiles.b.state, "well", "the value before stays as it was");
});

test("[WEB2] changes for another value are refused instead of being half applied", () => {
  assert.throws(() => applied({ a: 1 }, [{ at: ["b", "c"], set: 1 }]), /no member b/);
  assert.throws(() => applied([1], [{ at: [4], set: 1 }]), /no element 4/);
  assert.throws(() => applied({ a: 1 }, [{ at: ["a"], shift: 0, push: [1] }]), /another value/);
});

/** The order of members means nothing. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]));
}
