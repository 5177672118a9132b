// Backups that the operator looks after, in a whole world with simulated agents, tools and stores.
// Rules: spec/backup.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { secrets } from "../../src/kube/resource.ts";
import { setAgentsPaused } from "../../src/fdb/backup-layer.ts";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { BackupWorld, nightly } from "./managed-backup.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Resource, Stored } from "../../src/kube/resource.ts";
import { exampleText } from "./example.ts";
import { withAdmin } from "./with-admin.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

/** Figures and times of a backup that is well, every ten minutes. */
const atRest = new Set([
  "update foundationdbbackups/status nightly",
  "update configmaps nightly-timeline",
]);

test("[BK51][BK53][BK80][BK95] a backup is looked at, started, becomes restorable, and then costs nothing", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    assert.deepEqual(scene.begun(), ["describe", "start"]);
    await scene.advance(minuteMs);
    const status = await scene.status();
    assert.equal(status.state, "RunningDifferentially");
    assert.deepEqual(status.blockedBy, undefined);
    assert.equal(
      status.backupDetails?.url,
      "blobstore://KEY@store.example.com:443/nightly?bucket=backups&region=eu-1",
    );
    assert.ok((status.restorable?.to?.version ?? 0) > (status.restorable?.from?.version ?? 0));
    assert.ok(status.restorable?.to?.time !== undefined && status.lag !== undefined);
    const mark = scene.world.requests.length;
    await scene.advance(8 * minuteMs);
    assert.deepEqual(scene.world.writesSince(mark), [], "no write in eight minutes");
    await scene.advance(12 * minuteMs);
    const writes = scene.world.writesSince(mark);
    assert.deepEqual(new Set(writes.filter((write) => !write.startsWith("delete pods"))), atRest);
    assert.ok(writes.length <= 6, writes.join());
    assert.deepEqual(await scene.commandPods(), [], "finished commands are gone");
    const told = await Promise.all(
      ["BackupRunning", "BackupRestorable", "ReconciliationComplete"].map(
        async (reason) =>
          (await scene.world.events(reason)).filter(
            ({ involvedObject }) => involvedObject.kind === "FoundationDBBackup",
          ).length,
      ),
    );
    assert.deepEqual(told, [1, 1, 1]);
    scene.world.assertDataSafe();
  });
});

test("[BK20] a look at a backup at rest costs fifteen reads, however long it has run (long)", async () => {
  const looks: number[] = [];
  const wrapAdmin = withAdmin((client) => ({
    transact: (body, options) => {
      let reads = 0;
      const counted = client.transact((transaction) => {
        const get: typeof transaction.get = (...parts) => ((reads += 1), transaction.get(...parts));
        const getRange: typeof transaction.getRange = (...parts) => (
          (reads += 1),
          transaction.getRange(...parts)
        );
        return body({ ...transaction, get, getRange });
      }, options);
      return counted.finally(() => looks.push(reads));
    },
  }));
  await BackupWorld.run({ wrapAdmin }, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.advance(40 * minuteMs);
    const mark = looks.length;
    await scene.advance(20 * minuteMs);
    const found = looks.slice(mark).toSorted((left, right) => right - left);
    assert.ok(found.length >= 20 && found.length <= 45, String(found.length));
    assert.equal(found[0], 15);
  });
});

test("[BK57] period and destination follow the spec", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    const mark = scene.world.requests.length;
    await scene.change({ snapshotPeriodSeconds: 120 });
    await scene.until(({ backupDetails }) => backupDetails?.snapshotTime === 120, "the new period");
    assert.deepEqual(scene.begun(mark), ["modify"]);
    await scene.change({ blobStoreConfiguration: { backupName: "moved" } });
    await scene.until(
      ({ backupDetails }) => backupDetails?.url?.includes("/moved?") === true,
      "the new destination",
    );
    assert.deepEqual(scene.begun(mark), ["modify", "describe", "modify"]);
    await scene.until(({ generations }) => generations?.reconciled === 3, "reconciled");
    await scene.advance(5 * minuteMs);
    // The new place is looked into ([BK29]); nothing is changed again.
    const changes = scene.begun(mark).filter((command) => command !== "describe");
    assert.deepEqual(changes, ["modify", "modify"]);
  });
});

test("[BK53] a backup is stopped so that it can be restored, and started again in its place", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.change({ backupState: "Stopped" });
    await scene.until(({ state }) => state === "Completed", "the end");
    await scene.advance(2 * minuteMs);
    assert.deepEqual(scene.begun(), ["describe", "start", "discontinue"]);
    assert.equal((await scene.status()).generations?.reconciled, 2);
    const first = (await scene.status()).backupUID;
    await scene.change({ backupState: "Running" });
    await scene.until(({ state }) => state === "RunningDifferentially", "it runs again");
    assert.deepEqual(scene.begun(), ["describe", "start", "discontinue", "start", "describe"]);
    assert.notEqual((await scene.status()).backupUID, first);
  });
});

test("[BK37] a one-time backup runs once", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ backupMode: "oneTime" });
    await scene.until(({ state }) => state === "Completed", "the end");
    await scene.advance(10 * minuteMs);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
    const { generations, conditions } = await scene.status();
    assert.equal(generations?.reconciled, 1);
    assert.deepEqual(
      conditions?.map(({ type, status }) => `${type}=${status}`),
      ["Reconciled=True", "Running=False", "Restorable=True", "Behind=False"],
    );
  });
});

test("[BK60] the spec decides about pauses, also against a person", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.change({ backupState: "Paused" });
    await scene.until(({ state }) => state === "Paused", "paused");
    await scene.change({ backupState: "Running" });
    await scene.until(({ state }) => state === "RunningDifferentially", "resumed");
    const { connectionString = "" } = (await scene.world.cluster()).status ?? {};
    const { admin } = scene.world.world.fdb;
    const client = admin.open({ name: "person", connectionString, version: "7.3.63" });
    await scene.world.during(setAgentsPaused(client, true, 10_000), minuteMs, "a pause by hand");
    client.close();
    await scene.advance(2 * minuteMs);
    assert.equal((await scene.status()).backupDetails?.paused, false);
    assert.deepEqual(scene.begun(), ["describe", "start"], "a pause needs no command");
  });
});

test("[BK62] backups of one database that disagree are left as they are", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.create(
      {
        tag: "weekly",
        backupState: "Paused",
        blobStoreConfiguration: {
          accountName: "KEY@store.example.com",
          bucket: "backups",
          backupName: "weekly",
          urlParameters: ["region=eu-1"],
        },
      },
      "weekly",
    );
    await scene.advance(3 * minuteMs);
    for (const name of ["nightly", "weekly"]) {
      assert.deepEqual(await scene.reasons(name), ["BackupPauseDisputed"], name);
    }
    assert.equal((await scene.status()).backupDetails?.paused, false);
    await scene.change({ backupState: "Running" }, "weekly");
    await scene.untilRestorable("weekly");
    assert.deepEqual(await scene.reasons(), []);
  });
});

test("[BK72] stop ends the backup and keeps its data", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ deletionPolicy: "stop" });
    await scene.untilRestorable();
    await scene.world.client.delete(...deletion());
    await scene.untilGone();
    assert.deepEqual(scene.begun(), ["describe", "start", "abort"]);
    assert.ok(scene.objects() > 0);
    await scene.advance(minuteMs);
    assert.deepEqual(await scene.agents(), [], "the agents go with the resource");
  });
});

test("[BK73][BK76] cleanup deletes the data once somebody has said that it may", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ deletionPolicy: "cleanup" });
    await scene.untilRestorable();
    await scene.world.client.delete(...deletion());
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupIsLast"),
      "the wait",
    );
    await scene.advance(5 * minuteMs);
    assert.ok(scene.objects() > 0);
    await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
    await scene.untilGone();
    assert.equal(scene.objects(), 0);
    assert.deepEqual(scene.begun(), ["describe", "start", "abort", "delete"]);
  });
});

test("[BK71] what became restorable while no operator looked is not deleted, although the database is gone by then", async () => {
  await BackupWorld.run({}, async (scene) => {
    const { world } = scene.world;
    await scene.create({ deletionPolicy: "cleanup" });
    await scene.until(({ backupDetails }) => backupDetails?.running === true, "it runs");
    assert.equal((await scene.status()).backupDetails?.restorable, false);
    await scene.world.during(world.stopOperator(), minuteMs, "the end of the operator");
    await scene.advance(3 * minuteMs);
    const key = { namespace: "default", name: "sample" };
    await scene.world.client.delete(foundationDbClusters, key);
    await scene.world.client.delete(...deletion());
    await scene.advance(minuteMs);
    world.startOperator();
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupIsLast"),
      "the wait",
    );
    await scene.advance(10 * minuteMs);
    assert.ok(scene.objects() > 0);
    assert.ok(!scene.begun().includes("delete"));
    await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
    await scene.untilGone();
    assert.equal(scene.objects(), 0);
  });
});

test("[BK70] with noop the backup goes on without the resource, and is found again by a new one", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    const { backupUID } = await scene.status();
    await scene.world.client.delete(...deletion());
    await scene.untilGone();
    await scene.advance(minuteMs);
    await scene.create();
    await scene.untilRestorable();
    assert.equal((await scene.status()).backupUID, backupUID);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
  });
});

function deletion(): Parameters<BackupWorld["world"]["client"]["delete"]> {
  return [foundationDbBackups, nightly];
}

test("[BK51][BK53] the example of the manual becomes restorable", async () => {
  await TestWorld.runWithCluster({ spec: {} }, async (world) => {
    const documents = parseAllDocuments(exampleText("backup.yaml"));
    const [secret, backup] = documents.map((each) => each.toJS() as Stored<object>);
    assert.ok(secret !== undefined && backup !== undefined);
    for (const [resource, object] of [
      [secrets, secret],
      [foundationDbBackups, backup],
    ] as [Resource<KubeObject>, Stored<object>][]) {
      const metadata = { namespace: "default", ...object.metadata };
      await world.client.create(resource, { ...object, metadata });
    }
    await world.until(
      async () =>
        (await world.client.get(foundationDbBackups, nightly)).status?.backupDetails?.restorable ===
        true,
      "the example is restorable",
    );
    assert.equal((await world.events("SpecWarning")).length, 0);
  });
});
