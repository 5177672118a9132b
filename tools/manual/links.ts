// Links of Markdown files that lead nowhere: pages, anchors and pictures. Rules: spec/manual.md [MAN3].
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { anchorsOf, linksOf } from "./markdown.ts";

/** One line for each, with file and line number. Addresses of other hosts are not asked. */
export function brokenLinks(root: string, files: readonly string[]): readonly string[] {
  const anchorsByFile = new Map<string, ReadonlySet<string>>();
  const anchorsIn = (file: string): ReadonlySet<string> => {
    const found = anchorsByFile.get(file) ?? anchorsOf(readFileSync(join(root, file), "utf8"));
    anchorsByFile.set(file, found);
    return found;
  };
  return files.flatMap((file) =>
    linksOf(readFileSync(join(root, file), "utf8")).flatMap(({ line, target }) => {
      const wrong = wrongWith(root, file, target, anchorsIn);
      return wrong === undefined ? [] : [`${file}:${line}: ${target} ${wrong}`];
    }),
  );
}

function wrongWith(
  root: string,
  from: string,
  target: string,
  anchorsIn: (file: string) => ReadonlySet<string>,
): string | undefined {
  if (isForeign(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  const file = targetOf(from, path);
  if (file.startsWith("..")) return "leads out of the project";
  if (!existsSync(join(root, file))) return "does not exist";
  if (anchor === undefined) return undefined;
  if (!file.endsWith(".md") || statSync(join(root, file)).isDirectory()) {
    return "has an anchor, and is not a page";
  }
  return anchorsIn(file).has(anchor) ? undefined : "is no heading there";
}

export function isForeign(target: string): boolean {
  return /^[a-z][a-z+.-]*:/i.test(target);
}

/** The file that a link means, from the top of the project. */
export function targetOf(from: string, path: string): string {
  return path === "" ? from : posix.join(posix.dirname(from), path);
}
