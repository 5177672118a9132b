// The matrix of all commands through the real kubectl, which finds the plugin on the PATH and the emulated API server in a
// kubeconfig. Without kubectl it is skipped aloud. Rules: spec/plugin.md [PL9].
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { bundle } from "../../scripts/bundle.ts";
import { kubeconfigText, serveHttps } from "../../src/emulator/https-server.ts";
import type { ServedApi } from "../../src/emulator/https-server.ts";
import { describeMatrix } from "../plugin/matrix.ts";
import type { PluginResult } from "../plugin/plugin-harness.ts";
import type { TestWorld } from "../world/world-harness.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

/** Of the world, each time that a running command is looked at. */
const stepMs = 20;

let folder: string;
let served: ServedApi;

/** In one file the plugin starts in a tenth of the time. */
async function start(world: TestWorld): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "fdb-kubectl-"));
  const program = join(folder, "plugin.js");
  await bundle("src/cli/kubectl-fdb.ts", program);
  const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(folder, "kubectl-fdb"), script, { mode: 0o755 });
  served = await serveHttps(world.world.server, { port: 0 });
  writeFileSync(join(folder, "kubeconfig"), kubeconfigText(served), { mode: 0o600 });
}

/** The world moves on while kubectl runs, as fast as time does. */
async function run(world: TestWorld, args: readonly string[]): Promise<PluginResult> {
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`,
    KUBECONFIG: join(folder, "kubeconfig"),
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    HOME: folder,
  };
  const child = spawn("kubectl", ["fdb", ...args], { env, cwd: folder, timeout: 120_000 });
  let [out, notes] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (notes += bytes.toString()));
  child.stdin.end();
  const ended = new AbortController();
  child.once("error", (error) => (notes += error.message));
  child.once("close", () => ended.abort());
  while (!ended.signal.aborted) {
    await world.clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
  return { code: child.exitCode ?? -1, out, notes };
}

/** Nodes report meanwhile: only what the commands could write counts. */
async function stored(world: TestWorld): Promise<unknown> {
  const clusters = await Promise.all(
    ["sample", "split"].map(async (name) => {
      const { metadata, spec } = await world.cluster({ name });
      return { metadata: { ...metadata, resourceVersion: "", managedFields: [] }, spec };
    }),
  );
  const pods = (await world.pods()).map(({ metadata, status }) => [
    metadata.uid,
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
  ]);
  return { clusters, pods };
}

describeMatrix("[PL9] through the real kubectl (long)", {
  ...{ start, run, stored },
  async stop() {
    await served.close();
    rmSync(folder, { recursive: true });
  },
  ...{ canAsk: false, isPatient: false, refusalsMaximum: 1 },
  skip: hasKubectl ? false : "there is no kubectl on this machine",
});
