// Lists that are too long to be the arguments of a call.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { append, leastOf, mostOf } from "./long-lists.ts";

test("[HOUSE11] a list of any length is appended to, and its extremes are found", () => {
  const long = Array.from({ length: 300_000 }, (_, index) => index);
  assert.throws(() => [].push(...(long as never[])), RangeError);
  const list = [-1];
  append(list, long);
  assert.equal(list.length, 300_001);
  assert.deepEqual([leastOf(list), mostOf(list)], [-1, 299_999]);
  assert.deepEqual([leastOf([], 5), leastOf([7], 5), leastOf([3], 5)], [5, 5, 3]);
  assert.deepEqual([mostOf([], 5), mostOf([7], 5), mostOf([3], 5)], [5, 7, 5]);
  assert.deepEqual([leastOf([]), mostOf([])], [Infinity, -Infinity]);
});
