// `npm run packaging`: builds helm and actionlint once and kubectl-fdb as one file, and runs all tests of the packaging with them.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { buildActionlint } from "../test/actionlint.ts";
import { openHelm } from "../test/helm.ts";
import { buildExecutable } from "./executable.ts";
import { ownTarget } from "./node-binary.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
await openHelm(process.env, say);
await buildActionlint(process.env, say);
const target = ownTarget();
const executable = target === undefined ? undefined : await buildExecutable(target, say);
const result = spawnSync(process.execPath, ["scripts/test.ts", "test/packaging"], {
  cwd: dirname(import.meta.dirname),
  stdio: "inherit",
  env: { ...process.env, ...(executable === undefined ? {} : { KUBECTL_FDB: executable }) },
});
process.exitCode = result.status ?? 1;
