// `fdb-operator run` as a process of its own, against the emulated API server and a simulated database in this one.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parse, stringify } from "yaml";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { selfSignedCertificate } from "../../src/emulator/certificate.ts";
import { kubeconfigText, serveHttps } from "../../src/emulator/https-server.ts";
import type { KubeconfigParts } from "../../src/emulator/kubeconfig.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { events, leases, pods } from "../../src/kube/resource.ts";
import { serveDatabases } from "../../src/sim/remote/database-server.ts";
import { findInstallation, installationPlaces } from "../../src/fdb/client/installation.ts";
import { isReconciled, startWorld } from "../../src/sim/world.ts";
import type { World } from "../../src/sim/world.ts";
import { runCommand, startCommand } from "./run-command.ts";
import type { RunningCommand } from "./run-command.ts";

interface Stage {
  world: World;
  flags: string[];
  server: KubeconfigParts;
  /** A file of this content, for as long as the test lasts. */
  file: (name: string, content: string) => string;
  token: string;
  start: (...more: string[]) => RunningCommand;
}

interface Kubeconfig {
  users: { user: Record<string, string> }[];
}

const speed = 10;

async function withStage(body: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-run-"));
  const clock = machineClock(speed);
  const world = startWorld({ clock, seed: 1 });
  const served = await serveHttps(world.server, { port: 0 });
  const databases = await serveDatabases({ admin: world.fdb.admin, network: world.network });
  const started: RunningCommand[] = [];
  try {
    await world.started;
    await world.stopOperator();
    const kubeconfig = join(folder, "config");
    writeFileSync(kubeconfig, kubeconfigText(served));
    const flags = ["run", "--kubeconfig", kubeconfig, "--metrics-addr", "127.0.0.1:0"];
    flags.push(
      "--health-probe-bind-address",
      "0",
      "--database",
      `simulated:127.0.0.1:${databases.port}`,
    );
    // The world runs faster than the operator, whose waits must not outlast the test.
    flags.push("--first-configure-wait", "1s", "--status-write-interval", "1s");
    const start = (...more: string[]): RunningCommand => {
      const running = startCommand([...flags, ...more]);
      started.push(running);
      return running;
    };
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    await body({ world, flags, server: served, file, token: served.token, start });
  } finally {
    // A process that outlives a failed test would keep this one alive.
    for (const running of started) running.signal("SIGKILL");
    await databases.close();
    await world.stop();
    await served.close();
    clock.stop();
    rmSync(folder, { recursive: true });
  }
}

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function fetchText(port: number, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    }).on("error", reject);
  });
}

const cluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { name: "sample", namespace: "default" },
  spec: { version: "7.3.63", processCounts: { stateless: -1 } },
};

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  const clock = machineClock();
  for (let turn = 0; turn < 2400; turn += 1) {
    if (await isDone()) return clock.stop();
    await sleep(clock, 50);
  }
  clock.stop();
  throw new Error(`not in time: ${what}`);
}

test("[RUN10] [RUN11] [RUN13] [RUN31] [RUN32] the operator brings up a cluster, is scraped, and stops in good order", async () => {
  await withStage(async ({ world, token, start }) => {
    const running = start("--zap-encoder=console");
    await running.waitForOutput("the operator works");
    await world.client.create(foundationDbClusters, cluster);
    await until("reconciled", async () =>
      isReconciled(
        await world.client.get(foundationDbClusters, { namespace: "default", name: "sample" }),
      ),
    );
    const port = Number(/"port":(\d+)/.exec(running.outputSoFar())?.[1]);
    const metrics = await fetchText(port, "/metrics");
    assert.equal((await fetchText(port, "/readyz")).text, "ok\n");
    assert.equal((await fetchText(port, "/healthz")).status, 200);
    assert.equal((await fetchText(port, "/secrets")).status, 404);
    for (const name of [
      'fdb_operator_cluster_reconciled_status{namespace="default",name="sample"} 1',
      'fdb_operator_queue_depth{queue="clusters"} ',
      'fdb_operator_queue_wait_seconds_count{queue="clusters"} ',
      "fdb_operator_kubernetes_received_bytes_total ",
      'fdb_operator_watch_age_seconds{kind="Pod"} ',
      "fdb_operator_reconcile_duration_seconds_count ",
      "fdb_operator_leading 1",
      'fdb_operator_feature_enabled{feature="nodes"} 1',
      "process_resident_memory_bytes ",
      'fdb_operator_kubernetes_requests_total{verb="create",resource="pods",code="201"} ',
      'fdb_operator_kubernetes_requests_total{verb="create",resource="leases",code="201"} ',
    ]) {
      assert.ok(metrics.text.includes(name), name);
    }
    running.signal("SIGTERM");
    const { code, stdout, stderr } = await running.finished;
    assert.equal(code, 0, stderr);
    const lines = linesOf(stdout);
    assert.equal(lines.at(-1)?.["message"], "stopped");
    const told = lines.find((line) => line["message"] === "a flag has no effect");
    assert.equal(told?.["flag"], "--zap-encoder");
    const lease = await world.client.get(leases, {
      namespace: "default",
      name: "fdb-kubernetes-operator",
    });
    assert.equal(lease.spec?.holderIdentity, "");
    const written = JSON.stringify([
      await world.client.list(events),
      await world.client.list(foundationDbClusters),
    ]);
    assert.ok(![stdout, stderr, written, metrics.text].some((text) => text.includes(token)));
  });
});

test("[RUN13] neither a token nor a client's key is told, whether they are accepted or not (long)", async () => {
  await withStage(async ({ world, server, file, start }) => {
    const { certificatePem, keyPem } = selfSignedCertificate();
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const kubeconfig = (token: string): string => {
      const config = parse(kubeconfigText({ ...server, token })) as Kubeconfig;
      Object.assign(config.users[0]?.user ?? {}, {
        "client-certificate-data": base64(certificatePem),
        "client-key-data": base64(keyPem),
      });
      return stringify(config);
    };
    const wrongToken = "wrong-token-that-nobody-knows";
    const accepted = file("accepted", kubeconfig(server.token));
    const refused = file("refused", kubeconfig(wrongToken));
    const loud = ["--log-level", "debug", "--metrics-addr", "127.0.0.1:0"];
    const working = start(...loud, "--kubeconfig", accepted);
    await working.waitForOutput("the operator works");
    await world.client.create(foundationDbClusters, cluster);
    await working.waitForOutput("action performed");
    const port = Number(/"port":(\d+)/.exec(working.outputSoFar())?.[1]);
    const { text: metrics } = await fetchText(port, "/metrics");
    working.signal("SIGTERM");
    const knocking = start(...loud, "--kubeconfig", refused, "--watch-nodes", "true");
    await knocking.waitForOutput("Unauthorized");
    knocking.signal("SIGTERM");
    const outputs = [await working.finished, await knocking.finished].map(
      ({ stdout, stderr }) => stdout + stderr,
    );
    const written = JSON.stringify([
      await world.client.list(events),
      await world.client.list(foundationDbClusters),
    ]);
    const keyLines = keyPem.split("\n").filter((line) => line.length > 20 && !line.includes("--"));
    const secrets = [server.token, wrongToken, base64(keyPem).slice(0, 60), ...keyLines];
    for (const secret of secrets) {
      for (const text of [...outputs, metrics, written]) assert.ok(!text.includes(secret), secret);
    }
  });
});

test("[RUN22] of two instances the second works within a second after the first was told to stop (long)", async () => {
  await withStage(async ({ start }) => {
    const first = start();
    await first.waitForOutput("the operator works");
    const second = start();
    await second.waitForOutput("listening");
    const port = Number(/"port":(\d+)/.exec(second.outputSoFar())?.[1]);
    await until("ready", async () => (await fetchText(port, "/readyz")).status === 200);
    assert.ok(!second.outputSoFar().includes("the operator works"));
    first.signal("SIGTERM");
    await second.waitForOutput("the operator works");
    second.signal("SIGTERM");
    const ended = linesOf((await first.finished).stdout);
    const begun = linesOf((await second.finished).stdout);
    const timeOf = (lines: Record<string, unknown>[], message: string): number =>
      Date.parse(String(lines.find((line) => line["message"] === message)?.["time"]));
    const takenMs = timeOf(begun, "the operator works") - timeOf(ended, "stopping");
    assert.ok(takenMs < 1000, `${takenMs} ms`);
  });
});

test("[RUN2] [RUN33] [RUN40] [RUN43] what cannot work is one line, with exit code 2 for a wrong flag (long)", async () => {
  await withStage(async ({ flags }) => {
    const refused = async (expected: 1 | 2, ...more: string[]): Promise<string> => {
      const { code, stderr } = await runCommand([...flags, ...more]);
      assert.equal(code, expected, more.join(" "));
      assert.match(stderr, /^fdb-operator: [^\n]+\n$/);
      return stderr;
    };
    assert.match(await refused(2, "--database", "imaginary"), /must be real or simulated/);
    assert.match(await refused(1, "--kubeconfig", "/nowhere/at-all"), /cannot be read/);
    assert.match(await refused(2, "--cli-timeout", "soon"), /--cli-timeout must be a duration/);
    assert.match(await refused(2, "--no-such-flag"), /unknown option '--no-such-flag'/);
    // On a machine with FoundationDB this would run.
    const { clients } = await findInstallation(installationPlaces(process.env));
    if (clients.length > 0) return;
    const missing = await refused(1, "--database", "real");
    assert.match(missing, /no client of FoundationDB .* in .*: name its folder in FDB_LIBRARY_DIR/);
  });
});

test("[RUN24] an operator that is killed again and again leaves nothing that its successor cannot finish (long)", async () => {
  await withStage(async ({ world, start }) => {
    // Shorter than usual, but long enough for a machine with much else to do.
    const lease = ["lease-duration=6s", "renew-deadline=4s", "retry-period=500ms"];
    const quick = [...lease.map((each) => `--leader-election-${each}`), "--cli-timeout=4s"];
    const key = { namespace: "default", name: "sample" };
    await world.client.create(foundationDbClusters, cluster);
    const clock = machineClock();
    for (const [message, laterMs] of [
      ["action performed", 0],
      ["the operator works", 300],
    ] as const) {
      const running = start(...quick);
      await running.waitForOutput(message);
      await sleep(clock, laterMs);
      running.signal("SIGKILL");
      assert.equal((await running.finished).code, null);
    }
    clock.stop();
    const last = start(...quick);
    await until("reconciled", async () =>
      isReconciled(await world.client.get(foundationDbClusters, key)),
    );
    const { status } = await world.client.get(foundationDbClusters, key);
    const wanted = status?.processGroups?.length ?? 0;
    const { items } = await world.client.list(pods, { namespace: "default" });
    assert.equal(items.length, wanted);
    last.signal("SIGTERM");
    assert.equal((await last.finished).code, 0);
  });
});

test("[RUN12] without a look at nodes the operator works and says which features are off (long)", async () => {
  await withStage(async ({ start }) => {
    const running = start("--watch-nodes", "false", "--watch-namespace", "default");
    await running.waitForOutput("the operator works");
    const port = Number(/"port":(\d+)/.exec(running.outputSoFar())?.[1]);
    const { text } = await fetchText(port, "/metrics");
    assert.ok(text.includes('fdb_operator_feature_enabled{feature="nodes"} 0'));
    assert.ok(!text.includes('kind="Node"'));
    assert.equal((await fetchText(port, "/readyz")).text, "ok\n");
    const verbose = await fetchText(port, "/readyz?verbose");
    assert.equal(verbose.status, 200);
    assert.match(verbose.text, /^ok\noff without a look at nodes: .*tainted nodes/);
    assert.match(verbose.text, /data halls/);
    running.signal("SIGTERM");
    const { code, stdout } = await running.finished;
    assert.equal(code, 0);
    const told = linesOf(stdout).find((line) => line["message"] === "nodes are not looked at");
    assert.match(String(told?.["featuresOff"]), /tainted nodes/);
  });
});

test("[RUN14] version prints the version", async () => {
  const { code, stdout } = await runCommand(["version"]);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});
