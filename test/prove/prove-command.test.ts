// The command as it is typed.
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const script = join(import.meta.dirname, "..", "..", "scripts", "prove.ts");

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

function prove(...args: string[]): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, out, notes) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, notes });
    });
  });
}

test("[PROVE2] --list names every proof and ends with code 0, whatever is installed", async () => {
  const { code, out, notes } = await prove("--list");
  assert.deepEqual([code, notes], [0, ""]);
  for (const name of ["lives", "clusters", "contract-fdb", "real-changes", "real-backups"]) {
    assert.match(out, new RegExp(`^${name}: `, "m"));
  }
});

for (const [args, words] of [
  [["--minutes", "0"], /--minutes 0: it must be a whole number from 1 to 1440/],
  [["--minutes", "many"], /--minutes many: it must be/],
  [["--only", "nonsense"], /--only nonsense: there is no such proof/],
  [["--output", "/nowhere/page.md"], /--output \/nowhere\/page\.md: there is no folder \/nowhere/],
  [["--faster"], /Unknown option '--faster'/],
] as const) {
  test(`[PROVE4] ${args.join(" ")} is refused with code 2`, async () => {
    const { code, out, notes } = await prove(...args);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(notes, words);
  });
}
