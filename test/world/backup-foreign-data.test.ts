// Data in the store that a backup did not write is never deleted for it. Rules: spec/backup.md [BK77], [BK78].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { BackupWorld } from "./managed-backup.ts";

const namespace = "default";
const store = {
  accountName: "KEY@store.example.com",
  bucket: "backups",
  urlParameters: ["region=eu-1"],
};

test("[BK77] cleanup of a backup that never wrote to its destination deletes nothing there", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ deletionPolicy: "stop" });
    await scene.untilRestorable();
    await scene.world.client.delete(foundationDbBackups, { namespace, name: "nightly" });
    await scene.untilGone();
    const kept = scene.objects("data/nightly/");
    assert.ok(kept > 0);
    await scene.create(
      {
        tag: "other",
        deletionPolicy: "cleanup",
        blobStoreConfiguration: { ...store, backupName: "nightly" },
      },
      "second",
    );
    const holds = ({ blockedBy = [] }: Awaited<ReturnType<typeof scene.status>>): boolean =>
      blockedBy.some(({ reason }) => /BackupDestination/.test(reason));
    await scene.until(holds, "the destination is not empty", 300_000, "second");
    await scene.world.client.delete(foundationDbBackups, { namespace, name: "second" });
    await scene.untilGone("second");
    assert.ok(scene.objects("data/nightly/") >= kept, "the data of the first backup");
    assert.ok(!scene.begun().includes("delete"));
  });
});
