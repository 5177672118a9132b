// Restores that are deleted while they run, in a whole world. Rules: spec/restore.md [RS50], [RS70]-[RS73], [RS81].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { RestoreWorld } from "./managed-restore.ts";
import { minuteMs } from "./world-harness.ts";

/** The store answers so slowly that a restore lasts for a while. */
const slow = { extraLatencyMs: 5_000 };

test("[RS50][RS71][RS72][RS81][RS83] a restore that is deleted while it runs is aborted, and the words say what is left", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    await scene.createRestore();
    await scene.untilRestore(({ running }) => running === true, "the start");
    assert.notEqual(await scene.lockOf("copy"), undefined);
    const { conditions = [], restoreUID, progress } = await scene.restoreStatus();
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type}=${status}`),
      ["Reconciled=False", "Running=True", "Completed=False"],
    );
    assert.match(await scene.messageOf("RestoreRunning"), /the whole database of copy is locked/);
    assert.equal(await scene.lockOf("copy"), restoreUID);
    assert.notEqual(progress?.percent, undefined);
    assert.equal((await scene.world.events("RestoreStarted")).length, 1);
    await scene.deleteRestore();
    await scene.untilRestoreGone();
    assert.equal(await scene.lockOf("copy"), undefined);
    const [event] = await scene.world.events("RestoreAborted");
    assert.match(event?.message ?? "", /^The restore was aborted/);
    await scene.advance(minuteMs);
    assert.equal(await scene.ownAgents(), 0);
  });
});

test("[RS71] a restore that is deleted before its start is known waits for that, and then aborts", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.world.until(async () => scene.begun(mark).includes("start"), "start begins");
    await scene.deleteRestore();
    await scene.untilRestoreGone();
    assert.equal(await scene.lockOf("copy"), undefined);
    assert.deepEqual(scene.begun(mark), ["describe", "start", "abort"]);
  });
});

test("[RS70][RS73] with keep the restore is finished, and the resource goes with its agents", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    await scene.createRestore({ deletionPolicy: "keep" });
    await scene.untilRestore(({ running }) => running === true, "the start");
    const version = (await scene.restoreStatus()).target?.version;
    await scene.deleteRestore();
    await scene.advance(10_000);
    assert.ok((await scene.restoreReasons()).includes("RestoreRunning"));
    await scene.untilRestoreGone();
    assert.deepEqual(await scene.content("copy"), await scene.content("sample", version));
    assert.ok(!scene.begun().includes("abort"));
  });
});

test("[RS71] when the destination is gone first, the resource goes too", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    await scene.createRestore();
    await scene.untilRestore(({ running }) => running === true, "the start");
    await scene.world.client.delete(foundationDbClusters, { namespace: "default", name: "copy" });
    await scene.deleteRestore();
    await scene.untilRestoreGone();
  });
});
