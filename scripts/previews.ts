// Preview against the world, at length: for every change and fault of the list and for random clusters, what the preview
// stated and what then happened, with a table of how often and how far it was off. `-- TEXT` takes only the cases whose
// titles have the text, `--random N` more or fewer random clusters (20), `--write` puts the table of all of
// them into the manual.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compare, isStatedLoss, missesOf } from "../test/preview/against-world.ts";
import type { Comparison, PreviewCase } from "../test/preview/against-world.ts";
import { previewCases } from "../test/preview/cases.ts";
import { figuresTable, withTable } from "../test/preview/figures-table.ts";
import { randomCase } from "../test/preview/random-cases.ts";

const seeds = [1, 2, 3];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { random: { type: "string", default: "20" }, write: { type: "boolean" } },
});
const count = Number(values.random);
if (!Number.isInteger(count) || count < 0 || count > 1000) {
  throw new Error(`--random ${values.random}: it must be a number from 0 to 1000`);
}
if (values.write === true && positionals.length > 0) {
  throw new Error(
    `--write ${positionals.join(" ")}: the table is of all comparisons, so leave the words out`,
  );
}
const random = Array.from({ length: count }, (_, index) => randomCase(index + 1));
const isWanted = ({ title }: PreviewCase): boolean =>
  positionals.length === 0 || positionals.some((text) => title.includes(text));
const cases = [...previewCases, ...random].filter(isWanted);
const all: Comparison[] = [];
let failed = 0;
for (const one of cases) {
  try {
    const comparison = await compare(one, seeds);
    all.push(comparison);
    const misses = missesOf(comparison);
    if (misses.length > 0) failed += 1;
    const words = isStatedLoss(comparison) ? "lost, as stated" : "as stated";
    process.stdout.write(`${misses.length === 0 ? words : "OTHERWISE"}  ${one.title}\n`);
    for (const miss of misses) process.stdout.write(`             ${miss}\n`);
  } catch (error) {
    failed += 1;
    const text = error instanceof Error ? error.message : String(error);
    process.stdout.write(`FAILED     ${one.title}: ${text.split("\n")[0]}\n`);
  }
}
const summary = `${cases.length - failed} of ${cases.length} comparisons as stated, ${random.filter(isWanted).length} of them with random clusters, three runs for each preview.${lossText(all.filter(isStatedLoss).length)}`;
const table = figuresTable(all);
process.stdout.write(`\n${table}\n\n${summary}\n`);
if (values.write === true) writeTable(`${summary}\n\n${table}`);
process.exitCode = failed === 0 ? 0 : 1;

function lossText(losses: number): string {
  if (losses === 0) return "";
  return ` In ${losses} of them data is lost, as stated; of what is done after that no figure is stated, and none is in the table.`;
}

function writeTable(text: string): void {
  const file = join(import.meta.dirname, "..", "docs", "preview.md");
  writeFileSync(file, withTable(readFileSync(file, "utf8"), text));
}
