// `kubectl fdb dashboard` and the dashboard of `npm start`, each in its own process. Rules: spec/web.md [WEB24], [WEB25],
// [WEB30]-[WEB33].
import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pluginProgramOf } from "../../src/cli/plugin-path.ts";
import { runCommand, startCommand } from "../cli/run-command.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { TestWorld, tiny } from "../world/world-harness.ts";
import { ask, cookieOf, follow, until } from "./web-client.ts";

const folder = mkdtempSync(join(tmpdir(), "fdb-dashboard-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const root = join(import.meta.dirname, "..", "..");
const address = /http:\/\/127\.0\.0\.1:\d+\/open\/[0-9a-f]{48}/;

interface Running {
  output(): string;
  errors(): string;
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

function startPlugin(...args: string[]): Running {
  const child = spawn(process.execPath, [join(root, "src/cli/kubectl-fdb.ts"), ...args]);
  let [output, errors] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (errors += bytes.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    output: () => output,
    errors: () => errors,
    end(signal) {
      if (signal !== undefined) child.kill(signal);
      return ended;
    },
  };
}

test("[WEB24] [WEB25] [WEB32] [WEB33] a whole world, looked at by npm start itself and by the plugin (long)", async (context) => {
  const kubeconfig = join(folder, "kubeconfig");
  const dev = startCommand([
    ...["dev", "--port", "0", "--dashboard-port", "0", "--kubeconfig", kubeconfig, "--speed", "60"],
  ]);
  context.after(() => dev.signal("SIGKILL"));
  await dev.waitForOutput("Ctrl-C stops everything.");
  const [devUrl = ""] = address.exec(dev.outputSoFar()) ?? [];
  const plugin = startPlugin("dashboard", "--kubeconfig", kubeconfig, "--port", "0");
  context.after(() => plugin.end("SIGKILL"));
  await until("the plugin serves", () => address.test(plugin.output()));
  const [pluginUrl = ""] = address.exec(plugin.output()) ?? [];
  const token = /token: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
  assert.ok(token.length > 20);
  const query = "namespace=default&cluster=sample";
  for (const url of [devUrl, pluginUrl]) {
    const port = Number(new URL(url).port);
    const cookie = await cookieOf(url);
    const stream = await follow(port, `/events?${query}`, cookie);
    await until("the database was asked", () => {
      const cluster = stream.model()?.cluster;
      return cluster?.isMissing === false && cluster.figures.last?.isAvailable === true;
    });
    const cluster = stream.model()?.cluster;
    assert.ok(cluster?.isMissing === false);
    const [group = ""] = Object.keys(cluster.map.tiles);
    stream.close();
    const texts = [
      JSON.stringify(stream.events),
      dev.outputSoFar(),
      plugin.output(),
      plugin.errors(),
    ];
    for (const path of [`/story?${query}&group=${group}`, `/manifest?${query}`]) {
      const { status, text } = await ask(port, { path, headers: { cookie } });
      assert.equal(status, 200);
      texts.push(text);
    }
    assert.ok(
      texts.every((text) => !text.includes(token)),
      "the token is nowhere",
    );
    assert.ok(!JSON.stringify(stream.events).includes(cookie.split("=")[1] ?? "?"));
  }
  const port = Number(new URL(pluginUrl).port);
  const headers = {
    ...{ cookie: await cookieOf(pluginUrl), origin: `http://127.0.0.1:${port}` },
    "content-type": "application/json",
  };
  const preview = (change: object): ReturnType<typeof ask> => {
    const body = JSON.stringify({ namespace: "default", cluster: "sample", change });
    return ask(port, { method: "POST", path: "/preview", headers, body });
  };
  const serving = async (change: object): ReturnType<typeof ask> => {
    // A machine that is too busy for 60 times the speed may show the database in a recovery.
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await preview(change);
      if (!answer.text.includes("does not serve")) return answer;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    return preview(change);
  };
  const lost = await serving({ type: "loseNode", node: "node-1" });
  assert.match(lost.text, /^\{"report":\{"format":1,.*"change":"node node-1 is lost"/);
  const wrong = await serving({ type: "yaml", yaml: "kind: [" });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /^\{"problem":"changed\.yaml:1: /);
  assert.equal(await plugin.end("SIGINT"), 0);
  assert.equal(plugin.errors(), "");
  dev.signal("SIGINT");
  const { code, stderr } = await dev.finished;
  assert.deepEqual([code, stderr], [0, ""]);
});

test("[WEB33] --once has no dashboard (long)", async () => {
  const { code, stdout } = await runCommand(["dev", "--once", "--speed", "200"]);
  assert.equal(code, 0);
  assert.ok(!stdout.includes("Dashboard"));
});

test("[WEB32] a port that is taken is one line, and so is what cannot be shown", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const run = (...args: string[]): ReturnType<typeof runPlugin> =>
      runPlugin(world, ["dashboard", ...args]);
    const busy = await run("--port", String(port));
    assert.equal(busy.code, 1);
    assert.match(
      busy.notes,
      /cannot listen on port \d+ of 127\.0\.0\.1: it is taken; choose another/,
    );
    assert.match((await run("--port", "x")).notes, /number from 0 to 65535/);
    assert.match((await run("--from", join(folder, "nothing"))).notes, /nothing is not there\n$/);
    assert.match((await run("--from", folder, "-A")).notes, /--from shows one cluster/);
    assert.match((await run("-n", "default", "-A")).notes, /exclude each other/);
    const ended = new AbortController();
    ended.abort();
    const served = await runPlugin(world, ["dashboard", "-A"], { signal: ended.signal });
    assert.equal(served.code, 0, served.notes);
    assert.match(served.out, /^Dashboard of https:\/\/emulated, all namespaces:\n {2}http:/);
  });
  taken.close();
});

test("[WEB32] who may not list clusters is told so at once, and who may in one namespace sees that", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    world.world.server.context.authorize = ({ userName, namespace }) =>
      userName !== "eve" || namespace === "default";
    const ended = new AbortController();
    ended.abort();
    const run = (...args: string[]): ReturnType<typeof runPlugin> =>
      runPlugin(world, ["dashboard", "--as", "eve", "--port", "0", ...args], {
        signal: ended.signal,
      });
    for (const args of [["-A"], ["-n", "other"]]) {
      const refused = await run(...args);
      assert.deepEqual([refused.code, refused.out], [1, ""]);
      assert.match(refused.notes, /not allowed: .*User "eve" cannot list .*foundationdbclusters/);
    }
    const served = await run();
    assert.equal(served.code, 0, served.notes);
    assert.match(served.out, /^Dashboard of https:\/\/emulated, namespace default:\n {2}http:/);
  });
});

test("[WEB30] the plugin is found beside what runs", () => {
  const of = (script: string): readonly string[] =>
    pluginProgramOf(script, { execPath: "/node", isSingle: false });
  assert.deepEqual(of("/x/src/cli/main.ts"), ["/node", "/x/src/cli/kubectl-fdb.ts"]);
  assert.deepEqual(of("/x/bin/fdb-operator.js"), ["/node", "/x/bin/kubectl-fdb.js"]);
  assert.deepEqual(of("/x/bin/kubectl-fdb"), ["/node", "/x/bin/kubectl-fdb"]);
  assert.deepEqual(pluginProgramOf("", { execPath: "/k", isSingle: true }), ["/k"]);
});
