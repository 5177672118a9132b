// The topics and pages of the manual in their order, read from docs/index.md: the navigation of the site and the table of the
// README are made of it. Rules: spec/manual.md [MAN1], [MAN2].
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

export interface ManualPage {
  readonly title: string;
  /** From the top of the project: `docs/install.md`. */
  readonly file: string;
  readonly about: string;
  /** Pages of an indented list, which the navigation shows when one of them is open. */
  readonly children: readonly ManualPage[];
}

export interface Topic {
  readonly title: string;
  readonly pages: readonly ManualPage[];
}

export const contentsFile = "docs/index.md";

export function readContents(root: string): readonly Topic[] {
  return contentsOf(readFileSync(join(root, contentsFile), "utf8"));
}

export function contentsOf(markdown: string): readonly Topic[] {
  const topics: { title: string; pages: (ManualPage & { children: ManualPage[] })[] }[] = [];
  for (const line of markdown.split("\n")) {
    const topic = /^## (.+)$/.exec(line)?.[1];
    if (topic !== undefined) topics.push({ title: topic, pages: [] });
    const item = /^(\s*)- \[([^\]]+)\]\(([^)#\s]+)\)(?:: (.+))?$/.exec(line);
    if (item === null) continue;
    const [, indent = "", title = "", target = "", about = ""] = item;
    const pages = topics.at(-1)?.pages;
    if (pages === undefined) throw new Error(`${contentsFile}: "${title}" stands before any topic`);
    const page = { title, file: posix.join(posix.dirname(contentsFile), target), about };
    const parent = pages.at(-1);
    if (indent === "") pages.push({ ...page, children: [] });
    else if (parent === undefined) throw new Error(`${contentsFile}: "${title}" has no parent`);
    else parent.children.push({ ...page, children: [] });
  }
  return topics;
}

/** In the order of reading. */
export function pagesOf(topics: readonly Topic[]): readonly ManualPage[] {
  return topics.flatMap(({ pages }) => pages.flatMap((page) => [page, ...page.children]));
}
