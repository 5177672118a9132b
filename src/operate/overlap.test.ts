// The name under which an operator writes. Rules: spec/overlap.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { operatorNameOf } from "./overlap.ts";

test("[OVER1] the name is the one of the Lease, and the API server takes it", () => {
  assert.equal(operatorNameOf("fdb", "fdb-operator"), "fdb-operator:fdb/fdb-operator");
  const [one, two] = ["a", "b"].map((end) => operatorNameOf("n".repeat(63), "x".repeat(252) + end));
  assert.equal(one?.length, 128);
  assert.notEqual(one, two);
});
