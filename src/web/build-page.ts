// Bundles src/web/page into one script and one style. Used by the bundle of the programs, and in a clone at the first
// request: esbuild is no dependency of what we ship. Rules: spec/web.md [WEB30].
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PageAssets } from "./server/page-assets.ts";

/** In a clone; a program that was bundled carries the page and does not come here. */
const folder = join(import.meta.dirname, "page");

export async function buildPage(isSmall = false): Promise<PageAssets> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: { page: "main.tsx" },
    outdir: "built",
    write: false,
    bundle: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: isSmall,
    legalComments: "eof",
    logLevel: "silent",
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  return {
    html: await readFile(join(folder, "index.html"), "utf8"),
    script: textOf(".js"),
    style: textOf(".css"),
  };
}
