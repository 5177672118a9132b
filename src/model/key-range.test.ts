// Ranges of a restore. Rules: spec/restore.md [RS10]-[RS12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  argumentOfRanges,
  destinationRanges,
  escapedKey,
  overlapOf,
  shownKey,
  sourceRanges,
  unescapedKey,
} from "./key-range.ts";

test("[RS10] keys are read and written with escapes for other bytes", () => {
  for (const [text, key] of [
    ["a/b-1", "a/b-1"],
    ["\\x00\\xff", "\0\xff"],
    ["a\\\\b", "a\\b"],
    ["", ""],
  ] as const) {
    assert.equal(unescapedKey(text), key);
    assert.equal(escapedKey(key), text);
  }
  assert.equal(unescapedKey("\\xg0"), undefined);
  assert.equal(unescapedKey("a\\"), undefined);
  assert.equal(shownKey("k".repeat(100)), `${"k".repeat(33)}…`);
  assert.ok(shownKey("\0".repeat(100)).length <= 41);
});

test("[RS11][RS12] what is written where", () => {
  assert.equal(sourceRanges({}).length, 5);
  assert.deepEqual(sourceRanges({ addPrefix: "old/" }), [{ begin: "", end: "\xff" }]);
  assert.deepEqual(destinationRanges({ addPrefix: "old/" }), [{ begin: "old/", end: "old/\xff" }]);
  const keyRanges = [
    { start: "p/b", end: "p/c" },
    { start: "p/a", end: "p/b" },
  ];
  assert.deepEqual(destinationRanges({ keyRanges, removePrefix: "p/", addPrefix: "\\x01" }), [
    { begin: "\x01a", end: "\x01b" },
    { begin: "\x01b", end: "\x01c" },
  ]);
});

test("[RS13] ranges with a key in common are found and joined, neighbours have none", () => {
  const range = (begin: string, end: string): { begin: string; end: string } => ({ begin, end });
  assert.equal(overlapOf([range("a", "b"), range("b", "c")]), undefined);
  assert.deepEqual(overlapOf([range("a", "c"), range("b", "d")]), [
    range("a", "c"),
    range("b", "d"),
  ]);
  assert.deepEqual(overlapOf([range("a", "z"), range("b", "c"), range("d", "e")]), [
    range("a", "z"),
    range("b", "c"),
  ]);
  const spec = { keyRanges: ["b c", "x y", "a e", "d \\xff", "\\x20 \\x3b"].map(rangeOf) };
  assert.deepEqual(sourceRanges(spec), [range(" ", ";"), range("a", "\xff")]);
  assert.equal(argumentOfRanges(sourceRanges(spec)), "\\x20 \\x3b;a \\xff");
});

function rangeOf(text: string): { start: string; end: string } {
  const [start = "", end = ""] = text.split(" ");
  return { start, end };
}
