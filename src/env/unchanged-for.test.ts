// How long something was seen unchanged, with looks near and far apart.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { UnchangedFor } from "./unchanged-for.ts";

test("[LOCK7] what is seen again and again is as old as the time between the looks", () => {
  const seen = new UnchangedFor(60_000);
  assert.equal(seen.ms("a"), 0);
  for (const [atMs, text, expected] of [
    [1_000, "a", 0],
    [31_000, "a", 30_000],
    [61_000, "a", 60_000],
    [62_000, "b", 0],
    [72_000, "b", 10_000],
    [73_000, undefined, 0],
    [74_000, "b", 0],
  ] as const) {
    seen.look(text, atMs);
    assert.equal(seen.ms(text ?? "b"), expected, `${atMs}`);
  }
});

test("[LOCK7] a clock that is set forward or stood still counts as one short gap", () => {
  const seen = new UnchangedFor(60_000);
  seen.look("a", 0);
  seen.look("a", 3_600_000);
  assert.equal(seen.ms("a"), 60_000);
  seen.look("a", 3_599_000);
  assert.equal(seen.ms("a"), 60_000);
  seen.look("a", 3_600_000);
  assert.equal(seen.ms("a"), 61_000);
});
