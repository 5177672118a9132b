// Numbers with their nouns, as messages tell them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { counted } from "./counted.ts";

test("[E58] a number stands with the noun that fits it", () => {
  assert.equal(counted(0, "zone"), "0 zones");
  assert.equal(counted(1, "zone"), "1 zone");
  assert.equal(counted(2, "process", "processes"), "2 processes");
});
