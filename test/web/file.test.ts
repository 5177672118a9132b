// Dashboards of pictures that were saved. Rules: spec/web.md [WEB31].
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { agentLabel } from "../../src/build/backup-deployment.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { loadBundle } from "../../src/report/load-bundle.ts";
import type { LoadedBundle } from "../../src/report/load-bundle.ts";
import { savePicture } from "../../src/preview/save-picture.ts";
import { takePicture } from "../../src/preview/take-picture.ts";
import { fileSource } from "../../src/web/server/file-source.ts";
import type { Picture } from "../../src/preview/picture.ts";
import type { ClusterModel } from "../../src/web/view-model.ts";
import { databaseExec } from "../plugin/database-exec.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { BackupWorld } from "../world/managed-backup.ts";
import { restoreOf } from "../world/managed-restore.ts";
import { minuteMs, small, TestWorld, tiny } from "../world/world-harness.ts";
import { liveSource, TestPage } from "./live-harness.ts";
import { samplePreview } from "./sample-preview.ts";

const folder = mkdtempSync(join(tmpdir(), "fdb-dashboard-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const nameOf = ({ metadata }: Stored<Pod>): string => metadata.name ?? "";

async function agentPods({ client }: TestWorld): Promise<string[]> {
  const { items } = await client.list(pods, {
    ...{ namespace: "default", labelSelector: `${agentLabel}=nightly-backup-agents` },
  });
  assert.ok(items.length > 0);
  return items.map(nameOf).toSorted();
}

const ref = { namespace: "default", name: "sample" };
const sourceOf = (loaded: LoadedBundle): ReturnType<typeof fileSource> =>
  fileSource({ where: "picture", ...loaded, preview: () => Promise.resolve(samplePreview) });

const clusterOf = (source: ReturnType<typeof fileSource>): ClusterModel =>
  source.look(ref, () => {}).model().cluster as ClusterModel;

test("[WEB31] [WEB10] a saved picture and a support bundle are shown as they were (long)", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const { client, clock } = world;
    const exec = databaseExec(world);
    const taking = takePicture({ client, exec, clock }, await world.cluster(), {
      versions: { plugin: "x" },
    });
    savePicture(join(folder, "picture"), await world.during(taking, 60_000, "the picture"));
    const bundle = join(folder, "bundle.tar.gz");
    const report = await runPlugin(world, ["report", "sample", "-f", bundle], { exec });
    assert.equal(report.code, 0, report.notes);
    for (const place of [join(folder, "picture"), bundle]) {
      const loaded = loadBundle(place);
      const { picture } = loaded;
      const source = sourceOf(loaded);
      const model = source.look(ref, () => {}).model();
      const cluster = model.cluster as ClusterModel;
      assert.equal(model.session.source, "file");
      assert.equal(model.session.takenAtMs, Date.parse(picture.takenAt));
      assert.equal(source.nowMs(), model.session.takenAtMs, "ages are those of that time");
      assert.equal(model.session.speed, 0);
      assert.equal(cluster.now.verdict, "healthy");
      const tiles = Object.values(cluster.map.tiles);
      assert.equal(tiles.length, 9);
      assert.ok(tiles.every(({ state }) => state === "well"));
      assert.equal(tiles.filter(({ isCoordinator }) => isCoordinator).length, 3);
      assert.equal(cluster.figures.timesMs.length, 1);
      const problem = place === bundle ? undefined : "a picture of a cluster holds no backups";
      assert.equal(cluster.backups.problem?.slice(0, problem?.length), problem);
      assert.equal(Object.keys(cluster.timeLine.entries).length > 0, place === bundle);
      const [tile] = tiles;
      assert.equal(source.story(ref, tile?.group ?? "")?.pod?.isReady, true);
      assert.match((await source.manifest(ref)) ?? "", /^apiVersion/);
    }
  });
});

test("[WEB31] [PIC30] a bundle fills now, the time line and the backups as a live page does (long)", async () => {
  await BackupWorld.run({ spec: tiny }, async (scene) => {
    const { world } = scene;
    await scene.create();
    await scene.untilRestorable();
    await world.client.create(foundationDbRestores, {
      ...restoreOf({
        destinationClusterName: "sample",
        fromBackup: "nothing",
        agents: { count: 1 },
      }),
    });
    await world.client.create(pods, {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: { ...ref, name: "agent", labels: { [agentLabel]: "back-restore-agents" } },
      spec: { nodeSelector: { is: "nowhere" }, containers: [{ name: "agent", image: "agent" }] },
    });
    await world.changeSpec({ version: "7.1.57" });
    await world.clock.advance(2 * minuteMs);
    const exec = world.world.pods;
    const live = liveSource(world, { exec });
    const page = new TestPage(world, live, "sample");
    const seen = await page.until("it was asked", ({ map }) => map.silent === undefined);
    live.stop();
    const file = join(folder, "backups.tar.gz");
    const report = await runPlugin(world, ["report", "sample", "-f", file], { exec });
    assert.equal(report.code, 0, report.notes);
    const loaded = loadBundle(file);
    const source = sourceOf(loaded);
    const shown = clusterOf(source);
    assert.equal(shown.now.verdict, seen.now.verdict);
    assert.ok(shown.now.recent.length > 0);
    const reasons = ({ now }: ClusterModel): string[] => now.recent.map(({ reason }) => reason);
    assert.deepEqual(reasons(shown), reasons(seen));
    const told = ({ timeLine }: ClusterModel): string[] =>
      Object.keys(timeLine.entries).filter((id) => /^(event|wait|down)\//.test(id));
    assert.ok(told(shown).some((id) => id.startsWith("event/")));
    assert.ok(told(shown).some((id) => id.startsWith("wait/")));
    assert.ok(!told(shown).some((id) => id.startsWith("down/")), "the database serves");
    assert.deepEqual(told(shown).toSorted(), told(seen).toSorted());
    assert.deepEqual(Object.keys(shown.backups.backups), ["nightly"]);
    const [card, before] = [shown, seen].map(({ backups }) => backups.backups["nightly"]);
    assert.equal(card?.window?.from.version, before?.window?.from.version);
    assert.deepEqual([card?.verdict, card?.state], [before?.verdict, before?.state]);
    assert.ok(card?.window !== undefined);
    assert.deepEqual(Object.keys(shown.backups.restores), ["back"]);
    assert.equal(shown.backups.problem, undefined);
    const { clusters } = source.look(undefined, () => {}).model();
    assert.equal(clusters["default/sample"]?.backups?.total, 1);
    assert.deepEqual(loaded.contents?.agents?.map(nameOf), ["agent", ...(await agentPods(world))]);
    assert.match(shown.backups.restores["back"]?.objects[0]?.object ?? "", /^pod\/agent$/);
  });
});

test("[WEB31] [WEB7] what the taker of a bundle may not read is said, and nothing looks ill for it", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    world.world.server.context.authorize = ({ userName, resource }) =>
      userName !== "eve" || resource === "foundationdbclusters";
    const file = join(folder, "few-rights.tar.gz");
    const args = ["--as", "eve", "report", "sample", "-f", file];
    const report = await runPlugin(world, args, { exec: databaseExec(world) });
    assert.equal(report.code, 0, report.notes);
    const source = sourceOf(loadBundle(file));
    const { now, map, backups } = clusterOf(source);
    assert.equal(map.inTrouble, 0, "what was not seen is not ill");
    assert.ok(map.total > 0);
    assert.equal(backups.problem, "backups: not allowed; restores: not allowed");
    for (const what of ["pods", "nodes", "volume claims", "events", "backups", "restores"]) {
      assert.ok(now.unread.includes(`${what}: not allowed`), now.unread.join("\n"));
    }
    const { session, clusters } = source.look(undefined, () => {}).model();
    assert.deepEqual(session.missing, now.unread);
    assert.equal(clusters["default/sample"]?.backups, undefined, "unknown, not none");
  });
});

test("[WEB31] another cluster than that of the picture is missing", async () => {
  const picture = {
    ...{ format: 1, takenAt: "2026-11-17T12:00:00Z", objects: [], otherRequests: [] },
    cluster: {
      apiVersion: "v",
      kind: "FoundationDBCluster",
      metadata: ref,
      spec: { version: "7.3.63" },
    },
    ...{
      databaseStatus: undefined,
      left: [{ what: "pods", why: "not allowed" }],
      versions: { plugin: "x" },
    },
  } as unknown as Picture;
  const source = sourceOf({ picture, contents: undefined });
  const other = { namespace: "default", name: "other" };
  assert.deepEqual(source.look(other, () => {}).model().cluster, {
    ...{ isMissing: true, ...other, why: "picture is of default/sample" },
  });
  assert.deepEqual(source.look(undefined, () => {}).model().session.missing, ["pods: not allowed"]);
  assert.equal(source.story(other, "log-1"), undefined);
  const change = { type: "drain", node: "n" } as const;
  const asked = source.preview(
    { namespace: "x", cluster: "y", change },
    new AbortController().signal,
  );
  await assert.rejects(asked, { status: 404 });
});
