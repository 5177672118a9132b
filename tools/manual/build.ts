// `npm run docs`: the manual as a site in dist/manual, made of docs/ and the pages that it links to. Ends with 1 when a link leads
// nowhere or something would be asked of another host. Rules: spec/manual.md [MAN4]-[MAN8].
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import manifest from "../../package.json" with { type: "json" };
import { siteFaults } from "./check-site.ts";
import { contentsFile, pagesOf, readContents } from "./contents.ts";
import { escapeHtml } from "./html.ts";
import { framed } from "./layout.ts";
import type { Frame } from "./layout.ts";
import { brokenLinks } from "./links.ts";
import { loadPackages } from "./packages.ts";
import type { Packages } from "./packages.ts";
import { markdownRenderer, renderPage } from "./render.ts";
import type { RenderedPage } from "./render.ts";
import { isPicture, sitePath } from "./site-paths.ts";

const root = join(import.meta.dirname, "../..");
const assets = join(import.meta.dirname, "assets");
const output = join(root, "dist/manual");

interface Site {
  readonly pages: ReadonlyMap<string, RenderedPage>;
  readonly pictures: ReadonlySet<string>;
}

/** The pages of the navigation, and whatever they lead to. */
function collect(first: readonly string[], packages: Packages): Site {
  const markdownIt = markdownRenderer(packages);
  const pages = new Map<string, RenderedPage>();
  const pictures = new Set<string>();
  const queue = [...first];
  for (const file of queue) {
    if (pages.has(file) || pictures.has(file)) continue;
    if (isPicture(file)) {
      pictures.add(file);
      continue;
    }
    const text = readFileSync(join(root, file), "utf8");
    const page = file.endsWith(".md")
      ? renderPage(markdownIt, file, text)
      : filePage(file, text, packages);
    pages.set(file, page);
    queue.push(...page.targets);
  }
  return { pages, pictures };
}

/** A file that a page links to, such as an example. */
function filePage(file: string, text: string, packages: Packages): RenderedPage {
  const language = { ts: "typescript", yaml: "yaml", json: "json" }[file.split(".").at(-1) ?? ""];
  const code = packages.highlight(text, language ?? "") ?? escapeHtml(text);
  const html = `<h1>${escapeHtml(file)}</h1>\n<pre tabindex="0"><code>${code}</code></pre>`;
  return { title: file, html, headings: [], sections: [], targets: [] };
}

/** What the browser searches: a script and not JSON, so that it can be read from a disk, too. */
function searchData(site: Site, frame: Frame): string {
  const listed = [contentsFile, ...frame.pages.map(({ file }) => file)];
  const entries = listed.flatMap((file) => {
    const page = site.pages.get(file);
    return (page?.sections ?? []).map(({ anchor, heading, text }, index) => ({
      url: index === 0 ? sitePath(file) : `${sitePath(file)}#${anchor}`,
      page: page?.title ?? "",
      heading,
      text,
    }));
  });
  return `globalThis.manualEntries = ${JSON.stringify(entries)};\n`;
}

async function writeAssets(packages: Packages): Promise<void> {
  for (const name of ["site.css", "icon.svg"]) {
    copyFileSync(join(assets, name), join(output, "assets", name));
  }
  await build({
    entryPoints: [join(assets, "search.js")],
    outfile: join(output, "assets/search.js"),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    logLevel: "warning",
    banner: { js: `/* Contains MiniSearch.\n${packages.searchLicence}*/` },
  });
}

function write(path: string, text: string): void {
  const file = join(output, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function main(): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const topics = readContents(root);
  const frame = { name: manifest.name, version: manifest.version, topics, pages: pagesOf(topics) };
  const packages = loadPackages(say);
  const first = [contentsFile, ...frame.pages.map(({ file }) => file)];
  const broken = brokenLinks(root, first);
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n  ${broken.join("\n  ")}`);
  const site = collect(first, packages);
  rmSync(output, { recursive: true, force: true });
  mkdirSync(join(output, "assets"), { recursive: true });
  await writeAssets(packages);
  write("assets/search-data.js", searchData(site, frame));
  for (const [file, page] of site.pages) write(sitePath(file), framed(frame, { file, ...page }));
  for (const file of site.pictures) {
    mkdirSync(dirname(join(output, sitePath(file))), { recursive: true });
    copyFileSync(join(root, file), join(output, sitePath(file)));
  }
  const faults = siteFaults(output);
  if (faults.length > 0) throw new Error(`the site has faults:\n  ${faults.join("\n  ")}`);
  say(`${relative(process.cwd(), join(output, "index.html"))}: ${site.pages.size} pages.`);
  say("Open it in a browser, or put the folder on any web server.");
}

await main().catch((error: unknown) => {
  process.stderr.write(`npm run docs: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
