// Programs written in Go that only tests need: built once from a module of ours in tools/, and kept in the user's cache
// folder under a name that carries a hash of the module, so that a changed module is never mixed up with an old binary.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface GoProgram {
  /** Of the cached file. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Folder below tools/ with go.mod and go.sum. */
  readonly module: string;
  /** What to build: a package of the module, or one that its go.mod names as a tool. */
  readonly package: string;
  /** Build tags: what a program is built without. */
  readonly tags?: readonly string[];
  /** A package of the Go world, and the variable in it that gets that package's version. */
  readonly stamp?: { readonly of: string; readonly variable: string };
  /** Said when there is no Go: what to do instead. */
  readonly remedy: string;
  /** For people who wait. */
  readonly duration: string;
}

export function goProgramPath(program: GoProgram, environment: Environment): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(folderOf(program)).sort()) {
    if (!/^go\.(mod|sum)$|\.go$/.test(file)) continue;
    hash.update(`${file}\n`).update(readFileSync(path.join(folderOf(program), file)));
  }
  const cache = environment["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
  const name = `${program.name}-${hash.digest("hex").slice(0, 16)}`;
  return path.join(cache, "foundationdb-operator", name);
}

/** The path of the program, built first where it is missing. */
export async function goProgram(
  program: GoProgram,
  environment: Environment,
  say: (line: string) => void,
): Promise<string> {
  const binary = goProgramPath(program, environment);
  if (existsSync(binary)) return binary;
  if (!isOnPath("go", environment)) {
    throw new Error(`no go program to build ${program.title} with: ${program.remedy}`);
  }
  say(`building ${program.title} from source, once (${program.duration} cold)`);
  mkdirSync(path.dirname(binary), { recursive: true });
  const partial = `${binary}.${process.pid}`;
  const tags = program.tags === undefined ? [] : ["-tags", program.tags.join(",")];
  const flags = ["-trimpath", "-buildvcs=false", ...tags, ...linkFlags(program)];
  const startedAt = performance.now();
  const seconds = (): string => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  const progress = setInterval(() => say(`still building, ${seconds()}`), 30_000);
  try {
    const nice = isOnPath("nice", environment) ? ["nice", "-n", "10"] : [];
    await run(program, [...nice, "go", "build", ...flags, "-o", partial, program.package], {
      ...environment,
      ...{ CGO_ENABLED: "0", GOTOOLCHAIN: "local" },
    });
  } finally {
    clearInterval(progress);
  }
  // The rename makes the finished file appear at once, also when two runs build beside each other.
  renameSync(partial, binary);
  say(`built in ${seconds()}, kept as ${binary}`);
  return binary;
}

function linkFlags(program: GoProgram): string[] {
  const { stamp } = program;
  if (stamp === undefined) return [];
  const modules = readFileSync(path.join(folderOf(program), "go.mod"), "utf8");
  const line = modules.split("\n").find((text) => text.trim().startsWith(`${stamp.of} v`));
  return ["-ldflags", `-X ${stamp.variable}=${line?.trim().split(" ")[1] ?? ""}`];
}

function folderOf(program: GoProgram): string {
  return path.resolve(import.meta.dirname, "../tools", program.module);
}

export function isOnPath(name: string, environment: Environment): boolean {
  const folders = (environment["PATH"] ?? "").split(path.delimiter);
  return folders.some((folder) => folder !== "" && existsSync(path.join(folder, name)));
}

function run(
  program: GoProgram,
  command: readonly string[],
  environment: Environment,
): Promise<void> {
  const [first = "", ...rest] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(first, rest, {
      cwd: folderOf(program),
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (output += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve();
      const shown = output.trim().slice(-2000);
      reject(new Error(`go build of tools/${program.module} failed (${code}): ${shown}`));
    });
  });
}
