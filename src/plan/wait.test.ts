// Tests of the words of waits.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { nameList } from "./wait.ts";

test("[P82] a list names three objects and counts the rest", () => {
  assert.equal(nameList([]), "");
  assert.equal(nameList(["a"]), "a");
  assert.equal(nameList(["a", "b"]), "a and b");
  assert.equal(nameList(["a", "b", "c"]), "a, b and c");
  assert.equal(nameList(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
});
