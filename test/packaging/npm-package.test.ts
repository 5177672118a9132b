// The npm package, as a stranger finds it: what `npm pack` puts in, and that it runs without the sources.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import manifest from "../../package.json" with { type: "json" };
import { bundle } from "../../scripts/bundle.ts";

const root = path.resolve(import.meta.dirname, "../..");

void test("[DEP15] the package holds its programs and no sources or tests", () => {
  const answer = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(answer.status, 0, answer.stderr);
  const packed = JSON.parse(answer.stdout) as { files: { path: string }[] }[];
  const files = Object.values(packed)[0]?.files.map((file) => file.path) ?? [];
  for (const program of Object.values(manifest.bin)) assert.ok(files.includes(program), program);
  assert.ok(files.includes("examples/cluster.yaml"));
  assert.deepEqual(
    files.filter((file) => /^(src|test|scripts|tools|bench)\//.test(file)),
    [],
  );
});

void test("[DEP15] the programs run from the package alone", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fdb-package-"));
  try {
    mkdirSync(path.join(folder, "dist"));
    for (const entry of ["package.json", "bin", "examples"]) {
      cpSync(path.join(root, entry), path.join(folder, entry), { recursive: true });
    }
    // An installed package finds its dependencies beside it.
    symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
    await bundle("src/cli/main.ts", path.join(folder, "dist/fdb-operator.js"));
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [path.join(folder, "bin/fdb-operator.js"), ...args], {
        cwd: folder,
        encoding: "utf8",
      });
    assert.equal(run("--version").stdout.trim(), manifest.version);
    const valid = run("validate", "-f", "examples/cluster.yaml");
    assert.equal(valid.status, 0, valid.stderr + valid.stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
