// The operator of the version before, from the history of this repository: test/crash/version-before names its commit. Its
// files are laid out once in dist/. Rules: spec/crash.md [CR10].
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Program } from "./crash-run.ts";

const root = join(import.meta.dirname, "../..");

/** Errors cross the seams between an operator and its world, so both must mean the same classes. */
const shared = ["src/fdb/error.ts", "src/kube/error.ts"];

export type VersionBefore = { commit: string; program: Program } | { missing: string };

export async function versionBefore(): Promise<VersionBefore> {
  const commit = readFileSync(join(import.meta.dirname, "version-before"), "utf8").trim();
  const folder = join(root, "dist/version-before", commit);
  const problem = existsSync(folder) ? undefined : layOut(commit, folder);
  if (problem !== undefined) return { missing: problem };
  const before = pathToFileURL(`${folder}/`).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const same = shared.find((path) => found.url === `${before}${path}`);
      return same === undefined ? found : { ...found, url: pathToFileURL(join(root, same)).href };
    },
  });
  try {
    const { runTerms } = (await import(`${before}src/operate/terms.ts`)) as { runTerms: Program };
    return { commit, program: runTerms };
  } finally {
    hooks.deregister();
  }
}

/** A clone without history does not have it. */
function layOut(commit: string, folder: string): string | undefined {
  const archive = spawnSync("git", ["archive", "--format=tar", commit, "src", "package.json"], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  });
  if (archive.status !== 0) {
    return `commit ${commit} is not in this clone: fetch the whole history (git fetch --unshallow)`;
  }
  // Another process may lay it out at the same time: whoever ends first is taken.
  const half = `${folder}.${process.pid}`;
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { recursive: true });
  const unpacked = spawnSync("tar", ["-x", "-C", half], { input: archive.stdout });
  if (unpacked.status !== 0) return `tar failed: ${unpacked.stderr?.toString().trim() ?? ""}`;
  try {
    renameSync(half, folder);
  } catch (error) {
    rmSync(half, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return undefined;
}
