// The packages that turn Markdown into HTML. They have a lock file of their own, since nobody else needs them, and are installed
// on first use. Their types are written down here as far as they are used: types must be checked where they are not installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export interface Token {
  readonly type: string;
  readonly tag: string;
  readonly content: string;
  readonly info: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

export interface MarkdownIt {
  parse(markdown: string, env: object): Token[];
  readonly renderer: { render(tokens: Token[], options: object, env: object): string };
  readonly options: object;
}

export interface Packages {
  markdownIt(options: {
    html: boolean;
    highlight: (code: string, language: string) => string;
  }): MarkdownIt;
  highlight(code: string, language: string): string | undefined;
  /** The text that has to go along with the search engine. */
  readonly searchLicence: string;
}

const folder = import.meta.dirname;
const languages = ["json", "typescript", "yaml"];

export function loadPackages(say: (line: string) => void): Packages {
  install(say);
  const load = createRequire(join(folder, "package.json"));
  const markdownIt = load("markdown-it") as new (options: object) => MarkdownIt;
  const highlighter = load("highlight.js/lib/core") as {
    registerLanguage(name: string, language: unknown): void;
    getLanguage(name: string): unknown;
    highlight(code: string, options: { language: string }): { value: string };
  };
  for (const name of languages) {
    highlighter.registerLanguage(name, load(`highlight.js/lib/languages/${name}`));
  }
  return {
    markdownIt: (options) => new markdownIt(options),
    highlight: (code, language) =>
      highlighter.getLanguage(language) === undefined
        ? undefined
        : highlighter.highlight(code, { language }).value,
    searchLicence: readFileSync(join(folder, "node_modules/minisearch/LICENSE.txt"), "utf8"),
  };
}

function install(say: (line: string) => void): void {
  const lock = readFileSync(join(folder, "package-lock.json"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  const stamp = join(folder, "node_modules/.installed-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  say("installing the packages that turn Markdown into HTML (once)");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"];
  const result = spawnSync(npm, flags, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
    timeout: 600_000,
  });
  if (result.status !== 0) {
    throw new Error(
      "npm ci failed in tools/manual (see above): check the network and the npm registry setting",
    );
  }
  writeFileSync(stamp, wanted);
}
