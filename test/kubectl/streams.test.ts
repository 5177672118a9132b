// The real kubectl into pods of the emulated nodes: exec, attach, logs -f, cp and port-forward over HTTPS. Without kubectl
// the cases are skipped aloud.
import { strict as assert } from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kubeconfigText } from "../../src/emulator/https-server.ts";
import { pods } from "../../src/kube/resource.ts";
import { eventually } from "../eventually.ts";
import { startTalkingCluster } from "../fixtures/talking-cluster.ts";
import type { TalkingCluster } from "../fixtures/talking-cluster.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
const skip = hasKubectl ? false : "there is no kubectl on this machine";

let folder: string;
let cluster: TalkingCluster;

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOME: folder };
}

function start(args: readonly string[]): ChildProcessWithoutNullStreams & { shown: () => string } {
  const child = spawn("kubectl", args, { env: environment() });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return Object.assign(child, { shown: () => text });
}

async function kubectl(
  args: readonly string[],
  input?: string | Buffer,
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn("kubectl", args, { env: environment(), timeout: 30_000 });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.end(input ?? "");
  const code = await new Promise<number>((resolve) =>
    child.once("close", (one) => resolve(one ?? -1)),
  );
  return { code, out, err };
}

/** Tries until the check passes; after a while its own words are the failure. */
async function untilHolds(check: () => void | Promise<void>): Promise<void> {
  let last: unknown;
  const hold = async (): Promise<true | undefined> => {
    try {
      await check();
      return true;
    } catch (error) {
      last = error;
      return undefined;
    }
  };
  await eventually("a check", hold, 20_000).catch(() => Promise.reject(last));
}

describe("kubectl into pods", { skip }, () => {
  before(async () => {
    if (!hasKubectl) return;
    folder = mkdtempSync(join(tmpdir(), "fdb-operator-streams-"));
    cluster = await startTalkingCluster();
    writeFileSync(join(folder, "kubeconfig"), kubeconfigText(cluster.served), { mode: 0o600 });
    await cluster.createPod("a");
  });

  after(async () => {
    if (!hasKubectl) return;
    await cluster.close();
    rmSync(folder, { recursive: true });
  });

  test("[WS20] exec runs a command; its outputs and exit code arrive", async () => {
    const found = await kubectl(["exec", "a", "--", "bash", "-c", "echo $A; echo no >&2; exit 3"]);
    assert.deepEqual([found.code, found.out], [3, "b\n"]);
    assert.equal(found.err, "no\ncommand terminated with exit code 3\n");
  });

  test("[WS20] exec -i passes the input and its end", async () => {
    const input = `${"0123456789".repeat(50_000)}\n`;
    const found = await kubectl(["exec", "-i", "a", "--", "cat"], input);
    assert.equal(found.code, 0, found.err);
    assert.equal(found.out.length, input.length);
    const counted = await kubectl(["exec", "-i", "a", "--", "wc", "-c"], input);
    assert.equal(counted.out, `${input.length}\n`);
  });

  test("[WS21] refusals are those of an API server", async () => {
    const refusals: [readonly string[], RegExp][] = [
      [["exec", "nobody", "--", "ls"], /pods "nobody" not found/],
      [
        ["exec", "a", "-c", "x", "--", "ls"],
        /container not found|container x is not valid for pod a/,
      ],
      [["exec", "pending", "--", "ls"], /pod pending does not have a host assigned/],
      [["exec", "a", "--", "vim"], /executable file not found in \$PATH\n.*exit code 127/s],
    ];
    await cluster.createPod("pending", true);
    for (const [args, words] of refusals) {
      const found = await kubectl(args);
      assert.notEqual(found.code, 0);
      assert.match(found.err, words);
    }
    const { api } = cluster;
    api.context.authorize = ({ resource, verb }) => resource !== "pods/exec" || verb !== "create";
    const forbidden = await kubectl(["exec", "a", "--", "ls"]);
    delete api.context.authorize;
    assert.match(forbidden.err, /cannot create resource "pods\/exec" in API group ""/);
  });

  test("[WS17] logs -f goes on until the pod is gone, attach shows what comes", async () => {
    await cluster.createPod("followed");
    await untilHolds(async () => {
      assert.match((await kubectl(["logs", "followed"])).out, /line 1\n/);
    });
    const following = start(["logs", "-f", "followed", "--tail=1"]);
    const attached = start(["attach", "followed"]);
    await untilHolds(() => {
      assert.match(following.shown(), /(?:line \d+\n){3}/);
      assert.match(attached.shown(), /(?:line \d+\n){3}/);
    });
    const over = Promise.all(
      [following, attached].map((one) => new Promise((resolve) => one.once("close", resolve))),
    );
    await cluster.client.delete(pods, { namespace: "default", name: "followed" });
    assert.deepEqual(await over, [0, 0]);
  });

  test("[WS16] cp in both directions, files and folders, bytes as they are", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(join(folder, "up"), bytes);
    const up = await kubectl(["cp", join(folder, "up"), "a:/tmp/there"]);
    assert.equal(up.code, 0, up.err);
    const down = await kubectl(["cp", "a:/tmp/there", join(folder, "down")]);
    assert.equal(down.code, 0, down.err);
    assert.ok(readFileSync(join(folder, "down")).equals(bytes));
    await kubectl(["exec", "a", "--", "bash", "-c", "echo 1 > /tmp/d/x; echo 2 > /tmp/d/e/y"]);
    const whole = await kubectl(["cp", "a:/tmp/d", join(folder, "d")]);
    assert.equal(whole.code, 0, whole.err);
    assert.equal(readFileSync(join(folder, "d", "e", "y"), "utf8"), "2\n");
  });

  test("[WS18] port-forward reaches a port, several times, and says when nobody listens", async () => {
    const forwarding = start(["port-forward", "pod/a", ":8080"]);
    const ready = /Forwarding from 127\.0\.0\.1:(\d+) -> 8080/;
    await untilHolds(() => assert.match(forwarding.shown(), ready));
    const port = Number(ready.exec(forwarding.shown())?.[1]);
    const get = (path: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const call = http.get({ port, path, agent: false }, (answer) => {
          let text = "";
          answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
          answer.on("end", () => resolve(text));
        });
        call.on("error", reject);
      });
    assert.equal(await get("/one"), "GET /one\n");
    const several = await Promise.all(["/two", "/three", "/four"].map(get));
    assert.deepEqual(several, ["GET /two\n", "GET /three\n", "GET /four\n"]);
    forwarding.kill();
    const lost = start(["port-forward", "pod/a", ":9999"]);
    await untilHolds(() =>
      assert.match(lost.shown(), /Forwarding from 127\.0\.0\.1:(\d+) -> 9999/),
    );
    const other = Number(/127\.0\.0\.1:(\d+)/.exec(lost.shown())?.[1]);
    http.get({ port: other, agent: false }).on("error", () => {});
    await untilHolds(() =>
      assert.match(lost.shown(), /error forwarding port 9999 to pod a: .*refused/),
    );
    lost.kill();
  });
});
