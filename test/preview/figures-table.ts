// How often and how far previews were off, over many comparisons. Pure.
import { figuresOf, missOf } from "./against-world.ts";
import type { Comparison, Figure } from "./against-world.ts";

export function figuresTable(all: readonly Comparison[]): string {
  const nameOf = ({ what }: Figure): string => what.replace(/^act: .*/, "acts, by kind and class");
  const figures = all.flatMap(figuresOf);
  const names = [...new Set(figures.map(nameOf))];
  const rows = names.map((name) => {
    const own = figures.filter((figure) => nameOf(figure) === name);
    const outside = own.map((figure) => missOf({ ...figure, share: 0, amount: 0 }));
    const widths = own.map(({ stated }) => Math.max(...stated) - Math.min(...stated));
    const cells = [
      name,
      own.length,
      outside.filter((miss) => miss === 0).length,
      own.filter((figure) => missOf(figure) > 0).length,
      text(name, mostOf(outside)),
      text(name, mostOf(widths)),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| figure | compared | in the stated range | outside of what is allowed | furthest outside of the range | widest range |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

const [begin, end] = ["<!-- begin of the table -->", "<!-- end of the table -->"] as const;

/** The page of the manual with another text in the place of the table. */
export function withTable(page: string, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no place between ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${table}\n\n${page.slice(to)}`;
}

function mostOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function text(name: string, value: number): string {
  if (name === "bytes moved") return `${Math.round(value / 1e6)} MB`;
  return name === "seconds" ? `${Math.round(value)} s` : String(value);
}
