// Runs proofs one after the other, each as a process with a group of its own: what it started ends with it, when its time is
// up or somebody interrupts. Rules: spec/proof.md [PROVE3], [PROVE4].
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { sleep } from "../../src/env/clock.ts";
import type { Clock } from "../../src/env/clock.ts";
import type { SkippedProof } from "./choose-proofs.ts";
import { duration } from "./proof-page.ts";
import type { ProofResult, Verdict } from "./proof-page.ts";
import type { Proof } from "./proof.ts";

export interface RunOptions {
  readonly clock: Clock;
  readonly environment: NodeJS.ProcessEnv;
  /** For all of them. */
  readonly minutes: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

export interface RunOutcome {
  readonly results: readonly ProofResult[];
  /** Those for which no time was left. */
  readonly skipped: readonly SkippedProof[];
}

/** Between the request to end and the end by force. */
const graceMs = 15_000;
const outputMs = 5_000;
const keptLines = 40;
const root = join(import.meta.dirname, "..", "..");

export async function runProofs(
  proofs: readonly Proof[],
  options: RunOptions,
): Promise<RunOutcome> {
  const { clock, say, signal } = options;
  const endMs = clock.nowMs() + options.minutes * 60_000;
  const results: ProofResult[] = [];
  const skipped: SkippedProof[] = [];
  for (const [index, proof] of proofs.entries()) {
    const leftMs = endMs - clock.nowMs();
    const why = signal.aborted
      ? "the run was interrupted before it"
      : `no time was left of --minutes ${options.minutes}`;
    if (signal.aborted || leftMs <= 0) {
      skipped.push({ proof, why });
      continue;
    }
    const limitMs = Math.min(proof.limitMinutes * 60_000, leftMs);
    say(`[${index + 1}/${proofs.length}] ${proof.name}: ${proof.what}`);
    const result = await runProof(proof, limitMs, options);
    say(`        ${result.verdict} after ${duration(result.seconds)}`);
    for (const figure of result.figures) say(`        ${figure}`);
    results.push(result);
  }
  return { results, skipped };
}

async function runProof(
  proof: Proof,
  limitMs: number,
  { clock, environment, signal, say }: RunOptions,
): Promise<ProofResult> {
  const startedMs = clock.nowMs();
  const child = spawn(process.execPath, [...proof.command], {
    ...{ cwd: root, env: environment, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  });
  const figures: string[] = [];
  let last: string[] = [];
  const hear = (line: string): void => {
    if (proof.figure.test(line)) figures.push(line.replace(proof.figure, ""));
    last = [...last, line].slice(-keptLines);
  };
  eachLine(child, hear);
  let cause: Verdict | undefined;
  const end = (verdict: Verdict): void => {
    cause ??= verdict;
    endGroup(child, "SIGTERM");
    force ??= clock.setTimer(graceMs, () => endGroup(child, "SIGKILL"));
  };
  let force: { cancel(): void } | undefined;
  const limit = clock.setTimer(limitMs, () => end("TOOK TOO LONG"));
  const interrupted = (): void => end("interrupted");
  signal.addEventListener("abort", interrupted, { once: true });
  const heard = outputOf(child, clock);
  const code = await exitCodeOf(child);
  limit.cancel();
  force?.cancel();
  signal.removeEventListener("abort", interrupted);
  // What the program left behind; it may still hold the output.
  endGroup(child, "SIGKILL");
  await heard();
  const verdict = cause ?? (code === 0 ? "proven" : "FAILED");
  if (verdict !== "proven") for (const line of last) say(`        | ${line}`);
  return { proof, verdict, figures, seconds: (clock.nowMs() - startedMs) / 1000 };
}

function eachLine(child: ChildProcess, hear: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) hear(line);
    });
    stream?.on("end", () => {
      if (rest !== "") hear(rest);
    });
  }
}

function exitCodeOf(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("exit", (code) => resolve(code ?? undefined));
  });
}

/** To be called after the end of the program: waits for the rest of its output, and not for ever. */
function outputOf(child: ChildProcess, clock: Clock): () => Promise<void> {
  const closed = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  return async () => {
    const given = new AbortController();
    await Promise.race([closed, sleep(clock, outputMs, given.signal)]);
    given.abort();
  };
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
