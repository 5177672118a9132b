// Rule: spec/preview.md [PV17].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isNestedTooDeeply, nestingMaximum } from "./nesting.ts";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

test("[PV17] a value may be nested as deeply as the limit says, and no deeper", () => {
  assert.equal(isNestedTooDeeply(nested(0)), false);
  assert.equal(isNestedTooDeeply(nested(nestingMaximum)), false);
  assert.equal(isNestedTooDeeply(nested(nestingMaximum + 1)), true);
  assert.equal(isNestedTooDeeply(nested(100_000)), true);
});
