// What is in the way of a restore, found before anything is written or locked. Rules: spec/restore.md [RS31]-[RS55].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { backupOf, nightly } from "./managed-backup.ts";
import { RestoreWorld } from "./managed-restore.ts";
import type { StoredObject } from "../../src/sim/backup/container-objects.ts";
import { minuteMs } from "./world-harness.ts";

/** Nothing was begun, and the destination is as it was. */
async function assertUntouched(scene: RestoreWorld, mark: number): Promise<void> {
  assert.ok(!scene.begun(mark).includes("start"), scene.begun(mark).join());
  assert.equal(await scene.lockOf("copy"), undefined);
}

test("[RS40][RS62] a destination with a key in it is not overwritten; when it is empty the restore begins by itself", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.write("copy", { [`mine/${"x".repeat(60)}`]: "1" });
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.untilReason("RestoreDestinationNotEmpty");
    const message = await scene.messageOf("RestoreDestinationNotEmpty");
    assert.match(message, /the range '' to '\\xff' is not empty/);
    assert.match(message, /the key 'mine\/x{20,40}…'/);
    await scene.advance(5 * minuteMs);
    await assertUntouched(scene, mark);
    assert.equal(await scene.ownAgents(), 0, "no agents before it can begin");
    assert.equal((await scene.world.events("RestoreDestinationNotEmpty")).length, 1);
    await scene.clear("copy");
    await scene.untilCompleted();
    const { target } = await scene.restoreStatus();
    assert.deepEqual(await scene.content("copy"), await scene.content("sample", target?.version));
  });
});

test("[RS41] the source itself is not overwritten, and the answer names the ways", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.createRestore({ destinationClusterName: "sample" });
    await scene.untilReason("RestoreIntoSource");
    const { blockedBy = [] } = await scene.restoreStatus();
    assert.match(blockedBy[0]?.remedy ?? "", /spec\.addPrefix/);
    assert.match(blockedBy[0]?.message ?? "", /sample is the database that the backup is of/);
  });
});

test("[RS42] a database that somebody else has locked is not waited for in a hanging command", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const { fdb } = scene.world.world;
    const { connectionString = "" } = (await scene.world.cluster({ name: "copy" })).status ?? {};
    const uid = fdb.lock(connectionString);
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.untilReason("RestoreDatabaseLocked");
    assert.ok((await scene.messageOf("RestoreDatabaseLocked")).includes(uid ?? "?"));
    assert.deepEqual(scene.begun(mark), []);
    fdb.unlock(connectionString);
    await scene.untilCompleted();
  });
});

test("[RS45] a backup that is not there is waited for", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.createRestore({ fromBackup: "nightlu" });
    await scene.untilReason("RestoreSourceMissing");
    assert.match(await scene.messageOf("RestoreSourceMissing"), /nightlu/);
  });
});

test("[RS46] a store without such a backup is told apart from one that does not answer (long)", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const store = backupOf().spec.blobStoreConfiguration;
    assert.ok(store);
    const spec = { fromBackup: undefined, blobStoreConfiguration: { ...store, backupName: "no" } };
    const template = backupOf().spec.podTemplateSpec ?? {};
    const agents = { podTemplateSpec: template, imageType: "unified" } as const;
    const mark = scene.world.requests.length;
    await scene.createRestore({ ...spec, agents });
    await scene.untilReason("RestoreNotRestorable");
    assert.match(await scene.messageOf("RestoreNotRestorable"), /There is no backup at blobstore/);
    await scene.createRestore({ ...spec, agents: { imageType: "unified" } }, "keyless");
    await scene.untilReason("BackupCredentialsMissing", "keyless");
    await assertUntouched(scene, mark);
  });
});

test("[RS47] a point outside of the window is refused, and the answer names the window", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const mark = scene.world.requests.length;
    await scene.createRestore({ to: { version: 1 } });
    await scene.untilReason("RestoreOutsideWindow");
    const { window } = await scene.restoreStatus();
    const message = await scene.messageOf("RestoreOutsideWindow");
    assert.ok(message.includes(`version ${window?.from}`), message);
    assert.ok(message.includes(`version ${window?.to}`), message);
    const time = new Date(scene.world.clock.nowMs() + 5 * minuteMs).toISOString();
    await scene.createRestore({ to: { time } }, "future");
    await scene.untilReason("RestoreOutsideWindow", "future");
    assert.match(
      await scene.messageOf("RestoreOutsideWindow", "future"),
      /Z \(that lies in the future\): it reaches/,
    );
    assert.match(await scene.messageOf("RestoreOutsideWindow", "future"), /about 20\d\d-/);
    await assertUntouched(scene, mark);
  });
});

test("[RS57][BK26] after a stop and another start in the same place the latest point is not silently an old one", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.change({ backupState: "Stopped" });
    await scene.until(({ state }) => state === "Completed", "the end", 10 * minuteMs);
    await scene.advance(2 * minuteMs);
    await scene.write("sample", { z: "written between the two" });
    await scene.change({ backupState: "Running" });
    await scene.until(({ state }) => state === "RunningDifferentially", "another start");
    await scene.until(({ gap }) => gap?.looked !== undefined, "a look at the store");
    const { gap, restorable, conditions } = await scene.status();
    assert.equal(gap?.closed, undefined);
    assert.ok((restorable?.to?.version ?? Infinity) < (gap?.after ?? 0), "what lay before it");
    assert.equal(conditionIn({ conditions }, "Restorable")?.reason, "Gap");
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.untilReason("RestoreOutsideWindow");
    const message = await scene.messageOf("RestoreOutsideWindow");
    const [, before] = /gap: the tools restore no later version than (\d+)/.exec(message) ?? [];
    await assertUntouched(scene, mark);
    await scene.deleteRestore();
    await scene.untilRestoreGone();
    await scene.createRestore({ to: { version: Number(before) } });
    await scene.untilCompleted();
    assert.deepEqual(
      await scene.content("copy"),
      await scene.content("sample", Number(before)),
      "what the answer names is possible",
    );
  });
});

test("[RS31][RS47] logs that were lost in the store end the window, although an earlier look had seen them", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.createRestore({ to: { version: 1 } });
    await scene.untilReason("RestoreOutsideWindow");
    const { window } = await scene.restoreStatus();
    const [from, to] = [window?.from ?? 0, window?.to ?? 0];
    const isNewest = ({ content }: StoredObject): boolean =>
      content.kind === "log" && content.endVersion > to;
    assert.ok(scene.store.lose("backups", isNewest) > 0);
    const mark = scene.world.requests.length;
    await scene.createRestore({ to: { version: to } }, "late");
    await scene.untilReason("RestoreOutsideWindow", "late");
    const late = (await scene.restoreStatus("late")).window;
    assert.equal(late?.from, from);
    assert.ok((late?.to ?? to) < to, `${late?.to} ${to}`);
    await assertUntouched(scene, mark);
  });
});

test("[RS25] a restore does not begin while its destination is to be left alone, and begins by itself afterwards (long)", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.world.changeSpec({ skip: true }, { name: "copy" });
    await scene.advance(minuteMs);
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.untilReason("BackupClusterSkipped");
    await scene.advance(10 * minuteMs);
    assert.deepEqual(scene.begun(mark), []);
    await assertUntouched(scene, mark);
    const [wait] = (await scene.restoreStatus()).blockedBy ?? [];
    assert.equal(wait?.remedy, "Set spec.skip of the cluster copy to false.");
    await scene.world.changeSpec({ skip: false }, { name: "copy" });
    await scene.untilCompleted();
  });
});

test("[RS49] a time of which nothing is known is refused", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const store = backupOf().spec.blobStoreConfiguration;
    assert.ok(store);
    const time = new Date(scene.world.clock.nowMs()).toISOString();
    await scene.createRestore({
      fromBackup: undefined,
      blobStoreConfiguration: { ...store, backupName: "nightly" },
      agents: { podTemplateSpec: backupOf().spec.podTemplateSpec ?? {}, imageType: "unified" },
      to: { time },
    });
    await scene.untilReason("RestoreTimeUnknown");
    assert.match(await scene.messageOf("RestoreTimeUnknown"), /spec\.timeline is empty/);
  });
});

test("[RS36] paused agents hold a restore back before it locks the database", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.change({ backupState: "Paused" });
    await scene.until(({ state }) => state === "Paused", "paused");
    const mark = scene.world.requests.length;
    const part = { destinationClusterName: "sample", addPrefix: "old/" };
    await scene.createRestore(part);
    await scene.untilReason("RestoreAgentsPaused");
    assert.equal(await scene.lockOf("sample"), undefined);
    assert.deepEqual(scene.begun(mark), []);
    await scene.change({ backupState: "Running" });
    await scene.untilCompleted();
  });
});

test("[RS31][RS37] agents of the destination that cannot read the backup, or are of another version, hold it back (long)", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const store = backupOf().spec.blobStoreConfiguration;
    assert.ok(store);
    const mark = scene.world.requests.length;
    const weekly = {
      clusterName: "copy",
      tag: "weekly",
      backupState: "Stopped",
    } as const;
    const keyless = { spec: { containers: [] } };
    await scene.create({ ...weekly, podTemplateSpec: keyless, version: "7.1.57" }, "weekly");
    await scene.createRestore();
    await scene.untilReason("BackupVersionMismatch");
    assert.match(await scene.messageOf("BackupVersionMismatch"), /^Agents of the backup weekly /);
    await scene.change({ version: "7.3.63" }, "weekly");
    await scene.untilReason("BackupCredentialsMissing");
    await assertUntouched(scene, mark);
    await scene.change({ podTemplateSpec: backupOf().spec.podTemplateSpec ?? {} }, "weekly");
    await scene.untilCompleted();
    assert.equal(await scene.ownAgents(), 0);
  });
});

test("[RS34][RS35] without an agent that is ready and speaks nothing is started", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const mark = scene.world.requests.length;
    const spec = { nodeSelector: { disk: "none" }, containers: [] };
    await scene.createRestore({ agents: { imageType: "unified", podTemplateSpec: { spec } } });
    await scene.untilReason("RestoreAgentsMissing");
    await scene.advance(3 * minuteMs);
    await assertUntouched(scene, mark);
  });
});

test("[RS52] a damaged file is told of while the restore stands still", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    scene.store.damage("backups", ({ key }) => key.includes("ranges") || key.includes("logs"));
    await scene.createRestore();
    await scene.untilReason("BackupDataDamaged");
    assert.match(await scene.messageOf("BackupDataDamaged"), /stands still/);
    await scene.deleteRestore();
    await scene.untilRestoreGone();
    assert.equal(await scene.lockOf("copy"), undefined);
  });
});

test("[RS4] a restore whose database was made anew is not started again", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.world.client.delete(foundationDbBackups, nightly);
    await scene.createRestore({
      fromBackup: undefined,
      blobStoreConfiguration: { accountName: "KEY@store.example.com", bucket: "backups" },
    });
    const { client } = scene.world;
    await scene.untilRestore(({ conditions }) => conditions !== undefined, "a first look");
    const mark = scene.world.requests.length;
    const stored = await scene.restore();
    assert.ok(stored);
    const status = { ...stored.status, running: true, state: "running" };
    await client.updateStatus(foundationDbRestores, { ...stored, status });
    await scene.untilReason("RestoreLost");
    await scene.advance(5 * minuteMs);
    assert.deepEqual(scene.begun(mark), []);
  });
});
