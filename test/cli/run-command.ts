// Runs the command line as a person would, in its own process.
import { spawn } from "node:child_process";
import { join } from "node:path";

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

export interface RunningCommand {
  readonly finished: Promise<CommandResult>;
  /** Resolves when the standard output contains the text. */
  waitForOutput(text: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** The standard output until now. */
  outputSoFar(): string;
}

export function startCommand(args: readonly string[], input = ""): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  const waiting: { text: string; resolve: () => void }[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    for (const wait of waiting) if (stdout.includes(wait.text)) wait.resolve();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  child.stdin.end(input);
  const finished = new Promise<CommandResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  return {
    finished,
    waitForOutput: (text) =>
      new Promise((resolve, reject) => {
        if (stdout.includes(text)) return resolve();
        waiting.push({ text, resolve });
        void finished.then(() => reject(new Error(`ended without "${text}": ${stdout}${stderr}`)));
      }),
    signal: (name) => void child.kill(name),
    outputSoFar: () => stdout,
  };
}

export function runCommand(args: readonly string[], input = ""): Promise<CommandResult> {
  return startCommand(args, input).finished;
}
