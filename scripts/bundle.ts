// `node scripts/bundle.ts`: the command line in one file, dist/fdb-operator.js, that needs nothing but Node. It starts
// faster and takes less memory than the sources, and it is what a container image carries.
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);

/** The sources find the project's other files from their own folder; the bundle stands in for src/cli. */
const banner = `import { createRequire as bundleCreateRequire } from "node:module";
import { join as bundleJoin } from "node:path";
const require = bundleCreateRequire(import.meta.url);
const bundleSourceFolder = bundleJoin(import.meta.dirname, "..", "src", "cli");`;

/** Bundles an entry point with everything it imports into one readable ES module; returns its size in bytes. */
export async function bundle(entry: string, outfile: string): Promise<number> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    sourcemap: "external",
    legalComments: "eof",
    logLevel: "warning",
    banner: { js: banner },
    define: { "import.meta.dirname": "bundleSourceFolder" },
  });
  return statSync(outfile).size;
}

async function main(): Promise<void> {
  const outfile = join(root, "dist", "fdb-operator.js");
  const bytes = await bundle("src/cli/main.ts", outfile);
  const shown = relative(process.cwd(), outfile);
  const size = `${(bytes / 1024).toFixed(0)} KiB`;
  const map = existsSync(`${outfile}.map`) ? ", with a source map beside it" : "";
  process.stdout.write(`${shown}: ${size}${map}\n`);
}

if (import.meta.main) await main();
