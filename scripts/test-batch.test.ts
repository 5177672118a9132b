// Which tests of a file a batch runs.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..");
const file = `
import { test } from "node:test";
test("one of the others", () => console.log("ran: other"));
test("a search (long)", () => console.log("ran: search"));
test("a soak (long)", async (context) => {
  await context.test("a part of it", () => console.log("ran: soak"));
});
`;

const cases = [
  { length: "short", ran: ["other"], passed: 1 },
  { length: "long", ran: ["search", "soak"], passed: 3 },
  { length: "all", ran: ["other", "search", "soak"], passed: 4 },
];

for (const { length, ran, passed } of cases) {
  test(`[HOUSE15] a batch of ${length} tests runs ${ran.join(", ")}`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "batch-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "some.test.ts");
    writeFileSync(path, file);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["scripts/test-batch.ts", path],
      { cwd: root, env: { ...process.env, TEST_LENGTH: length } },
    );
    const lines = stdout.split("\n");
    assert.deepEqual(
      lines.filter((line) => line.startsWith("ran: ")),
      ran.map((each) => `ran: ${each}`),
    );
    const counts = lines.find((line) => line.startsWith('{"file":')) ?? "{}";
    assert.equal((JSON.parse(counts) as { passed: number }).passed, passed);
  });
}
