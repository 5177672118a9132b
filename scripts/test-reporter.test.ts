// What `npm test` learns from a batch of tests.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { TestEvent } from "node:test/reporters";
import { reportOf } from "./test-reporter.ts";

async function* eventsOf(events: readonly object[]): AsyncGenerator<TestEvent> {
  for (const event of events) yield event as TestEvent;
}

function finished(type: "test:pass" | "test:fail", name: string, more: object = {}): object {
  const file = join(process.cwd(), "src/one.test.ts");
  return { type, data: { name, file, nesting: 0, details: { duration_ms: 20 }, ...more } };
}

test("[HOUSE9] a batch tells failures and skips, the counts of each file when it is done, and the slowest tests", async () => {
  const lines: string[] = [];
  const error = new Error("it is not so");
  const other = { file: "src/two.test.ts", passed: 1, failed: 0, skipped: 0, tookMs: 20, cpuMs: 7 };
  const events = eventsOf([
    finished("test:pass", "inner", { nesting: 1, details: { duration_ms: 10 } }),
    finished("test:pass", "slow", { details: { duration_ms: 900 } }),
    finished("test:pass", "left out", { skip: "no kubectl" }),
    finished("test:fail", "wrong", { details: { duration_ms: 30, error } }),
    finished("test:pass", "a suite", { details: { type: "suite", duration_ms: 50 } }),
    { type: "test:diagnostic", data: {} },
    finished("test:pass", "in another file", { file: join(process.cwd(), other.file) }),
  ]);
  let cpuMs = 0;
  for await (const line of reportOf(events, () => (cpuMs += 7))) lines.push(line);
  assert.equal(lines[0], "skipped: left out: no kubectl\n");
  assert.match(lines[1] ?? "", /FAILED: wrong\n {2}in src\/one\.test\.ts\n.*it is not so/);
  const counts = {
    file: "src/one.test.ts",
    passed: 2,
    failed: 1,
    skipped: 1,
    tookMs: 1000,
    cpuMs: 35,
  };
  assert.deepEqual(JSON.parse(lines[2] ?? ""), counts);
  assert.deepEqual(JSON.parse(lines[3] ?? ""), { ...counts, ...other });
  assert.deepEqual(JSON.parse(lines.at(-1) ?? ""), {
    cpuMs: 49,
    slowest: [
      { name: "slow", file: "src/one.test.ts", tookMs: 900 },
      { name: "wrong", file: "src/one.test.ts", tookMs: 30 },
      { name: "left out", file: "src/one.test.ts", tookMs: 20 },
      { name: "in another file", file: other.file, tookMs: 20 },
      { name: "inner", file: "src/one.test.ts", tookMs: 10 },
    ],
  });
});
