// Tests of telling our own writes from those of others.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { OwnWrites } from "./own-writes.ts";

test("[OP3] the announcement of our own write is no news, whether it comes before or after the answer", () => {
  const writes = new OwnWrites();
  assert.equal(writes.isForeign("4"), true);
  writes.begin();
  assert.equal(writes.isForeign("5"), false);
  assert.equal(writes.end("5"), false);
  assert.equal(writes.isForeign("5"), false);
  assert.equal(writes.isForeign("6"), true);
});

test("[OP3] a foreign write that was announced meanwhile is not lost", () => {
  const writes = new OwnWrites();
  writes.begin();
  assert.equal(writes.isForeign("5"), false);
  assert.equal(writes.isForeign("6"), false);
  assert.equal(writes.end("5"), true);
  writes.begin();
  assert.equal(writes.isForeign("7"), false);
  assert.equal(writes.end(undefined), true);
});
