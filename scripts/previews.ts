// Preview against the world, at length: for every change and fault of the list, what the preview stated and what then
// happened, with a table of how often and how far it was off. `-- TEXT` takes only the cases whose titles have the text.
import { compare, missesOf, missOf } from "../test/preview/against-world.ts";
import type { Comparison } from "../test/preview/against-world.ts";
import { previewCases } from "../test/preview/cases.ts";

const seeds = [11, 12, 13];
const wanted = process.argv.slice(2);
const cases = previewCases.filter(
  ({ title }) => wanted.length === 0 || wanted.some((text) => title.includes(text)),
);
const all: Comparison[] = [];
let failed = 0;
for (const one of cases) {
  try {
    const comparison = await compare(one, seeds);
    all.push(comparison);
    const misses = missesOf(comparison);
    if (misses.length > 0) failed += 1;
    process.stdout.write(`${misses.length === 0 ? "as stated" : "OTHERWISE"}  ${one.title}\n`);
    for (const miss of misses) process.stdout.write(`             ${miss}\n`);
  } catch (error) {
    failed += 1;
    const text = error instanceof Error ? error.message : String(error);
    process.stdout.write(`FAILED     ${one.title}: ${text.split("\n")[0]}\n`);
  }
}
process.stdout.write(
  "\nfigure                                    compared  inside  furthest outside\n",
);
const names = new Set(
  all.flatMap(({ figures }) => figures.map(({ what }) => what.replace(/^act: .*/, "acts"))),
);
for (const name of names) {
  const figures = all.flatMap((comparison) =>
    comparison.figures.filter(({ what }) => what.replace(/^act: .*/, "acts") === name),
  );
  const exact = figures.map((figure) => missOf({ ...figure, share: 0, amount: 0 }));
  const inside = exact.filter((miss) => miss === 0).length;
  const furthest = exact.reduce((most, miss) => Math.max(most, miss), 0);
  const columns = [name.padEnd(40), String(figures.length).padStart(9), String(inside).padStart(7)];
  process.stdout.write(`${columns.join(" ")} ${String(Math.round(furthest)).padStart(17)}\n`);
}
process.stdout.write(`\n${cases.length - failed} of ${cases.length} as stated\n`);
process.exitCode = failed === 0 ? 0 : 1;
