// kubectl-fdb as one file, as a stranger finds it: without Node, without sources, by its name or by that of the completer.
// Skips aloud where it was not built: `npm run packaging` builds it.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { helpCpuMs } from "../../bench/plugin-start.ts";
import { archive, checksums, signed } from "../../scripts/executable.ts";
import { filledManifest } from "../../scripts/krew-manifest.ts";
import { kubeconfigText, serveHttps } from "../../src/emulator/https-server.ts";
import { small, TestWorld } from "../world/world-harness.ts";

const executable = process.env["KUBECTL_FDB"] ?? "";
const skip =
  executable === "" ? "kubectl-fdb is not built here: npm run packaging builds it" : false;

void describe("executable", { skip }, () => {
  const run = (args: readonly string[], program = executable) =>
    spawnSync(program, args, { encoding: "utf8", env: {}, cwd: tmpdir(), timeout: 60_000 });

  void test("[DEP21] it runs without Node and without this project", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "fdb-executable-"));
    try {
      const copy = path.join(folder, "kubectl-fdb");
      copyFileSync(executable, copy);
      const help = run(["--help"], copy);
      assert.equal(help.status, 0, help.stderr);
      assert.match(help.stdout, /^Usage: kubectl fdb /);
      assert.equal(
        run(["version", "--client-only"], copy).stdout,
        `kubectl-fdb: ${manifest.version}\n`,
      );
      const link = path.join(folder, "kubectl_complete-fdb");
      symlinkSync(copy, link);
      assert.match(run(["sta"], link).stdout, /^status\t.*\n:4\n$/);
      const wrong = run(["nonsense"], copy);
      assert.equal(wrong.status, 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  void test("[DEP22] --help takes at most 150 ms of a processor", () => {
    const used = [1, 2, 3, 4, 5].map(() => helpCpuMs(executable));
    const least = used.reduce((left, right) => Math.min(left, right));
    assert.ok(least > 0 && least <= 150, `${used.join(", ")} ms`);
  });

  void test("[DEP21] it speaks to an API server", async () => {
    await TestWorld.runWithCluster({ spec: small }, async (world) => {
      const served = await serveHttps(world.world.server, { port: 0 });
      const folder = mkdtempSync(path.join(tmpdir(), "fdb-executable-"));
      try {
        const file = path.join(folder, "kubeconfig");
        writeFileSync(file, kubeconfigText(served), { mode: 0o600 });
        const child = spawn(executable, [
          "status",
          "sample",
          "-n",
          "default",
          "--kubeconfig",
          file,
        ]);
        let out = "";
        const ended = new AbortController();
        child.stdout.on("data", (bytes: Buffer) => (out += bytes.toString()));
        child.on("close", () => ended.abort());
        for (let look = 0; look < 6_000 && !ended.signal.aborted; look += 1) {
          await world.clock.advance(10);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        assert.equal(child.exitCode, 0, out);
        assert.match(out, /\nHealthy for \d+s: the database serves reads and writes/);
        assert.match(out, /\n {2}storage +3 +3 +0 +0\n/);
      } finally {
        await served.close();
        rmSync(folder, { recursive: true });
      }
    });
  });
});

void test("[DEP23] archives hold the program and the licence, and their checksums are those of the files", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fdb-archive-"));
  try {
    mkdirSync(path.join(folder, "linux-x64"));
    writeFileSync(path.join(folder, "linux-x64/kubectl-fdb"), "program", { mode: 0o755 });
    const packed = archive("linux-x64", folder);
    assert.equal(packed.file, `kubectl-fdb-${manifest.version}-linux-x64.tar.gz`);
    const listed = spawnSync("tar", ["-tzf", path.join(folder, packed.file)], { encoding: "utf8" });
    assert.deepEqual(listed.stdout.trim().split("\n"), ["kubectl-fdb", "LICENSE"]);
    const bytes = readFileSync(path.join(folder, packed.file));
    const sum = createHash("sha256").update(bytes).digest("hex");
    assert.equal(checksums([packed]), `${sum}  ${packed.file}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

void test("[DEP23] an executable for macOS that was built elsewhere counts as unsigned", () => {
  assert.equal(signed("kubectl-fdb", "darwin-arm64", "linux"), false);
  assert.equal(signed("kubectl-fdb", "linux-arm64", "linux"), true);
});

void test("[DEP24] the manifest for krew has the platforms that were built, and no others", () => {
  const template = readFileSync(
    path.resolve(import.meta.dirname, "../../deploy/krew/fdb.yaml"),
    "utf8",
  );
  const text = filledManifest(template, "1.2.3", "https://a.example/x/", [
    { target: "linux-arm64", file: "kubectl-fdb-1.2.3-linux-arm64.tar.gz", sha256: "ab" },
  ]);
  const { spec, metadata } = parse(text) as { metadata: unknown; spec: Record<string, unknown> };
  assert.deepEqual(metadata, { name: "fdb" });
  assert.equal(spec["version"], "v1.2.3");
  assert.deepEqual(spec["platforms"], [
    {
      selector: { matchLabels: { os: "linux", arch: "arm64" } },
      uri: "https://a.example/x/kubectl-fdb-1.2.3-linux-arm64.tar.gz",
      sha256: "ab",
      bin: "kubectl-fdb",
      files: [
        { from: "kubectl-fdb", to: "." },
        { from: "LICENSE", to: "." },
      ],
    },
  ]);
});
