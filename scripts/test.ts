// `npm test`: what needs nothing but this clone. Arguments narrow it: `npm test -- src/model`. It leaves out what takes
// long, which `npm run test:long` runs alone; a file that is named runs whole. Rules: spec/house.md [HOUSE9], [HOUSE15].
// Each file is a line when it is done; at the end the totals and the slowest tests. Tests that need more (kubectl, a real control plane, fixtures beside the clone) skip aloud when it is missing.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { slowestCount } from "./test-reporter.ts";
import type { BatchReport, FileCounts, SlowTest } from "./test-reporter.ts";

const root = dirname(import.meta.dirname);
const { values, positionals } = parseArgs({
  options: { long: { type: "boolean", default: false } },
  allowPositionals: true,
});
const everywhere = values.long ? ["src", "test"] : ["src", "test", "scripts"];
const wanted = positionals.length === 0 ? everywhere : positionals;
const patterns = wanted.map((place) =>
  place.endsWith(".ts") ? place : `${place.replace(/\/$/, "")}/**/*.test.ts`,
);
const files = [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })))].sort();
if (files.length === 0) {
  process.stderr.write(`no test file matches ${patterns.join(", ")}\n`);
  process.exit(1);
}
const isNamed = wanted.some((place) => place.endsWith(".ts"));
const testLength = isNamed ? "all" : values.long ? "long" : "short";
const batches = batchesOf(files);
const running = new Set<ChildProcess>();
// Whoever ends this ends what it started.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    for (const runner of running) runner.kill(signal);
    process.exit(1);
  });
}
const done: FileCounts[] = [];
const slow: SlowTest[] = [];
let [isBroken, cpuMs] = [false, 0];
const startedMs = performance.now();
// One more than there are processors: some tests wait for kubectl or a browser most of the time.
await Promise.all(Array.from({ length: Math.min(4, availableParallelism() + 1) }, runBatches));
process.stdout.write(closingText());
if (isBroken || sum("failed") > 0) process.exitCode = 1;

function closingText(): string {
  const slowest = slow.toSorted((left, right) => right.tookMs - left.tookMs).slice(0, slowestCount);
  const lines = slowest.map(({ name, file, tookMs }) => `  ${seconds(tookMs)}  ${name} (${file})`);
  const failed = done.filter((each) => each.failed > 0).map(({ file }) => `  ${file}\n`);
  const totals = `${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`;
  return (
    `\nThe slowest tests:\n${lines.join("\n")}\n` +
    (failed.length === 0 ? "" : `\nFiles with failed tests:\n${failed.join("")}`) +
    (isBroken ? "\nSomething failed outside of all tests: it is told above.\n" : "") +
    `\n${totals} in ${done.length} of ${files.length} files, ` +
    `${seconds(performance.now() - startedMs).trim()} (${(cpuMs / 60_000).toFixed(1)} CPU minutes)\n`
  );
}

function sum(what: "passed" | "failed" | "skipped"): number {
  return done.reduce((total, counts) => total + counts[what], 0);
}

function seconds(tookMs: number): string {
  return `${(tookMs / 1000).toFixed(1).padStart(6)} s`;
}

/**
 * Many small tests share a process, since starting Node would cost more than they do; whole worlds go in batches of which all
 * processors have some until the end. What waits for another program most of the time begins first.
 */
function batchesOf(all: readonly string[]): string[][] {
  const isLong = (file: string): boolean =>
    /^test\/(world|simulation|acceptance|crash|docs|preview|plugin)\//.test(file);
  // They share one browser.
  const browser = all.filter((file) => file.startsWith("test/browser/"));
  const kubectl = all.filter((file) => file.startsWith("test/kubectl/"));
  const long = all.filter(isLong);
  const short = all.filter(
    (file) => !isLong(file) && !browser.includes(file) && !kubectl.includes(file),
  );
  return [
    ...[kubectl, browser].filter((batch) => batch.length > 0),
    ...chunks(long, 45),
    ...chunks(short, Math.max(20, Math.ceil(short.length / 6))),
  ];
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

async function runBatches(): Promise<void> {
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    await runBatch(batch);
  }
}

async function runBatch(batch: readonly string[]): Promise<void> {
  const runner = spawn(process.execPath, ["scripts/test-batch.ts", ...batch], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_OPTIONS: "", NODE_ENV: "test", TEST_LENGTH: testLength },
  });
  running.add(runner);
  let [isWhole, hasFailed] = [false, false];
  const lines = createInterface(runner.stdout).on("line", (line) => {
    if (line.startsWith('{"cpuMs":')) {
      const report = JSON.parse(line) as BatchReport;
      cpuMs += report.cpuMs;
      slow.push(...report.slowest);
      isWhole = true;
    } else if (line.startsWith('{"file":')) {
      const counts = JSON.parse(line) as FileCounts;
      done.push(counts);
      hasFailed ||= counts.failed > 0;
      process.stdout.write(lineOf(counts));
    } else {
      process.stdout.write(`${line}\n`);
    }
  });
  const [[code]] = (await Promise.all([once(runner, "exit"), once(lines, "close")])) as [
    [number | null],
    unknown,
  ];
  running.delete(runner);
  if (code === 1 && !hasFailed) isBroken = true;
  if (!isWhole || code === null || code > 1) {
    isBroken = true;
    process.stdout.write(`\na batch of tests ended with ${code ?? "a signal"} before its end\n`);
  }
}

function lineOf({ file, passed, failed, skipped, tookMs }: FileCounts): string {
  const counts = [
    `${String(passed).padStart(4)} passed`,
    failed === 0 ? "" : `, ${failed} FAILED`,
    skipped === 0 ? "" : `, ${skipped} skipped`,
  ];
  return `${seconds(tookMs)}  ${counts.join("")}  ${file}\n`;
}
