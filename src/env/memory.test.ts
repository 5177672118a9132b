// What is derived from an object is derived once by each memory.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Memory } from "./memory.ts";

test("[S160] [HOUSE14] a memory derives once for each object and function, and another memory derives by itself", () => {
  const calls: string[] = [];
  const first = (key: { value?: number }): number | undefined => {
    calls.push("first");
    return key.value;
  };
  const second = (key: { value?: number }): number => {
    calls.push("second");
    return (key.value ?? 0) + 1;
  };
  const memory = new Memory();
  const [one, none] = [{ value: 1 }, {}];
  assert.deepEqual([memory.once(first, one), memory.once(first, one)], [1, 1]);
  assert.deepEqual([memory.once(first, none), memory.once(first, none)], [undefined, undefined]);
  assert.equal(memory.once(second, one), 2);
  assert.equal(memory.once(first, { value: 1 }), 1);
  assert.equal(new Memory().once(first, one), 1);
  assert.deepEqual(calls, ["first", "first", "second", "first", "first"]);
});
