// Data that a restore reads is not deleted under it: the restore would stand still with its destination locked.
// Rules: spec/backup.md [BK79].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { nightly } from "./managed-backup.ts";
import { RestoreWorld } from "./managed-restore.ts";

test("[BK79] cleanup waits for a restore that reads the data", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.change({ deletionPolicy: "cleanup" });
    await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
    scene.store.fail({ extraLatencyMs: 5_000 });
    await scene.createRestore();
    await scene.untilRestore(({ running }) => running === true, "the start");
    await scene.world.client.delete(foundationDbBackups, nightly);
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupBeingRestored"),
      "BackupBeingRestored",
    );
    await scene.untilCompleted();
    assert.equal((await scene.restoreStatus()).state, "completed");
    await scene.untilGone();
    assert.equal(scene.objects("data/nightly/"), 0);
  });
});
