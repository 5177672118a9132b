// Runs fdbcli for what only it can do, and ends it when it does not end by itself. Rules: spec/real-database.md
// [DB40]-[DB44].
import { spawn } from "node:child_process";
import type { Clock } from "../../env/clock.ts";
import type { CommandResult } from "./command-output.ts";

export interface CommandOptions {
  readonly clock: Clock;
  readonly programPath: string;
  readonly clusterFilePath: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** More than any answer that is read here. */
const keptBytes = 1024 ** 2;
/** It stops by itself at its time limit, unless it hangs. */
const graceMs = 2_000;

export function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
  const { clock, programPath, clusterFilePath, environment, timeoutMs } = options;
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
  const flags = ["-C", clusterFilePath, "--exec", command, "--timeout", String(seconds)];
  return new Promise((resolve) => {
    const child = spawn(programPath, flags, {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    let isLate = false;
    let isOver = false;
    const end = (code: number | undefined, problem?: string): void => {
      if (isOver) return;
      isOver = true;
      limit.cancel();
      resolve({ code, stdout, stderr: problem ?? stderr, isLate });
    };
    const limit = clock.setTimer(seconds * 1000 + graceMs, () => {
      isLate = true;
      child.kill("SIGKILL");
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout = `${stdout}${text}`.slice(0, keptBytes);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = `${stderr}${text}`.slice(0, keptBytes);
    });
    child.once("error", (error) => end(undefined, error.message));
    child.once("close", (code) => end(code ?? undefined));
  });
}
