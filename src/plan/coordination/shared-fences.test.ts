// What one instance reads of the fences of others, whatever they wrote.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { fencesOfText } from "./shared-fences.ts";

test("[FENCE14] text of another version tells what is understood of it, and never throws", () => {
  assert.deepEqual(fencesOfText('{"z1":["west-storage-1"],"z2":[]}'), {
    z1: ["west-storage-1"],
    z2: [],
  });
  assert.deepEqual(fencesOfText('{"z1":["a",7,null],"z2":"b"}'), { z1: ["a"] });
  for (const text of ["", "{", "[]", "null", "7", '"z"', "\u0000"]) {
    assert.deepEqual(fencesOfText(text), {}, text);
  }
});
