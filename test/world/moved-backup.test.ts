// A backup that is moved while a snapshot is under way, and what can be restored from its new place.
// Rules: spec/backup.md [BK28], [BK29], spec/restore.md [RS47].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { BackupWorld } from "./managed-backup.ts";
import { RestoreWorld } from "./managed-restore.ts";
import { minuteMs } from "./world-harness.ts";

const name = "young";

// In three of these the logs of the new place reach back to the beginning of the snapshot that was under way, and FoundationDB
// describes it as restorable there.
for (const seconds of [5, 15, 30, 75]) {
  test(`[BK28] [RS47] moved ${seconds} s after its start, a backup can be restored from what it shows (long)`, async () => {
    await RestoreWorld.runRestores({}, async (scene) => {
      await scene.create({ tag: name }, name);
      await scene.until(({ backupUID }) => backupUID !== undefined, "its start", minuteMs, name);
      await scene.advance(seconds * 1000);
      await scene.change({ blobStoreConfiguration: { backupName: "moved" } }, name);
      await scene.until(({ moved }) => moved !== undefined, "the move", 5 * minuteMs, name);
      const isShown = ({ restorable }: { restorable?: object }): boolean =>
        restorable !== undefined;
      await scene.until(isShown, "a window in the new place", 10 * minuteMs, name);
      const { restorable, moved } = await scene.status(name);
      const version = restorable?.from?.version ?? 0;
      assert.ok(version > (moved?.version ?? Infinity));
      await scene.createRestore({ fromBackup: name, to: { version } });
      await scene.untilCompleted();
      assert.equal((await scene.restoreStatus()).state, "completed");
      assert.deepEqual(await scene.content("copy"), await scene.content("sample", version));
    });
  });
}

test("[BK77] the only backup, moved, goes with its data while nothing can be restored from its new place", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ deletionPolicy: "cleanup", snapshotPeriodSeconds: 600 });
    await scene.untilRestorable();
    await scene.change({ blobStoreConfiguration: { backupName: "moved" } });
    await scene.until(({ moved }) => moved !== undefined, "the move");
    const key = { namespace: "default", name: "nightly" };
    await scene.world.client.delete(foundationDbBackups, key);
    await scene.untilGone();
  });
});

test("[BK28] [RS47] a move is remembered when the status is lost, and by a restore that names the place", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.create({ tag: name }, name);
    await scene.until(({ backupUID }) => backupUID !== undefined, "its start", minuteMs, name);
    await scene.advance(15_000);
    await scene.change({ blobStoreConfiguration: { backupName: "moved" } }, name);
    await scene.until(({ moved }) => moved !== undefined, "the move", 5 * minuteMs, name);
    const { moved } = await scene.status(name);
    await scene.advance(2_000);
    const { client } = scene.world;
    const key = { namespace: "default", name };
    const { spec, status = {} } = await client.get(foundationDbBackups, key);
    const nulls = Object.fromEntries(Object.keys(status).map((field) => [field, null]));
    const options = { type: "merge", subresource: "status" } as const;
    await client.patch(foundationDbBackups, key, { status: nulls }, options);
    await scene.until(({ backupUID }) => backupUID !== undefined, "a status", minuteMs, name);
    const now = await scene.status(name);
    assert.deepEqual([now.moved?.version, now.restorable], [moved?.version, undefined]);
    const { blobStoreConfiguration, podTemplateSpec } = spec;
    const agents = { count: 1, ...(podTemplateSpec && { podTemplateSpec }) };
    const named = { ...(blobStoreConfiguration && { blobStoreConfiguration }), agents };
    const isProven = (seen: { moved?: { from?: object } }): boolean =>
      seen.moved?.from !== undefined;
    await scene.until(isProven, "a window in the new place", 10 * minuteMs, name);
    // FoundationDB also restores from the snapshot before, which is divided between the two places.
    const version = ((await scene.status(name)).moved?.from?.version ?? 0) - 1;
    await scene.createRestore({ fromBackup: undefined, ...named, to: { version } });
    await scene.advance(30_000);
    assert.deepEqual(await scene.restoreReasons(), ["RestoreOutsideWindow"]);
  });
});
