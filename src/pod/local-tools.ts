// Real backup tools as processes of this machine, for the emulated kubelet: the files that the container has are laid out
// for the process, and what it prints becomes the container's log. Rules: spec/real-database.md [DB67].
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import type { ToolProcess, ToolSpec } from "./process-runtime.ts";

export interface LocalToolOptions {
  readonly path: string;
  /** The container's files are laid out below it. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface LocalTool extends ToolProcess {
  readonly child: ChildProcess;
}

const terminatedCode = 143;
const killedCode = 137;

export function startLocalTool(options: LocalToolOptions, spec: ToolSpec): LocalTool {
  const layout = new ToolLayout(join(options.folder, encodeURIComponent(spec.pod.uid)), spec);
  const child = spawn(options.path, layout.args(), {
    env: { ...options.environment, ...layout.environment() },
    cwd: layout.folder,
    stdio: [spec.readInput === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (child.stdin !== null) void feed(child.stdin, spec);
  child.stdout?.setEncoding("utf8").on("data", (text: string) => spec.write("stdout", text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => spec.write("stderr", text));
  const exited = new Promise<{ code: number }>((resolve) => {
    child.once("error", (error) => {
      spec.write("stderr", `it could not be started: ${error.message}\n`);
      resolve({ code: 127 });
    });
    child.once("close", (code, signal) => {
      layout.takeBack();
      resolve({ code: code ?? (signal === "SIGTERM" ? terminatedCode : killedCode) });
    });
  });
  return {
    ...{ child, exited },
    terminate: () => void child.kill("SIGTERM"),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** A program that ends before its input does not want the rest. */
async function feed(input: Writable, { readInput }: ToolSpec): Promise<void> {
  input.on("error", () => input.destroy());
  for (;;) {
    const bytes = await readInput?.();
    if (bytes === undefined || input.destroyed) break;
    if (!input.write(bytes)) {
      await new Promise<void>((resolve) => {
        input.once("drain", resolve);
        input.once("close", resolve);
      });
    }
  }
  input.end();
}

/** Paths of the container that name a file or a folder become paths of this machine. */
class ToolLayout {
  readonly folder: string;
  readonly #spec: ToolSpec;
  /** Text that each file had when it was laid out, by its path in the container. */
  readonly #laidOut = new Map<string, string>();

  constructor(folder: string, spec: ToolSpec) {
    this.folder = folder;
    this.#spec = spec;
    mkdirSync(folder, { recursive: true });
  }

  args(): string[] {
    let isFolder = false;
    return this.#spec.args.map((word) => {
      const [, name = "", value = ""] = /^(--?[^=]+)=(.*)$/s.exec(word) ?? [];
      if (name !== "") return `${name}=${this.#place(value, isFolderOption(name))}`;
      const placed = this.#place(word, isFolder);
      isFolder = isFolderOption(word);
      return placed;
    });
  }

  /** Only what FoundationDB's programs look at. */
  environment(): Record<string, string> {
    const own = Object.entries(this.#spec.environment ?? {}).filter(([name]) =>
      name.startsWith("FDB_"),
    );
    const placed = (value: string): string =>
      value
        .split(":")
        .map((part) => this.#place(part, false))
        .join(":");
    return Object.fromEntries(own.map(([name, value]) => [name, placed(value)]));
  }

  /** A cluster file that the process changed is the container's too. */
  takeBack(): void {
    const { files } = this.#spec;
    for (const [inside, before] of this.#laidOut) {
      const local = join(this.folder, inside);
      const text = existsSync(local) ? readFileSync(local, "utf8") : before;
      if (text !== before) files.write(inside, text);
    }
  }

  #place(value: string, isFolder: boolean): string {
    if (!value.startsWith("/")) return value;
    const local = join(this.folder, value);
    if (isFolder) {
      mkdirSync(local, { recursive: true });
      return local;
    }
    const text = this.#spec.files.read(value);
    if (text === undefined) return value;
    if (!this.#laidOut.has(value)) {
      mkdirSync(dirname(local), { recursive: true });
      writeFileSync(local, text, { mode: 0o600 });
      this.#laidOut.set(value, text);
    }
    return local;
  }
}

function isFolderOption(name: string): boolean {
  return name === "--logdir";
}
