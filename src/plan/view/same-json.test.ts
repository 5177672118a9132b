// Tests of the comparison of plain values.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { isSameJson } from "./same-json.ts";

test("[OP31] the order of keys and undefined fields do not make a difference", () => {
  assert.ok(isSameJson({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1, d: undefined }));
  assert.ok(!isSameJson({ a: 1 }, { a: 1, b: null }));
  assert.ok(!isSameJson([1, 2], [2, 1]));
  assert.ok(!isSameJson([], {}));
});

test("[OP31] it agrees with a comparison of canonical texts", () => {
  const canonical = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(canonical)
      : value !== null && typeof value === "object"
        ? Object.entries(value)
            .map(([key, entry]) => [key, canonical(entry)])
            .sort(([left], [right]) => (String(left) < String(right) ? -1 : 1))
        : value;
  const same = (left: unknown, right: unknown): boolean =>
    JSON.stringify([Array.isArray(left), canonical(left)]) ===
    JSON.stringify([Array.isArray(right), canonical(right)]);
  const small = fc.jsonValue({ maxDepth: 2, noUnicodeString: true });
  fc.assert(
    fc.property(small, small, (left, right) => {
      assert.ok(isSameJson(left, structuredClone(left)));
      if (isSameJson(left, right)) assert.ok(same(left, right));
    }),
    { seed: 1, numRuns: 200 },
  );
});
