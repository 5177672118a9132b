// `npm test`: the whole suite that needs nothing but this clone. Arguments narrow it: `npm test -- src/model`.
// Tests that need more (kubectl, a real control plane, fixtures beside the clone) skip aloud when it is missing.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { dirname } from "node:path";

const root = dirname(import.meta.dirname);
const folders = process.argv.slice(2);
const patterns = (folders.length === 0 ? ["src", "test", "scripts"] : folders).map((folder) =>
  folder.endsWith(".ts") ? folder : `${folder.replace(/\/$/, "")}/**/*.test.ts`,
);
const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).sort();
if (files.length === 0) {
  process.stderr.write(`no test file matches ${patterns.join(", ")}\n`);
  process.exit(1);
}
// One process for all files: a suite of small pure tests would spend most of its time starting Node.
const runner = spawn(
  process.execPath,
  ["--test", "--test-isolation=none", "--test-reporter=./scripts/test-reporter.ts", ...files],
  { cwd: root, stdio: "inherit", env: { ...process.env, NODE_OPTIONS: "", NODE_ENV: "test" } },
);
runner.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
