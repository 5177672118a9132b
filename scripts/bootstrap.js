// Runs on the machine's own Node (20 or later): installs the locked dependencies when they are missing or outdated, then
// hands over to Node 24, which the lock file brings along. Plain JavaScript, because Node 20 cannot read TypeScript.
// Usage: node scripts/bootstrap.js SCRIPT [ARGUMENT...]
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stamp = join(modules, ".installed-lock");

install();
run(process.argv.slice(2));

function install() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  process.stderr.write("Installing the locked dependencies (once)...\n");
  const windows = process.platform === "win32";
  const result = spawnSync(
    windows ? "npm.cmd" : "npm",
    ["ci", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      shell: windows,
    },
  );
  if (result.status !== 0) {
    fail(
      "npm ci failed (see above). Check the network and the npm registry setting, then try again.",
    );
  }
  writeFileSync(stamp, lock);
}

/** Node 24 from node_modules; a machine without a packaged one may bring its own. */
function modernNode() {
  const local = join(modules, ".bin", process.platform === "win32" ? "node.exe" : "node");
  if (existsSync(local)) return local;
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  return fail(
    `there is no packaged Node 24 for ${process.platform}-${process.arch}: install Node 24 and put it first on PATH.`,
  );
}

function run([script, ...rest]) {
  // Compiled once for all processes: many short ones are started, and stripping types costs each of them a second.
  const env = { NODE_COMPILE_CACHE: join(modules, ".cache", "compiled"), ...process.env };
  const child = spawn(modernNode(), [join(root, script), ...rest], { stdio: "inherit", env });
  // Ctrl-C reaches the whole process group: the child stops cleanly and this process reports its exit code.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal !== "SIGINT") child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 15);
  });
}

function fail(message) {
  process.stderr.write(`foundationdb-operator: ${message}\n`);
  process.exit(1);
}
