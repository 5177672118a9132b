// When two connection strings lead to the same database.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isSameDatabase } from "./connection-string.ts";

test("[S93] resources share a database when their strings have its name and a coordinator in common", () => {
  const before = "sample:abc@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501";
  const after = "sample:def@10.0.0.3:4501,10.0.0.4:4501,10.0.0.5:4501";
  assert.equal(isSameDatabase(before, before), true);
  assert.equal(isSameDatabase(before, after), true);
  assert.equal(isSameDatabase(before, "other:abc@10.0.0.1:4501"), false);
  assert.equal(isSameDatabase(before, "sample:abc@10.9.9.9:4501"), false);
  assert.equal(isSameDatabase(before, undefined), false);
  assert.equal(isSameDatabase("not a string", before), false);
});
