// What is derived once for each object.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { oncePer } from "./once-per.ts";

test("[S160] a value is derived once for each object, also when it is undefined", () => {
  const asked: object[] = [];
  const derive = oncePer((key: { value?: number }) => {
    asked.push(key);
    return key.value;
  });
  const [one, none] = [{ value: 1 }, {}];
  assert.deepEqual(
    [derive(one), derive(none), derive(one), derive(none)],
    [1, undefined, 1, undefined],
  );
  assert.deepEqual(asked, [one, none]);
  derive({ value: 1 });
  assert.equal(asked.length, 3);
});
