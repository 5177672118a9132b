// Backups of a database that sleeps. Rules: spec/backup.md [BK84].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { conditionIn } from "../../src/kube/condition.ts";
import { explainBackup } from "../../src/plugin/explain/backup.ts";
import { BackupWorld } from "./managed-backup.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

async function sleep({ world }: BackupWorld): Promise<void> {
  await world.changeSpec({ hibernate: true, hibernateDespite: ["RunningBackup"] });
  const isAsleep = async (): Promise<boolean> =>
    conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
  await world.until(isAsleep, "the database sleeps", 15 * minuteMs);
}

async function headline(scene: BackupWorld): Promise<string> {
  const backup = await scene.find();
  assert.ok(backup);
  const input = { backup, pods: [], events: [], unread: [] };
  return explainBackup(input, scene.world.clock.nowMs()).headline;
}

test("[BK84] a backup of a sleeping database says so, does not alarm, and goes on when it wakes (long)", async () => {
  await BackupWorld.run({ nodes: 9 }, async (scene) => {
    const { world } = scene;
    await scene.create();
    await scene.untilRestorable();
    await scene.until(({ generations }) => generations?.reconciled === 1, "it is reconciled");
    await sleep(scene);
    await scene.until(({ state }) => state === "Asleep", "it says that the database sleeps");
    await world.clock.advance(hourMs);
    const mark = world.requests.length;
    await world.clock.advance(9 * hourMs);
    const written = world.writesSince(mark).filter((text) => text.includes("foundationdbbackup"));
    assert.deepEqual(written, [], "nothing is written meanwhile");
    const status = await scene.status();
    const running = conditionIn(status, "Running");
    assert.deepEqual([running?.status, running?.reason], ["False", "Asleep"]);
    assert.match(running?.message ?? "", /The database sleeps: it was stopped at 20/);
    const behind = conditionIn(status, "Behind");
    assert.deepEqual([behind?.status, behind?.reason], ["False", "Asleep"]);
    assert.equal(conditionIn(status, "Reconciled")?.status, "True");
    assert.equal(conditionIn(status, "Restorable")?.status, "True");
    assert.equal(status.lag, undefined);
    assert.equal(status.backupDetails?.running, false);
    assert.deepEqual(await scene.reasons(), []);
    assert.match(await headline(scene), /The database sleeps: .* It can be restored\./);

    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(20 * minuteMs);
    await scene.until(
      (now) =>
        conditionIn(now, "Running")?.status === "True" &&
        conditionIn(now, "Behind")?.reason === "UpToDate",
      "it runs again",
      15 * minuteMs,
    );
    assert.equal(scene.begun().filter((command) => command === "start").length, 1);
  });
});

test("[BK84] a change of a backup waits while the database sleeps, and says why (long)", async () => {
  await BackupWorld.run({ nodes: 9 }, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await sleep(scene);
    await scene.change({ backupState: "Stopped" });
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupClusterAsleep"),
      "it waits",
    );
    await scene.world.clock.advance(3 * hourMs);
    assert.match(await headline(scene), /The backup can be restored, and a change is being made/);
    await scene.world.changeSpec({ hibernate: false });
    await scene.until(({ state }) => state === "Completed", "it is stopped", 30 * minuteMs);
    assert.deepEqual(await scene.reasons(), []);
  });
});

test("[BK84] runs of a schedule are skipped in a sleep, without a Warning (long)", async () => {
  await BackupWorld.run({ nodes: 9 }, async (scene) => {
    await scene.create({ backupMode: "oneTime", schedule: { cron: "0 * * * *" } });
    await sleep(scene);
    await scene.until(({ state }) => state === "Asleep", "it says that the database sleeps");
    await scene.world.clock.advance(3 * hourMs);
    const { runs = [] } = await scene.status();
    const skipped = runs.filter(({ message }) => message === "the database sleeps");
    assert.ok(skipped.length >= 2, JSON.stringify(runs));
    const events = await scene.world.events("BackupRunSkipped");
    assert.deepEqual([...new Set(events.map(({ type }) => type))], ["Normal"]);
    await scene.world.changeSpec({ hibernate: false });
    await scene.until(
      ({ runs: now = [] }) => now.some(({ result }) => result === "Succeeded"),
      "a run succeeds",
      3 * hourMs,
    );
  });
});
