// Independent generators from one seed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { keyedRandom } from "./keyed-random.ts";

test("[SIM8] generators of different names are independent, of equal names and seeds equal", () => {
  const draw = (seed: number, name: string): string => {
    const random = keyedRandom(seed, name);
    return Array.from({ length: 4 }, () => random.next()).join();
  };
  assert.equal(draw(1, "scheduler"), draw(1, "scheduler"));
  const distinct = new Set([draw(1, "a"), draw(1, "b"), draw(2, "a"), draw(2, "b"), draw(1, "ab")]);
  assert.equal(distinct.size, 5);
});
