// The watch over backups of simulated lives finds what it is there for: whatever a wrong operator could do is done by hand.
// Rules: spec/world.md [W130]-[W134].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { configMaps } from "../../src/kube/resource.ts";
import { BackupWatch } from "../../src/sim/workloads/backups/backup-watch.ts";
import { restoreProblem } from "../../src/sim/workloads/backups/restore-check.ts";
import { fileSecret } from "../../src/sim/workloads/backups/secret-watch.ts";
import { backupUrl, clusterFile, runCommand } from "./backup-harness.ts";
import { BackupWorld } from "./managed-backup.ts";
import { RestoreWorld } from "./managed-restore.ts";
import { minuteMs, tiny } from "./world-harness.ts";

interface Watched {
  scene: RestoreWorld;
  watch: BackupWatch;
  /** What was found since the last call. */
  found: () => string[];
}

/** A source with a restorable backup and an empty destination, under the eyes of the watch. */
function watched(body: (watched: Watched) => Promise<void>): Promise<void> {
  let watch: BackupWatch | undefined;
  const database = {
    onTool: (...tool: Parameters<BackupWatch["noteTool"]>) => watch?.noteTool(...tool),
  };
  return BackupWorld.run({ database }, async ({ world, store }) => {
    const violations: string[] = [];
    const found = (): string[] => {
      watch?.look();
      return violations.splice(0);
    };
    const scene = new RestoreWorld(world, store);
    const violated = (text: string): void => void violations.push(text);
    watch = new BackupWatch({ world: world.world, store, bucket: "backups", violated });
    watch.look();
    await world.createCluster(tiny, { name: "copy" });
    await scene.write("sample", { a: "1", b: "2" });
    await scene.create({ snapshotPeriodSeconds: 20 });
    await world.untilReconciled(10 * minuteMs, { name: "copy" });
    await scene.untilRestorable();
    await scene.write("sample", { b: "3" });
    await scene.advance(2 * minuteMs);
    watch.containers.look();
    assert.deepEqual(found(), []);
    await body({ scene, watch, found });
  });
}

const store = ["-d", backupUrl("nightly")];

test("[W130] [W133] a restore that is not what the status says is found", () =>
  watched(async ({ scene, watch, found }) => {
    await scene.createRestore();
    await scene.untilCompleted();
    assert.deepEqual(found(), []);
    assert.equal(watch.compared, 1);
    const source = watch.layers.databaseOf("sample");
    const copy = watch.layers.databaseOf("copy");
    const started = [...(copy?.started.values() ?? [])][0];
    const restore = await scene.restore();
    assert.ok(source && started && restore);
    assert.equal(restoreProblem(restore, started, source), undefined);
    const problemOf = (change: Partial<typeof restore>, end = started): string =>
      restoreProblem({ ...restore, ...change }, end, source) ?? "";
    const { status, spec } = restore;
    const version = (status?.target?.version ?? 0) - 60_000_000;
    assert.match(problemOf({ status: { ...status, target: { version } } }), /was restored$/);
    assert.match(problemOf({ spec: { ...spec, to: { version } } }), /was to go to \d+, and went/);
    const time = "2026-01-01T00:00:01Z";
    assert.match(
      problemOf({ spec: { ...spec, to: { time } } }),
      /was to go to 2026-01-01T00:00:01Z/,
    );
    await scene.write("copy", { b: "changed" });
    await scene.advance(1_000);
    watch.look();
    const later = { ...started, stateVersion: copy?.seenVersion ?? 0 };
    assert.match(problemOf({}, later), /differs: b should be 3 and is changed/);
    const elsewhere = { ...spec, keyRanges: [{ start: "x", end: "y" }] };
    assert.match(problemOf({ spec: elsewhere }, later), /changed what it was not to: a should be/);
  }));

test("[W131] what is started twice is found", () =>
  watched(async ({ scene, found }) => {
    const tool = ["-C", clusterFile];
    await scene.createRestore();
    await scene.untilCompleted();
    const { tag = "", target } = await scene.restoreStatus();
    const where = ["--dest-cluster-file", clusterFile, "-r", backupUrl("nightly")];
    const again = ["-t", tag, "-v", String(target?.version), "--add-prefix", "again/"];
    await runCommand(scene.world, "copy", ["fdbrestore", "start", ...where, ...again]);
    const words = found();
    assert.match(words[0] ?? "", /and a restore of the tag \S+ was started before$/);
    assert.match(words[1] ?? "", /^restore of the tag \S+ in copy was started 2 times/);
    await runCommand(scene.world, "sample", ["fdbbackup", "start", ...store, ...tool]);
    assert.match(
      found()[0] ?? "",
      /fdbbackup start, and a backup of the tag default runs already$/,
    );
    await runCommand(scene.world, "sample", ["fdbbackup", "abort", ...tool]);
    await runCommand(scene.world, "sample", ["fdbbackup", "start", ...store, ...tool, "-z"]);
    assert.match(found()[0] ?? "", /in sample was started 2 times and asked for 1 times$/);
  }));

test("[W131] [W132] what goes from the store against its promises is found", () =>
  watched(async ({ scene, watch, found }) => {
    watch.containers.noteForeign("nightly");
    const { snapshots } = watch.containers.truthOf("nightly");
    const cut = snapshots.at(-2) ?? 0;
    const forced = ["--expire-before-version", String(cut), "--force"];
    await runCommand(scene.world, "sample", ["fdbbackup", "expire", ...store, ...forced]);
    const words = found();
    assert.match(words[0] ?? "", /^versions from \d+ to \d+ of nightly were to stay restorable$/);
    assert.match(words[1] ?? "", /^data of somebody else is gone: nightly$/);
    await runCommand(scene.world, "sample", ["fdbbackup", "delete", ...store]);
    const deleted = found();
    assert.match(deleted[0] ?? "", /while the backup of the tag default writes there$/);
    assert.match(deleted[1] ?? "", /^nobody asked for the deletion of nightly$/);
  }));

test("[W134] a secret in an object or in the log is found", () =>
  watched(async ({ scene, watch, found }) => {
    await scene.world.client.create(configMaps, {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "default" } },
      data: { url: `blobstore://KEY:${fileSecret}@store.example.com` },
    });
    assert.match(found()[0] ?? "", /^\/configmaps shows a secret: .*"name":"x"/);
    watch.checkLine(`fdbbackup says ${fileSecret}`);
    assert.match(found()[0] ?? "", /^a secret in the log/);
  }));
