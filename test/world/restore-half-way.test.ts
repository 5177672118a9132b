// What happens around a restore while it runs: its backup is deleted, its spec is changed. Rules: spec/restore.md [RS6], [RS8], [RS38].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { deployments } from "../../src/kube/resource.ts";
import { nightly } from "./managed-backup.ts";
import { RestoreWorld } from "./managed-restore.ts";
import { minuteMs } from "./world-harness.ts";

const namespace = "default";
const agents = { namespace, name: "back-restore-agents" };
/** The store answers so slowly that a restore lasts for a while. */
const slow = { extraLatencyMs: 5_000 };

test("[RS38] a restore whose backup is deleted while it runs keeps its agents as they are, and ends", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    await scene.createRestore();
    await scene.untilRestore(({ running }) => running === true, "the start");
    const before = await scene.world.client.find(deployments, agents);
    await scene.world.client.delete(foundationDbBackups, nightly);
    await scene.untilGone();
    await scene.advance(10_000);
    const after = await scene.world.client.find(deployments, agents);
    assert.deepEqual(after?.spec, before?.spec);
    await scene.untilCompleted();
    assert.equal((await scene.restoreStatus()).state, "completed");
    assert.equal(await scene.lockOf("copy"), undefined);
    await scene.advance(minuteMs);
    assert.equal(await scene.ownAgents(), 0);
  });
});

test("[RS6] a restore goes into the cluster that it was made for", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    await scene.createRestore();
    await scene.untilRestore(({ running }) => running === true, "the start");
    const body = { spec: { destinationClusterName: "sample" } };
    await assert.rejects(
      scene.world.client.patch(foundationDbRestores, { namespace, name: "back" }, body, {
        type: "merge",
      }),
      /destinationClusterName cannot be changed/,
    );
    await scene.untilCompleted();
    assert.equal((await scene.restoreStatus()).state, "completed");
  });
});

test("[RS8] a spec that is made invalid while the start is under way does not hide the restore", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.fail(slow);
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.world.until(async () => scene.begun(mark).includes("start"), "start begins");
    const body = { spec: { addPrefix: "a\\z" } };
    const key = { namespace, name: "back" };
    await scene.world.client.patch(foundationDbRestores, key, body, { type: "merge" });
    await scene.untilReason("InvalidSpec");
    await scene.untilCompleted();
    assert.equal((await scene.restoreStatus()).state, "completed");
    assert.deepEqual(scene.begun(mark), ["describe", "start"]);
    await scene.advance(minuteMs);
    assert.equal(await scene.ownAgents(), 0);
  });
});
