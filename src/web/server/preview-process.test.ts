// Previews in a process of their own: those that work are in test/web/command.test.ts. Rules: spec/web.md [WEB25].
import { strict as assert } from "node:assert";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { KubeError } from "../../kube/error.ts";
import type { PictureSource } from "../../preview/take-picture.ts";
import type { Picture } from "../../preview/picture.ts";
import { group, sceneCluster, sceneStatus } from "../../../test/web/cluster-scene.ts";
import { until } from "../../../test/web/web-client.ts";
import { previewInProcess, previewLive } from "./preview-process.ts";
import type { PluginProgram } from "./preview-process.ts";

const request = {
  ...{ namespace: "default", cluster: "sample" },
  change: { type: "drain", node: "--evil=1" },
} as const;
const program = (script: string): PluginProgram => [process.execPath, "-e", script, "--"];

test("[WEB25] what the program says is wrong is one sentence, and its folder is gone", async () => {
  const never = new AbortController().signal;
  const script = 'console.error("reading\\nkubectl fdb: there is no node n"); process.exitCode = 1';
  const failing = previewInProcess(program(script), { path: "p" }, request, never);
  await assert.rejects(failing, { status: 422, message: "there is no node n" });
  const missing = previewInProcess(["/no/such/program"], { path: "p" }, request, never);
  await assert.rejects(missing, { status: 500, message: /ENOENT/ });
  const here = previewInProcess(
    program("console.error(process.cwd())"),
    { path: "p" },
    request,
    never,
  );
  await assert.rejects(here, ({ message }: Error) => {
    assert.match(message, /fdb-preview-/);
    assert.ok(!existsSync(message));
    return true;
  });
});

test("[WEB25] a name that looks like a flag stays a value", async () => {
  const script = "console.error(JSON.stringify(process.argv.slice(1)))";
  const failing = previewInProcess(
    program(script),
    { path: "p" },
    request,
    new AbortController().signal,
  );
  await assert.rejects(failing, ({ message }: Error) => {
    assert.ok(message.includes('"--drain=--evil=1"'), message);
    return true;
  });
});

test("[WEB25] a copy of many process groups is tried out once, and may compute for longer", async () => {
  const script = "console.error(JSON.stringify(process.argv.slice(1)))";
  const flags = async (groups: number): Promise<string> => {
    const found = Array.from({ length: groups }, (_, index) => group(`storage-${index}`));
    const picture = {
      ...{ format: 1, takenAt: "2026-11-17T12:00:00Z", cluster: sceneCluster(found), objects: [] },
      ...{ otherRequests: [], left: [], versions: { plugin: "test" } },
      databaseStatus: sceneStatus({}),
    } as unknown as Picture;
    const { signal } = new AbortController();
    const failing = previewInProcess(program(script), { picture }, request, signal);
    return failing.then(
      () => "",
      ({ message }: Error) => message.replace(/^.*"--seeds"/, ""),
    );
  };
  assert.match(await flags(300), /^,"2","--cpu","135s"/);
  assert.match(await flags(301), /^,"1","--cpu","136s"/);
  assert.match(await flags(2_000), /^,"1","--cpu","480s"/);
});

test("[WEB25] a process that does not end is ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-endless-"));
  const file = join(folder, "pid");
  const script = `fs.writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`;
  const end = new AbortController();
  const endless = previewInProcess(program(script), { path: "p" }, request, end.signal);
  const refused = assert.rejects(endless, { status: 504, message: /took too long/ });
  await until("it runs", () => existsSync(file) && readFileSync(file, "utf8") !== "");
  const pid = Number(readFileSync(file, "utf8"));
  end.abort();
  await refused;
  await until("it is gone", () => !isThere(pid));
  rmSync(folder, { recursive: true });
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("[WEB25] a server that does not answer is said", async () => {
  const refused = (): Promise<never> => Promise.reject(new Error("not asked"));
  const client = new Proxy(
    {},
    { get: () => () => Promise.reject(new KubeError(0, "Unreachable", "no route")) },
  );
  const source = {
    ...{ client, exec: { run: refused } },
    clock: { nowMs: () => 0, setTimer: () => ({ cancel: () => {} }) },
  } as unknown as PictureSource;
  const end = new AbortController();
  end.abort();
  const asked = previewLive(program(""), source, sceneCluster([]), request, end.signal);
  await assert.rejects(asked, { status: 503, message: "the cluster cannot be read: no route" });
});
