// Finds the programs of a real Kubernetes control plane: those in KUBEBUILDER_ASSETS, or one binary of our
// own that holds all four, built once from tools/control-plane and kept in the user's cache folder.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

export type ControlPlanePart =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler";

export interface ControlPlanePrograms {
  /** Program and leading arguments of each part; a part that is missing here cannot be started. */
  readonly commands: Readonly<Partial<Record<ControlPlanePart, readonly string[]>>>;
  /** Where the programs come from, for people. */
  readonly source: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const moduleFolder = path.resolve(import.meta.dirname, "../tools/control-plane");
const parts: readonly ControlPlanePart[] = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
];

export async function findControlPlane(
  environment: Environment,
  say: (line: string) => void,
): Promise<ControlPlanePrograms> {
  const assets = environment["KUBEBUILDER_ASSETS"];
  if (assets !== undefined && assets !== "") return programsOfAssets(assets);
  const binary = binaryPath(environment);
  if (!existsSync(binary)) await buildBinary(binary, environment, say);
  return {
    commands: Object.fromEntries(parts.map((part) => [part, [binary, part]])),
    source: `tools/control-plane, ${path.basename(binary)}`,
  };
}

function programsOfAssets(folder: string): ControlPlanePrograms {
  const commands: Partial<Record<ControlPlanePart, readonly string[]>> = {};
  for (const part of parts) {
    const program = path.join(folder, part);
    if (existsSync(program)) commands[part] = [program];
  }
  for (const part of ["etcd", "kube-apiserver"] as const) {
    if (commands[part] === undefined) {
      throw new Error(
        `KUBEBUILDER_ASSETS has no ${part}: point it at a folder with etcd and kube-apiserver, or unset it`,
      );
    }
  }
  return { commands, source: "KUBEBUILDER_ASSETS" };
}

/** The name carries a hash of the sources, so that a changed module is built anew and never mixed up. */
export function binaryPath(environment: Environment): string {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "main.go"]) {
    hash.update(`${file}\n`).update(readFileSync(path.join(moduleFolder, file)));
  }
  const cache = environment["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
  const name = `control-plane-${hash.digest("hex").slice(0, 16)}`;
  return path.join(cache, "foundationdb-operator", name);
}

async function buildBinary(
  binary: string,
  environment: Environment,
  say: (line: string) => void,
): Promise<void> {
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(
    readFileSync(path.join(moduleFolder, "go.mod"), "utf8"),
  )?.[1];
  if (!isOnPath("go", environment)) {
    const remedy = "install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a control plane";
    throw new Error(`no go program to build the control plane with: ${remedy}`);
  }
  say(`building etcd and Kubernetes ${version ?? ""} from source, once (about 10 minutes cold)`);
  mkdirSync(path.dirname(binary), { recursive: true });
  const partial = `${binary}.${process.pid}`;
  const flags = ["-trimpath", "-buildvcs=false"];
  const link = `-X k8s.io/component-base/version.gitVersion=${version ?? ""}`;
  const build = ["go", "build", ...flags, "-ldflags", link, "-o", partial, "."];
  const startedAt = performance.now();
  const seconds = (): string => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  const progress = setInterval(() => say(`still building, ${seconds()}`), 30_000);
  try {
    const nice = isOnPath("nice", environment) ? ["nice", "-n", "10"] : [];
    await run([...nice, ...build], { ...environment, ...buildSettings });
  } finally {
    clearInterval(progress);
  }
  // The rename makes the finished file appear at once, also when two runs build beside each other.
  renameSync(partial, binary);
  say(`built in ${seconds()}, kept as ${binary}`);
}

function isOnPath(program: string, environment: Environment): boolean {
  const folders = (environment["PATH"] ?? "").split(path.delimiter);
  return folders.some((folder) => folder !== "" && existsSync(path.join(folder, program)));
}

const buildSettings = { CGO_ENABLED: "0", GOTOOLCHAIN: "local" };

function run(command: readonly string[], environment: Environment): Promise<void> {
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: moduleFolder,
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
      reject(new Error(`go build of tools/control-plane failed (${code}): ${shown}`));
    });
  });
}
