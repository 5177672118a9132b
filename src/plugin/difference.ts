// Two objects as YAML, and the lines in which they differ, as `diff -u` shows them. Rules: spec/plugin.md [PL3].
import { styleText } from "node:util";
import { stringify } from "yaml";
import type { Session } from "./session.ts";

const context = 3;
/** Lists of lines whose product exceeds this are shown as removed and added as a whole. */
const productMax = 25_000_000;

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** Shows what a write changes; nothing at all where nothing changes. */
export function showDifference(
  { out }: Pick<Session, "out">,
  title: string,
  before: unknown,
  after: unknown,
): void {
  const lines = differenceOf(yamlOf(before), yamlOf(after));
  if (lines.length === 0) return;
  out.note(`${[title, ...lines.map((line) => coloured(line, out.hasNoteColor))].join("\n")}\n`);
}

export function yamlOf(value: unknown): string {
  return value === undefined ? "" : stringify(value, { lineWidth: 0 });
}

/** Empty when the texts are the same. */
export function differenceOf(before: string, after: string): string[] {
  if (before === after) return [];
  const lines = compare(linesOf(before), linesOf(after));
  const isShown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== " "),
  );
  return lines.flatMap(({ mark, text }, index) => {
    if (isShown[index] === true) return [`${mark} ${text}`];
    return isShown[index - 1] === true && isShown.includes(true, index) ? ["  ..."] : [];
  });
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const kept = (text: string): Line => ({ mark: " ", text });
  return [
    ...before.slice(0, start).map(kept),
    ...compareMiddle(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
    ),
    ...before.slice(before.length - end).map(kept),
  ];
}

/** By the longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  const removed = (text = ""): Line => ({ mark: "-", text });
  const added = (text = ""): Line => ({ mark: "+", text });
  if (before.length * after.length > productMax) {
    return [...before.map(removed), ...after.map(added)];
  }
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const skip = Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
      const both = (lengths[(i + 1) * width + j + 1] ?? 0) + 1;
      lengths[i * width + j] = before[i] === after[j] ? both : skip;
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push({ mark: " ", text: before[i] ?? "" });
      [i, j] = [i + 1, j + 1];
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      lines.push(removed(before[i]));
      i += 1;
    } else {
      lines.push(added(after[j]));
      j += 1;
    }
  }
  return [...lines, ...before.slice(i).map(removed), ...after.slice(j).map(added)];
}

function coloured(line: string, hasColor: boolean): string {
  const style = line.startsWith("-") ? "red" : line.startsWith("+") ? "green" : undefined;
  if (style === undefined || !hasColor) return line;
  return styleText(style, line, { validateStream: false });
}
