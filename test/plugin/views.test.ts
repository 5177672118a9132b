// The commands that read and show, in a simulated world: a healthy cluster, one that is being changed, one in trouble, and
// databases that cannot be asked.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pods } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { minuteMs, small, TestWorld, tiny } from "../world/world-harness.ts";
import { databaseExec } from "./database-exec.ts";
import { runPlugin, silentPods } from "./plugin-harness.ts";
import type { PluginOptions, PluginResult } from "./plugin-harness.ts";

type Run = (...args: string[]) => Promise<PluginResult>;

function runner(world: TestWorld, options: PluginOptions = {}): Run {
  return (...args) => runPlugin(world, args, { exec: databaseExec(world), ...options });
}

test("[VW7] [VW9] [VW11] [VW12] [VW13] [VW17] a healthy cluster, looked at from all sides", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const run = runner(world);
    const table = await run("status");
    assert.match(table.out, /^NAME +STATE +SERVES +SOUND +AS SPECIFIED +GROUPS/);
    assert.match(table.out, /\nsample +healthy +yes +yes +yes +(\d+)\/\1 +7\.3\.63 +double/);
    const everywhere = await run("status", "-A", "-o", "json");
    const [row] = (JSON.parse(everywhere.out) as { clusters: Record<string, unknown>[] }).clusters;
    assert.deepEqual(
      [row?.["namespace"], row?.["cluster"], row?.["verdict"]],
      ["default", "sample", "healthy"],
    );

    const page = await run("status", "sample");
    assert.match(page.out, /^default\/sample {2}FoundationDB 7\.3\.63, double/);
    assert.match(page.out, /\nHealthy/);
    assert.match(page.out, /\n {2}Safety +1 zone may fail without loss of data/);
    assert.match(page.out, /\n {2}Coordinators +all \d are reachable/);
    assert.match(page.out, /\n {2}CLASS +WANTED +WELL/);
    assert.match(page.out, /\n {2}storage +3 +3 +0 +0\n/);

    const top = await run("top", "sample", "--sort", "name");
    assert.match(top.out, /^default\/sample {2}serves {2}double/);
    assert.match(top.out, /\nPROCESS +CLASS +ROLES +CPU/);
    assert.match(top.out, /\nstorage-\d+\S* +storage +storage/);
    const picture = JSON.parse(
      (await run("top", "sample", "--class", "log", "-o", "json")).out,
    ) as {
      processes: { processClass: string }[];
    };
    assert.deepEqual([...new Set(picture.processes.map((one) => one.processClass))], ["log"]);

    const tree = await run("tree", "sample");
    assert.match(tree.out, /^default\/sample {2}\d+ process groups\n├─ node \S+\n│ {2}[├└]─ /);
    assert.match(tree.out, /storage-\d+ {2}storage\n/);
    assert.match(tree.out, /\* is a coordinator/);

    const plan = await run("plan", "sample");
    assert.match(plan.out, /\nAbout to do\n {2}- nothing: generation \d+ is in force\n/);

    assert.match((await run("backup", "list")).out, /^There is no FoundationDBBackup in namespace/);
    assert.match((await run("restore", "list", "-A")).out, /^There is no FoundationDBRestore\.$/m);
    for (const { code, notes } of [table, page, top, tree, plan]) {
      assert.deepEqual([code, notes], [0, ""]);
    }
  });
});

test("[VW4] [VW12] a database that cannot be asked is said, and the rest is shown", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const run: Run = (...args) => runPlugin(world, args, { exec: silentPods });
    const page = await run("status", "sample");
    assert.equal(page.code, 0);
    assert.match(page.out, /\n {2}Database +could not be asked: sample-\S+: no node answers/);
    assert.match(page.out, /\n {2}storage +1 +1 +0 +0\n/);
    const tree = await run("tree", "sample");
    assert.equal(tree.code, 0);
    assert.match(tree.out, /storage-\d+\n/);
    assert.match(tree.out, /\nRoles are not known: sample-\S+: no node answers/);
    const top = await run("top", "sample");
    assert.deepEqual([top.code, top.out], [1, ""]);
    assert.match(
      top.notes,
      /^kubectl fdb: the database of sample cannot be asked: .*explain sample/,
    );
  });
});

test("[VW13] [VW11] a change is told while it is made", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const run = runner(world);
    await world.changeSpec({ processCounts: { storage: 3, log: 1, stateless: 1 } });
    await world.until(
      async () =>
        (await world.cluster()).status?.generations?.needsGrow !== undefined ||
        ((await world.cluster()).status?.processGroups ?? []).length > 3,
      "the operator has begun",
    );
    const plan = await run("plan", "sample", "-o", "json");
    const page = JSON.parse(plan.out) as { verdict: string; ahead: { text: string }[] };
    assert.equal(page.verdict, "working");
    assert.ok(page.ahead.length > 0, plan.out);
    const table = await run("status");
    assert.match(table.out, /\nsample +working +yes/);
    await world.untilReconciled();
    assert.match((await run("plan", "sample")).out, /nothing: generation 2 is in force/);
  });
});

test("[VW9] [VW11] [VW12] trouble is told in every view", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const run = runner(world);
    const [victim] = await world.pods("storage");
    const { nodeName } = victim?.spec ?? {};
    await world.during(world.world.kubelet.stopNode(nodeName ?? ""), minuteMs, "the end of a node");
    await world.clock.advance(2 * minuteMs);
    const table = await run("status");
    assert.match(table.out, /\nsample +(degraded|working|stuck) +yes +no/);
    const tree = await run("tree", "sample");
    assert.match(tree.out, new RegExp(`node ${nodeName} {2}\\(not ready\\)`));
    assert.match(tree.out, /MissingProcesses/);
    const page = await run("status", "sample");
    assert.match(page.out, /\n {2}storage +3 +2 +1 +0\n/);
    assert.match(page.out, /kubectl fdb explain sample has more/);
  });
});

test("[VW12] [VW7] what is watched is drawn in place on a terminal, and told once in a pipe", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const forSeconds = async (seconds: number, args: string[], options: PluginOptions) => {
      const ending = new AbortController();
      world.clock.setTimer(seconds * 1_000, () => ending.abort());
      const exec = databaseExec(world);
      return runPlugin(world, args, { exec, signal: ending.signal, ...options });
    };
    const screen = { width: 80, height: 24 };
    const drawn = await forSeconds(12, ["status", "--watch"], { screen });
    assert.equal(drawn.code, 0);
    // Two lines: the titles and the cluster.
    assert.equal(drawn.out.split("\u001b[2A\u001b[0J").length, 3, drawn.out);
    const piped = await forSeconds(60, ["status", "sample", "-w", "--interval", "2s"], {});
    assert.equal(piped.out.split("default/sample").length, 2, piped.out);
    const top = await forSeconds(12, ["top", "sample"], { screen });
    assert.equal(top.out.split("PROCESS").length, 4, top.out);
  });
});

test("[VW14] [VW16] [VW21] logs of all pods, once and followed", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const run = runner(world);
    const all = await run("logs", "sample", "--tail", "3");
    assert.equal(all.code, 0, all.notes);
    const lines = all.out.trimEnd().split("\n");
    assert.ok(lines.length > 0 && lines.length <= 9, all.out);
    const times = lines.map((line) => line.slice(0, 12));
    assert.deepEqual(times, times.toSorted());
    const sources = new Set(lines.map((line) => line.split(" ")[1]));
    assert.equal(sources.size, 3, all.out);
    const one = await run("logs", "sample", "--class", "log", "-o", "json");
    for (const line of one.out.trimEnd().split("\n")) {
      assert.match((JSON.parse(line) as { source: string }).source, /^sample-log-/);
    }
    const [log] = await world.pods("log");
    const id = log?.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    const followed = await run("logs", "sample", "-f", "--process-group", id);
    assert.equal(followed.code, 0, followed.notes);
    assert.ok(followed.out.split("\n").length > 1);
    assert.ok(
      followed.out
        .split("\n")
        .every((line) => line === "" || line.includes(log?.metadata.name ?? "?")),
    );
    const none = await run("logs", "sample", "-c", "nobody");
    assert.match(
      none.notes,
      /no pod of cluster sample is meant by these flags; containers are .*foundationdb/,
    );
    assert.equal(none.code, 1);
  });
});

const mistakes: readonly (readonly [args: string, code: number, notes: RegExp])[] = [
  ["top", 2, /missing required argument 'cluster'/],
  ["top sample --sort weight", 2, /Allowed choices are cpu, memory, disk, free, queue, lag, name/],
  ["top sample --interval 1ms", 2, /It must be a duration from 1s to 3600s/],
  ["status sample -A", 2, /--all-namespaces lists every cluster/],
  ["status -w -o json", 2, /--watch draws a page again and again/],
  ["logs sample --tail -1", 2, /It must be a whole number from 0/],
  ["logs sample --severity loud", 2, /Allowed choices are debug, info, warning, error/],
  ["completion tcsh", 2, /Allowed choices are bash, zsh, fish, kubectl/],
  [
    "tree nobody",
    1,
    /there is no FoundationDBCluster nobody in namespace default; there is none at all/,
  ],
  ["plan nobody", 1, /there is no FoundationDBCluster nobody/],
];

test("[VW8] [VW11] [VW13] mistakes are one line, and nothing is printed", async () => {
  await TestWorld.run({}, async (world) => {
    for (const [args, code, notes] of mistakes) {
      const result = await runPlugin(world, args.split(" "));
      assert.deepEqual([result.code, result.out], [code, ""], args);
      assert.match(result.notes, notes, args);
    }
    const empty = await runPlugin(world, ["status"]);
    assert.equal(
      empty.out,
      "There is no FoundationDBCluster in namespace default (-A looks into all).\n",
    );
  });
});

test("[VW4] [VW9] [VW11] whoever may not read pods or nodes is told so, and sees the rest", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const forbidden = (transport: KubeTransport): KubeTransport => ({
      ...transport,
      watch: (...given) => transport.watch(...given),
      request: async (request) => {
        if (!/\/(pods|nodes)(\/|$)/.test(request.path)) return transport.request(request);
        const body = {
          kind: "Status",
          status: "Failure",
          reason: "Forbidden",
          message: "no",
          code: 403,
        };
        return { status: 403, body };
      },
    });
    const run = runner(world, { through: forbidden });
    const page = await run("status", "sample");
    assert.equal(page.code, 0, page.notes);
    assert.match(page.out, /could not be asked: its pods cannot be read/);
    assert.match(page.out, /Could not be read\n {2}- nodes: not allowed|- pods: not allowed/);
    const tree = await run("tree", "sample");
    assert.match(tree.out, /storage-\d+/);
    assert.match(tree.out, /Roles are not known: its pods cannot be read: not allowed/);
    const logs = await run("logs", "sample");
    assert.deepEqual([logs.code, logs.out], [1, ""]);
    assert.match(logs.notes, /not allowed/);
    assert.ok((await world.client.list(pods, { namespace: "default" })).items.length > 0);
  });
});
