// `node scripts/bundle.ts`: each command line in one file in dist/ that needs nothing but Node (and, for a
// real database, the package of native code beside it). It starts faster and takes less memory than the sources.
import { statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { buildPage } from "../src/web/build-page.ts";

const root = dirname(import.meta.dirname);

/**
 * Packages in the older module form need a `require`. The command line finds the sample cluster
 * from its own folder, so the bundle, one folder below the project, stands in for src/cli.
 */
const banner = `import { createRequire as bundleCreateRequire } from "node:module";
import { join as bundleJoin } from "node:path";
const require = bundleCreateRequire(import.meta.url);
const bundleSourceFolder = bundleJoin(import.meta.dirname, "..", "src", "cli");`;

/** The page of the dashboard as an expression, for programs that have no sources beside them. */
export async function bundledPage(): Promise<string> {
  return JSON.stringify(await buildPage(true));
}

/** Puts an entry point and all that it imports into one readable ES module; gives its size. */
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
    // Native code stays a package beside the bundle; the bundler itself is never asked, since the page is in it.
    external: ["koffi", "esbuild"],
    logLevel: "warning",
    banner: { js: banner },
    define: { "import.meta.dirname": "bundleSourceFolder", bundledPage: await bundledPage() },
  });
  return statSync(outfile).size;
}

const programs = {
  "fdb-operator": "src/cli/main.ts",
  "kubectl-fdb": "src/cli/kubectl-fdb.ts",
  // The client process of a database, found beside the command line that starts it.
  "fdb-client": "src/fdb/client/main.ts",
};

async function main(): Promise<void> {
  for (const [name, entry] of Object.entries(programs)) {
    const outfile = join(root, "dist", `${name}.js`);
    const bytes = await bundle(entry, outfile);
    const shown = relative(process.cwd(), outfile);
    process.stdout.write(
      `${shown}: ${(bytes / 1024).toFixed(0)} KiB, with its source map beside it\n`,
    );
  }
}

if (import.meta.main) await main();
