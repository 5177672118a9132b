// `npm run executable`: kubectl-fdb as one file that needs no Node, with archives, checksums and the manifest for krew in
// dist/executable. Without arguments for this machine; `--all` or names of platforms build for others; `--url` is where the
// archives will lie. Rules: spec/deploy.md [DEP21]-[DEP24].
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import manifest from "../package.json" with { type: "json" };
import { bundledPage } from "./bundle.ts";
import { filledManifest } from "./krew-manifest.ts";
import type { Archive } from "./krew-manifest.ts";
import { nodeOf, ownNodeOfVersion, ownTarget, targets } from "./node-binary.ts";
import type { Target } from "./node-binary.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "dist/executable");
/** The mark in a Node binary that says whether there is a program in it. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** There is no folder of sources beside an executable: what would be found from it is asked for at the executable. */
const banner = 'const bundleSourceFolder = require("node:path").dirname(process.execPath);';

async function bundleCommonJs(outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/kubectl-fdb.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "eof",
    external: ["koffi", "esbuild"],
    logLevel: "warning",
    banner: { js: banner },
    define: { "import.meta.dirname": "bundleSourceFolder", bundledPage: await bundledPage() },
  });
}

interface Injector {
  inject(
    file: string,
    resourceName: string,
    resource: Buffer,
    options: { sentinelFuse: string; machoSegmentName?: string },
  ): Promise<void>;
}

/** The tool has a lock file of its own, since nobody else needs it; it is installed on first use. */
function injector(say: (line: string) => void): Injector {
  const tools = join(root, "tools/executable");
  if (!existsSync(join(tools, "node_modules/postject"))) {
    say("installing the tool that puts a program into a Node binary (once)");
    const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", flags, { cwd: tools, stdio: ["ignore", "ignore", "inherit"] });
  }
  return createRequire(join(tools, "package.json"))("postject") as Injector;
}

/** The path of the executable for a target. */
export async function buildExecutable(
  target: Target,
  say: (line: string) => void,
): Promise<string> {
  const own = join(folder, target);
  mkdirSync(own, { recursive: true });
  const [bundle, blob] = [join(own, "kubectl-fdb.cjs"), join(own, "kubectl-fdb.blob")];
  const config = join(own, "sea-config.json");
  const executable = join(own, "kubectl-fdb");
  const node = nodeOf(target, say);
  const tool = injector(say);
  await bundleCommonJs(bundle);
  const settings = { main: bundle, output: blob, disableExperimentalSEAWarning: true };
  // Compiled code would be that of this machine's processor and of this Node.
  writeFileSync(config, JSON.stringify({ ...settings, useCodeCache: false, useSnapshot: false }));
  const maker = ownNodeOfVersion(node.version, say);
  execFileSync(maker, ["--experimental-sea-config", config], { stdio: "ignore", timeout: 60_000 });
  rmSync(executable, { force: true });
  copyFileSync(node.path, executable);
  await quietly(() =>
    tool.inject(executable, "NODE_SEA_BLOB", readFileSync(blob), {
      sentinelFuse: fuse,
      ...(target.startsWith("darwin") ? { machoSegmentName: "NODE_SEA" } : {}),
    }),
  );
  chmodSync(executable, 0o755);
  for (const file of [bundle, blob, config]) rmSync(file);
  return executable;
}

/** The tool warns of sections without a name, which Node's binaries have and which do no harm. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { warn, log } = console;
  console.warn = console.log = () => {};
  try {
    return await run();
  } finally {
    console.warn = warn;
    console.log = log;
  }
}

/** Without a signature of its own macOS ends a program on an ARM processor at once. True when it has one. */
export function signed(
  executable: string,
  target: Target,
  platform: string = process.platform,
): boolean {
  if (!target.startsWith("darwin")) return true;
  if (platform !== "darwin") return false;
  spawnSync("codesign", ["--remove-signature", executable]);
  return spawnSync("codesign", ["--sign", "-", executable]).status === 0;
}

/** Of `kubectl-fdb` in the folder of its target. */
export function archive(target: Target, place: string = folder): Archive {
  const own = join(place, target);
  copyFileSync(join(root, "LICENSE"), join(own, "LICENSE"));
  const file = `kubectl-fdb-${manifest.version}-${target}.tar.gz`;
  const path = join(place, file);
  execFileSync("tar", ["-czf", path, "-C", own, "kubectl-fdb", "LICENSE"], { timeout: 600_000 });
  return { target, file, sha256: sha256Of(path) };
}

function sha256Of(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** As `sha256sum --check` reads them. */
export function checksums(archives: readonly Archive[]): string {
  return archives.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join("");
}

function wantedTargets(named: readonly string[], isAll: boolean): Target[] {
  const all = Object.keys(targets) as Target[];
  if (isAll) return all;
  const unknown = named.find((name) => !(name in targets));
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${all.join(", ")}`);
  if (named.length > 0) return named as Target[];
  const own = ownTarget();
  if (own !== undefined) return [own];
  throw new Error(`there is no packaged Node for this machine: name one of ${all.join(", ")}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { all: { type: "boolean", default: false }, url: { type: "string" } },
  });
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const size = (path: string): string => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
  const archives: Archive[] = [];
  for (const target of wantedTargets(positionals, values.all)) {
    const executable = await buildExecutable(target, say);
    say(`${relative(process.cwd(), executable)}: ${size(executable)}`);
    if (signed(executable, target)) {
      const packed = archive(target);
      archives.push(packed);
      say(
        `${relative(process.cwd(), join(folder, packed.file))}: ${size(join(folder, packed.file))}`,
      );
    } else {
      say("  not signed, so that it does not start: run `codesign --sign - kubectl-fdb` on a Mac.");
      say("  It is left out of the checksums and of the manifest.");
    }
  }
  writeFileSync(join(folder, "SHA256SUMS"), checksums(archives));
  const template = readFileSync(join(root, "deploy/krew/fdb.yaml"), "utf8");
  const krew = join(folder, "fdb.yaml");
  const url = values.url ?? `https://example.com/kubectl-fdb/v${manifest.version}`;
  writeFileSync(krew, filledManifest(template, manifest.version, url, archives));
  say(`${relative(process.cwd(), krew)}: for krew; --url says where the archives will lie`);
}

if (import.meta.main) await main();
