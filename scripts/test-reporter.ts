// How a batch of `npm test` reports: failures in full, skipped tests with their reason, a line of JSON with the counts of each
// file as soon as it is done, and a closing one that names the slowest tests. Rule: spec/house.md [HOUSE9].
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

export interface FileCounts {
  file: string;
  passed: number;
  failed: number;
  skipped: number;
  tookMs: number;
  /** Processor time, also that of the programs it ran and awaited. */
  cpuMs: number;
}

export interface SlowTest {
  name: string;
  file: string;
  tookMs: number;
}

export interface BatchReport {
  /** Processor time of the whole batch with the programs it ran: what it costs, whatever else the machine does. */
  cpuMs: number;
  slowest: SlowTest[];
}

interface Finished {
  name: string;
  nesting: number;
  file?: string;
  skip?: string | boolean;
  todo?: string | boolean;
  details: { type?: string; error?: unknown; passed?: boolean; duration_ms?: number };
}

export const slowestCount = 5;

/** Under isolation "none" the tests of a file come one after the other. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  yield* reportOf(source, machineCpuMs);
}

export async function* reportOf(
  source: AsyncIterable<TestEvent>,
  usedCpuMs: () => number,
): AsyncGenerator<string> {
  let counts: FileCounts | undefined;
  let toldCpuMs = 0;
  const slow: SlowTest[] = [];
  for await (const event of source) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const test = event.data as Finished;
    const file = relative(process.cwd(), test.file ?? "unknown file");
    if (counts !== undefined && counts.file !== file) {
      yield `${JSON.stringify(counts)}\n`;
      counts = undefined;
    }
    counts ??= { file, passed: 0, failed: 0, skipped: 0, tookMs: 0, cpuMs: 0 };
    const cpuMs = usedCpuMs();
    counts.cpuMs += cpuMs - toldCpuMs;
    toldCpuMs = cpuMs;
    const tookMs = Math.round(test.details.duration_ms ?? 0);
    // The time of a suite or test includes that of the tests in it.
    if (test.nesting === 0) counts.tookMs += tookMs;
    if (test.details.type === "suite") continue;
    slow.push({ name: test.name, file, tookMs });
    if (test.skip !== undefined && test.skip !== false) {
      counts.skipped += 1;
      yield `skipped: ${test.name}${typeof test.skip === "string" ? `: ${test.skip}` : ""}\n`;
    } else if (event.type === "test:pass") {
      counts.passed += 1;
    } else {
      counts.failed += 1;
      yield describe(test, file);
    }
  }
  if (counts !== undefined) yield `${JSON.stringify(counts)}\n`;
  const slowest = slow.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, slowestCount);
  const batch: BatchReport = { cpuMs: usedCpuMs(), slowest };
  yield `${JSON.stringify(batch)}\n`;
}

function machineCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000) + childrenCpuMs();
}

/** Only Linux tells what the programs took that this process ran and awaited. */
function childrenCpuMs(): number {
  if (process.platform !== "linux") return 0;
  // The name of the program, in brackets, may have spaces. Times are in hundredths of a second.
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function describe(test: Finished, file: string): string {
  const { error } = test.details;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const text =
    cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause, { depth: 6 });
  return `\nFAILED: ${test.name}\n  in ${file}\n${text.replaceAll(/^/gm, "  ")}\n\n`;
}
