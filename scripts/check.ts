// `npm run check`: types, lint, format, unused code and generated files. Runs all of them and names those that fail.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const binaries = join(root, "node_modules", ".bin");
const checks: [name: string, command: string, ...rest: string[]][] = [
  ["types", join(binaries, "tsc"), "--noEmit"],
  // They know a browser.
  ["types of the page", join(binaries, "tsc"), "--noEmit", "-p", "src/web/page"],
  ["types of the browser tests", join(binaries, "tsc"), "--noEmit", "-p", "test/browser"],
  ["lint", join(binaries, "oxlint"), "--type-aware", "--deny-warnings"],
  ["format", join(binaries, "oxfmt"), "--check"],
  ["unused code", join(binaries, "knip"), "--no-progress"],
  // What only tests use is no part of the product.
  [
    "code that only tests use",
    join(binaries, "knip"),
    ...["--production", "--no-progress", "-c", "knip.production.json"],
  ],
  ["generated files", process.execPath, "scripts/generate.ts", "--check"],
];

const failed: string[] = [];
for (const [name, command, ...rest] of checks) {
  const result = spawnSync(command, rest, { cwd: root, stdio: "inherit" });
  process.stdout.write(`${result.status === 0 ? "ok    " : "FAILED"}  ${name}\n`);
  if (result.status !== 0) failed.push(name);
}
if (failed.length > 0) process.exitCode = 1;
