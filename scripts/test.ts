// `npm test`: the whole suite that needs nothing but this clone. Arguments narrow it: `npm test -- src/model`.
// Tests that need more (kubectl, a real control plane, fixtures beside the clone) skip aloud when it is missing.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const root = dirname(import.meta.dirname);
const folders = process.argv.slice(2);
const patterns = (folders.length === 0 ? ["src", "test", "scripts"] : folders).map((folder) =>
  folder.endsWith(".ts") ? folder : `${folder.replace(/\/$/, "")}/**/*.test.ts`,
);
const files = [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })))].sort();
if (files.length === 0) {
  process.stderr.write(`no test file matches ${patterns.join(", ")}\n`);
  process.exit(1);
}
const batches = batchesOf(files);
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
let isBroken = false;
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, runBatches));
process.stdout.write(
  `\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`,
);
if (isBroken || total.failed > 0) process.exitCode = 1;

/**
 * Many small tests share a process, since starting Node would cost more than they do; whole worlds go in small batches,
 * the longest first, so that all processors have work until the end.
 */
function batchesOf(all: readonly string[]): string[][] {
  const isLong = (file: string): boolean =>
    /^test\/(world|simulation|acceptance|crash)\//.test(file);
  const long = all.filter(isLong);
  const short = all.filter((file) => !isLong(file));
  return [...chunks(long, 3), ...chunks(short, Math.max(20, Math.ceil(short.length / 6)))];
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

function runBatch(batch: readonly string[]): Promise<void> {
  const runner = spawn(
    process.execPath,
    ["--test", "--test-isolation=none", "--test-reporter=./scripts/test-reporter.ts", ...batch],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_OPTIONS: "", NODE_ENV: "test" },
    },
  );
  let output = "";
  runner.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve) => {
    runner.on("close", (code) => {
      process.stdout.write(withoutCounts(output, code));
      resolve();
    });
  });
}

/** Takes the closing line of a batch into the total and gives back what else it said. */
function withoutCounts(output: string, code: number | null): string {
  const match = /(\d+) passed, (\d+) failed, (\d+) skipped\n$/.exec(output);
  if (match === null || code === null || code > 1) {
    isBroken = true;
    return `${output}\na batch of tests ended with ${code ?? "a signal"} before its end\n`;
  }
  total.passed += Number(match[1]);
  total.failed += Number(match[2]);
  total.skipped += Number(match[3]);
  const said = output.slice(0, match.index).replaceAll(/^\n+|\n+$/g, "");
  return said.includes("\n") || said.includes(" ") ? `\n${said}\n` : said;
}
