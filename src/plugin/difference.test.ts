// Differences between texts, for people.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { differenceOf, showDifference } from "./difference.ts";

const numbers = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${index}\n`).join("");

const cases: readonly (readonly [string, string, string, string[]])[] = [
  ["the same", "a\nb\n", "a\nb\n", []],
  ["all new", "", "a\n", ["+ a"]],
  ["all gone", "a\n", "", ["- a"]],
  ["a line in the middle", "a\nb\nc\n", "a\nx\nc\n", ["  a", "- b", "+ x", "  c"]],
  [
    "far apart",
    numbers(20),
    numbers(20).replace("2\n", "two\n").replace("18\n", ""),
    [
      "  0",
      "  1",
      "- 2",
      "+ two",
      "  3",
      "  4",
      "  5",
      "  ...",
      "  15",
      "  16",
      "  17",
      "- 18",
      "  19",
    ],
  ],
];

for (const [name, before, after, expected] of cases) {
  test(`[PL3] difference: ${name}`, () => assert.deepEqual(differenceOf(before, after), expected));
}

test("[PL3] the shown lines lead from one text to the other", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = differenceOf(before.join("\n"), after.join("\n"));
      const of = (mark: string): string[] =>
        lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
      const without = (all: readonly string[], removed: readonly string[]): string[] => {
        const left = [...all];
        for (const line of removed) left.splice(left.indexOf(line), 1);
        return left.toSorted();
      };
      assert.deepEqual(without(before, of("-")), without(after, of("+")));
    }),
    { seed: 1 },
  );
});

test("[PL2] [PL3] a difference is a note, in colours only where they can be seen", () => {
  const shown = (hasNoteColor: boolean): string => {
    let noted = "";
    const note = (text: string): void => void (noted += text);
    const out = { hasNoteColor, note } as Parameters<typeof showDifference>[0]["out"];
    showDifference({ out }, "default/sample", { a: 1 }, { a: 2 });
    return noted;
  };
  assert.equal(shown(false), "default/sample\n- a: 1\n+ a: 2\n");
  assert.ok(shown(true).includes("\u001b[31m- a: 1\u001b[39m\n"));
});
