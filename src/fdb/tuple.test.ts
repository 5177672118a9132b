// The tuple encoding: known bytes, round trips and order.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { binaryText, bytesOfBinary } from "./bytes.ts";
import { TupleError, decodeTuple, encodeTuple } from "./tuple.ts";
import type { TupleElement } from "./tuple.ts";

const golden: readonly [readonly TupleElement[], string][] = [
  [[null], "\x00"],
  [[bytesOfBinary("foo\x00bar")], "\x01foo\x00\xffbar\x00"],
  [["FÔO\x00bar"], "\x02F\xc3\x94O\x00\xffbar\x00"],
  [[0], "\x14"],
  [[1], "\x15\x01"],
  [[255], "\x15\xff"],
  [[256], "\x16\x01\x00"],
  [[-1], "\x13\xfe"],
  [[-5551212], "\x11\xab\x4b\x93"],
  [[2n ** 63n - 1n], "\x1c\x7f\xff\xff\xff\xff\xff\xff\xff"],
  [[-(2n ** 63n)], "\x0c\x7f\xff\xff\xff\xff\xff\xff\xff"],
  [["dc1", 1700000000, 1700000600], "\x02dc1\x00\x18\x65\x53\xf1\x00\x18\x65\x53\xf3\x58"],
  [["", 1], "\x02\x00\x15\x01"],
];

test("[KV40] known tuples have known bytes, both ways", () => {
  for (const [elements, text] of golden) {
    assert.equal(binaryText(encodeTuple(elements)), text);
    assert.deepEqual(decodeTuple(bytesOfBinary(text)), elements);
  }
});

const element = fc.oneof(
  fc.constant(null),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.uint8Array({ maxLength: 6 }),
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 64n) + 1n, max: 2n ** 64n - 1n }),
);

test("[KV41] every tuple comes back as it was", () => {
  const asBigInt = (value: TupleElement) => (typeof value === "number" ? BigInt(value) : value);
  fc.assert(
    fc.property(fc.array(element, { maxLength: 5 }), (elements) => {
      assert.deepEqual(decodeTuple(encodeTuple(elements)).map(asBigInt), elements.map(asBigInt));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[KV42] encoded integers sort as the integers do", () => {
  const integer = fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n });
  fc.assert(
    fc.property(integer, integer, (left, right) => {
      const [a, b] = [binaryText(encodeTuple([left])), binaryText(encodeTuple([right]))];
      assert.equal(a < b, left < right);
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[KV43] what is no tuple or cannot be one is refused", () => {
  for (const text of ["\x02abc", "\x01abc\x00\xff", "\x16\x01", "\x21\x00", "\x05"]) {
    assert.throws(() => decodeTuple(bytesOfBinary(text)), TupleError);
  }
  for (const value of [1.5, Number.NaN, 2 ** 60, 2n ** 64n]) {
    assert.throws(() => encodeTuple([value]), TupleError);
  }
});
