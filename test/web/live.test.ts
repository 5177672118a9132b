// The dashboard of a simulated world: clusters that come up, lose a pod, are upgraded, are stuck and are deleted; users who
// may not see everything; databases that do not answer. Rules: spec/web.md [WEB1], [WEB5], [WEB10], [WEB15], [WEB18], [WEB19].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { AskedAccess } from "../../src/emulator/authorization.ts";
import type { PodExec } from "../../src/kube/pod-exec.ts";
import { pods } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import type { ClusterModel, TimeLineKind } from "../../src/web/view-model.ts";
import { databaseExec } from "../plugin/database-exec.ts";
import { minuteMs, small, TestWorld, tiny } from "../world/world-harness.ts";
import { liveSource, TestPage } from "./live-harness.ts";

const told = ({ timeLine }: ClusterModel, kind: TimeLineKind): string[] =>
  Object.values(timeLine.entries)
    .filter((entry) => entry.kind === kind)
    .map(({ reason }) => reason);

test("[WEB1] [WEB5] [WEB7] a cluster comes up live", async () => {
  await TestWorld.run({}, async (world) => {
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    const before = await page.after(1_000);
    assert.deepEqual(before.clusters, {});
    assert.equal(before.cluster?.isMissing, true);
    await world.createCluster(small);
    const starting = await page.until("it starts", ({ map }) => map.total > 0);
    assert.equal(starting.now.verdict, "starting");
    assert.ok(Object.values(starting.map.tiles).every(({ state }) => state === "starting"));
    const up = await page.until("it is up", ({ now }) => now.verdict === "healthy");
    assert.ok(Object.values(up.map.tiles).every(({ state }) => state === "well"));
    const asked = await page.until("it was asked", ({ map }) => map.silent === undefined);
    const tiles = Object.values(asked.map.tiles);
    assert.equal(tiles.filter(({ isCoordinator }) => isCoordinator).length, 3);
    assert.ok(tiles.some(({ roles }) => roles.includes("log")));
    assert.ok((asked.figures.timesMs.length ?? 0) > 1);
    assert.equal(asked.figures.last?.isAvailable, true);
    assert.ok(told(asked, "act").includes("AddingProcesses"), told(asked, "act").join());
    assert.ok(told(asked, "change").includes("healthy"));
    const { clusters, session } = await page.after(0);
    assert.deepEqual([session.missing, clusters["default/sample"]?.urgency], [[], 0]);
    const story = source.story({ namespace: "default", name: "sample" }, tiles[0]?.group ?? "");
    assert.equal(story?.processes.length, 1);
    assert.match(
      (await source.manifest({ namespace: "default", name: "sample" })) ?? "",
      /^apiVersion: [^]*\nspec:\n {2}version: /,
    );
    source.stop();
  });
});

test("[WEB7] [WEB15] a pod that is deleted is told by its tile at once, and by the time line", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    await page.until("it is there", ({ map }) => map.total > 0 && map.inTrouble === 0);
    const [pod] = await world.pods("storage");
    const name = pod?.metadata.name ?? "";
    const id = pod?.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    await world.client.delete(pods, { namespace: "default", name });
    const hurt = await page.until("it tells", ({ map }) => map.tiles[id]?.state !== "well");
    assert.ok(["starting", "failing"].includes(hurt.map.tiles[id]?.state ?? ""));
    const again = await page.until("it is well again", ({ map }) => map.inTrouble === 0);
    const acts = Object.values(again.timeLine.entries).map(({ text }) => text);
    assert.ok(acts.includes(`1 pod deleted: ${name}`), acts.join("\n"));
    assert.ok(acts.includes(`1 pod created: ${name}`), acts.join("\n"));
    source.stop();
  });
});

test("[WEB15] an upgrade is followed on the time line (long)", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    await page.until("it was asked", ({ figures }) => figures.last !== undefined);
    await world.changeSpec({ version: "7.4.5" });
    const done = await page.until(
      "it is upgraded",
      ({ now }) => now.version.running === "7.4.5" && now.verdict === "healthy",
    );
    const changes = Object.values(done.timeLine.entries).map(({ text }) => text);
    assert.ok(
      changes.some((text) => text.startsWith("the resource was changed: this is its generation")),
    );
    assert.ok(changes.some((text) => text.startsWith("the database runs 7.4.5; before that ")));
    assert.ok(told(done, "recovery").length > 0, "applications had a pause");
    assert.ok(told(done, "act").includes("BouncingProcesses"));
    const open = Object.values(done.timeLine.entries).filter(({ toMs }) => toMs === undefined);
    assert.deepEqual(open, [], "nothing goes on");
    source.stop();
  });
});

test("[WEB15] a change that the operator has had no time to read makes nothing unknown", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    await world.clock.advance(10 * minuteMs);
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    await page.until("it is seen", ({ now }) => now.verdict === "healthy");
    await world.changeSpec({ minimumUptimeSecondsForBounce: 700 });
    const done = await page.until(
      "it is taken in",
      ({ now }) => now.reconciled.generation === now.reconciled.reconciledGeneration,
    );
    assert.ok(told(done, "change").includes("Changed"));
    assert.ok(!told(done, "change").includes("unknown"), told(done, "change").join());
    source.stop();
  });
});

test("[WEB4] [WEB5] a cluster that is stuck says what a person can do", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    await world.changeSpec({ version: "7.1.57" });
    const stuck = await page.until("it is stuck", ({ now }) => now.urgency === 3);
    const wait = stuck.now.waits.find(({ concern }) => concern === "person");
    assert.ok((wait?.remedy ?? "") !== "");
    assert.ok((stuck.now.meanings[wait?.reason ?? ""] ?? "") !== "");
    const { clusters } = await page.after(0);
    assert.equal(clusters["default/sample"]?.waits.first?.reason, wait?.reason);
    source.stop();
  });
});

test("[WEB10] a cluster that is deleted is missing, and comes back when it is made again", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    await page.until("it is there", () => true);
    await world.client.delete(foundationDbClusters, { namespace: "default", name: "sample" });
    const gone = await page.after(5 * minuteMs);
    assert.deepEqual(gone.clusters, {});
    assert.equal(gone.cluster?.isMissing, true);
    await world.createCluster(tiny);
    await page.until("it is back", ({ now }) => now.verdict === "healthy");
    source.stop();
  });
});

/** Open watches by the last part of their path, and how often pods were asked. */
function counted(world: TestWorld): {
  through: (transport: KubeTransport) => KubeTransport;
  exec: PodExec;
  watches: () => string[];
  asks: { all: number; now: number; most: number };
} {
  const open: string[] = [];
  const asks = { all: 0, now: 0, most: 0 };
  const inner = databaseExec(world);
  return {
    through: (transport) => ({
      request: (request) => transport.request(request),
      async watch(request, onEvent) {
        const what = request.path.split("/").at(-1) ?? "";
        open.push(what);
        try {
          return await transport.watch(request, onEvent);
        } finally {
          open.splice(open.indexOf(what), 1);
        }
      },
    }),
    exec: {
      async run(request) {
        asks.all += 1;
        asks.now += 1;
        asks.most = Math.max(asks.most, asks.now);
        const found = await inner.run(request);
        asks.now -= 1;
        return found;
      },
    },
    watches: () => open.toSorted(),
    asks,
  };
}

const own = ["foundationdbbackups", "foundationdbclusters", "foundationdbrestores"];

test("[WEB18] [WEB13] pods and databases are looked at only while somebody looks, and once for all", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const { through, exec, watches, asks } = counted(world);
    const source = liveSource(world, { through, exec });
    const all = new TestPage(world, source);
    await all.after(minuteMs);
    assert.deepEqual([watches(), asks.all], [own, 0]);
    const pages = [1, 2, 3].map(() => new TestPage(world, source, "sample"));
    for (const page of pages) await page.after(10_000);
    const more = ["events", "nodes", "persistentvolumeclaims", "pods"];
    assert.deepEqual(watches(), [...more, ...own].toSorted());
    assert.ok(asks.all >= 4 && asks.all <= 8, `${asks.all} in 30 s`);
    assert.equal(asks.most, 1);
    for (const page of pages) page.end();
    await all.after(10_000);
    const before = asks.all;
    assert.deepEqual(watches(), [...more, ...own].toSorted(), "people go back and forth");
    await all.after(minuteMs);
    assert.deepEqual(watches(), ["nodes", ...own].toSorted());
    assert.equal(asks.all, before);
    const again = new TestPage(world, source, "sample");
    await again.until("it is shown again", ({ map }) => map.total > 0);
    source.stop();
    await world.clock.advance(1_000);
    assert.deepEqual(watches(), [], "nothing is left when it ends");
  });
});

test("[WEB18] a database that answers slowly is asked seldom, and one that is silent is told", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    let asks = 0;
    const slow: PodExec = {
      async run(request) {
        asks += 1;
        await new Promise<void>((resolve) => void world.clock.setTimer(15_000, resolve));
        return { ...(await databaseExec(world).run(request)), exitCode: 1, stderr: "timed out" };
      },
    };
    const source = liveSource(world, { exec: slow });
    const page = new TestPage(world, source, "sample");
    await page.after(5 * minuteMs);
    const { cluster } = await page.after(0);
    assert.ok(asks <= 15, `${asks} commands in five minutes, three in a row`);
    assert.match((cluster as ClusterModel).map.silent ?? "", /exit code 1: timed out/);
    assert.match((cluster as ClusterModel).figures.silent ?? "", /timed out/);
    source.stop();
  });
});

/** The API server refuses everything else to the user of the dashboard, and nothing to anybody else. */
function allow(world: TestWorld, mayDo: (asked: AskedAccess) => boolean): void {
  world.world.server.context.authorize = (asked) => asked.userName !== "dashboard" || mayDo(asked);
}

const ownExec = (world: TestWorld): PodExec => world.world.server.pods("dashboard");

test("[WEB19] who may see less sees the rest, and is told what is missing until it is allowed", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const refused = ["events", "nodes", "foundationdbbackups"];
    allow(world, ({ resource }) => !refused.includes(resource));
    const source = liveSource(world, { exec: ownExec(world) });
    const page = new TestPage(world, source, "sample");
    const found = await page.until("it is shown", ({ map }) => map.silent === undefined);
    assert.deepEqual(found.now.unread, ["events: not allowed", "nodes: not allowed"]);
    assert.equal(found.backups.problem, "backups: not allowed");
    assert.ok(found.map.total > 0 && found.map.inTrouble === 0);
    const { session, clusters } = await page.after(0);
    assert.deepEqual(session.missing, ["backups: not allowed"]);
    assert.equal(clusters["default/sample"]?.backups, undefined);
    allow(world, () => true);
    const all = await page.until("it is allowed", ({ now }) => now.unread.length === 0);
    assert.equal(all.backups.problem, undefined);
    assert.ok(all.now.recent.length > 0, "events are read");
    assert.deepEqual((await page.after(minuteMs)).session.missing, []);
    source.stop();
  });
});

test("[WEB19] who may see only the resource sees that", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    allow(world, ({ resource }) => resource === "foundationdbclusters");
    const source = liveSource(world, { namespace: "default", exec: ownExec(world) });
    const page = new TestPage(world, source, "sample");
    const found = await page.until("it is shown", ({ map }) => map.total > 0);
    assert.equal(found.now.verdict, "healthy");
    assert.equal(found.map.silent, "its pods cannot be read");
    assert.equal(found.map.inTrouble, 0, "what cannot be seen is not ill");
    assert.equal(found.now.unread.length, 4);
    source.stop();
  });
});

test("[WEB19] who may not run commands in pods sees no roles and no figures, and is told why", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    allow(world, ({ resource }) => resource !== "pods/exec");
    const source = liveSource(world, { exec: ownExec(world) });
    const page = new TestPage(world, source, "sample");
    const refusal = /: not allowed to run fdbcli in it$/;
    const found = await page.until("it is told", ({ map }) => refusal.test(map.silent ?? ""));
    assert.match(found.figures.silent ?? "", refusal);
    assert.deepEqual([found.now.verdict, found.now.unread], ["healthy", []]);
    assert.ok(Object.values(found.map.tiles).every(({ state }) => state === "well"));
    source.stop();
  });
});

test("[WEB19] who may list and not watch sees what was there last, and is told so", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    allow(world, ({ resource, verb }) => resource !== "pods" || verb !== "watch");
    const source = liveSource(world, { exec: ownExec(world) });
    const page = new TestPage(world, source, "sample");
    const isTold = ({ now }: ClusterModel): boolean => now.unread.length > 0;
    const found = await page.until("it is told", isTold);
    assert.deepEqual(found.now.unread, ["pods: not allowed; shown as last seen"]);
    assert.ok(found.map.total > 0 && found.map.inTrouble === 0);
    source.stop();
  });
});

test("[WEB19] rights that are taken away are told, and what was seen stays", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const source = liveSource(world, { exec: ownExec(world) });
    const page = new TestPage(world, source, "sample");
    await page.until("it is shown", ({ map }) => map.silent === undefined);
    allow(world, () => false);
    await page.until("the database is silent", ({ map }) => map.silent !== undefined);
    // Watches go on until they end, as those of a real server do.
    const found = await page.until("it is told", ({ now }) => now.unread.length === 4);
    assert.ok(found.now.unread.every((text) => text.endsWith(": not allowed; shown as last seen")));
    assert.ok(found.map.total > 0 && found.map.inTrouble === 0);
    const { session } = await page.after(20 * minuteMs);
    assert.deepEqual(
      session.missing,
      ["clusters", "backups", "restores"].map((what) => `${what}: not allowed; shown as last seen`),
    );
    source.stop();
  });
});

test("[WEB19] clusters of other namespaces are not shown, nor watched for", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    await world.createNamespace("other");
    const { through, watches } = counted(world);
    const source = liveSource(world, { through, namespace: "other" });
    const page = new TestPage(world, source, "sample");
    const { clusters, cluster } = await page.after(minuteMs);
    assert.deepEqual([clusters, cluster?.isMissing], [{}, true]);
    assert.deepEqual(watches(), own);
    source.stop();
  });
});

test("[WEB1] a cluster at rest pushes nothing but figures, and its headline now and then", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const source = liveSource(world);
    const page = new TestPage(world, source, "sample");
    await page.until("it was asked", ({ figures }) => figures.timesMs.length > 3);
    page.pushed.length = 0;
    for (let look = 0; look < 20; look += 1) await page.after(5_000);
    const bytes = page.pushed.reduce((sum, one) => sum + one, 0) / page.pushed.length;
    assert.ok(bytes < 3_000, `${bytes} bytes for a look`);
    source.stop();
  });
});
