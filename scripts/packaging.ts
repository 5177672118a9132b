// `npm run packaging`: builds helm once and runs all tests of the packaging with it.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { openHelm } from "../test/helm.ts";

await openHelm(process.env, (line) => process.stdout.write(`${line}\n`));
const result = spawnSync(process.execPath, ["scripts/test.ts", "test/packaging"], {
  cwd: dirname(import.meta.dirname),
  stdio: "inherit",
});
process.exitCode = result.status ?? 1;
