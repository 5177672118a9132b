// The table of the manual in README.md, made of docs/index.md. `npm run generate` writes it. Rules: spec/manual.md [MAN2].
import type { Topic } from "./contents.ts";

const begin = "<!-- Generated from docs/index.md by npm run generate. -->";
const end = "<!-- End of the generated table. -->";

export function withTable(readme: string, topics: readonly Topic[]): string {
  const [before, after] = [readme.indexOf(begin), readme.indexOf(end)];
  if (before === -1 || after < before) {
    throw new Error(`README.md lacks the lines "${begin}" and "${end}"`);
  }
  const rows = topics.map(({ title, pages }) => {
    const links = pages.map((page) => `[${page.title}](${page.file})`);
    return `| ${title} | ${links.join(", ")} |`;
  });
  const table = [begin, "| | |", "|---|---|", ...rows, ""].join("\n");
  return readme.slice(0, before) + table + readme.slice(after);
}
