// The examples in the READMEs of the emulated Kubernetes and of the simulated FoundationDB run, and say what is written
// under them. Rules: spec/house.md [HOUSE12].
import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");

for (const folder of ["src/emulator", "src/sim/database"]) {
  test(`[HOUSE12] the example in ${folder}/README.md says what it promises`, async () => {
    const text = readFileSync(join(root, folder, "README.md"), "utf8");
    const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
    const [, promised] = /\/\/ (.*)\n$/.exec(code) ?? [];
    const scratch = mkdtempSync(join(tmpdir(), "fdb-operator-readme-"));
    try {
      const file = join(scratch, "example.ts");
      const absolute = (_: string, path: string): string =>
        `from "${pathToFileURL(join(root, folder, path)).href}"`;
      writeFileSync(file, code.replaceAll(/from "(\.[^"]+)"/g, absolute));
      const example = (await import(pathToFileURL(file).href)) as { told: unknown };
      assert.equal(example.told, promised);
    } finally {
      rmSync(scratch, { recursive: true });
    }
  });
}
