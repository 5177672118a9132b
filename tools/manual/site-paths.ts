// Where a file of the project lies in the site. The site has no address of its own: every link in it is relative, so that it
// works in any folder of any server and from a disk. Rules: spec/manual.md [MAN4].
import { posix } from "node:path";
import { contentsFile } from "./contents.ts";

/** docs/ is the top of the site; other pages of the project lie in project/, and files that are no pages in files/. */
export function sitePath(file: string): string {
  if (file === contentsFile) return "index.html";
  if (isPicture(file))
    return file.startsWith("docs/") ? file.slice("docs/".length) : `files/${file}`;
  if (!file.endsWith(".md")) return `files/${file}.html`;
  const page = file.replace(/\.md$/, ".html");
  return file.startsWith("docs/") ? page.slice("docs/".length) : `project/${page}`;
}

export function isPicture(file: string): boolean {
  return /\.(svg|png|jpe?g|gif|webp)$/i.test(file);
}

/** From one path of the site to another. */
export function relativeUrl(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to);
}

/** The way from a page up to the top: "", "../", ... */
export function rootOf(path: string): string {
  return "../".repeat(path.split("/").length - 1);
}
