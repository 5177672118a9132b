// Backups with a schedule, in a whole world. Rules: spec/backup.md [BK140]-[BK147].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec } from "../../src/api/backup.ts";
import { parseTime } from "../../src/kube/time.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import { BackupWorld, nightly } from "./managed-backup.ts";
import { minuteMs } from "./world-harness.ts";

const spec = (schedule: BackupSpec["schedule"]): Partial<BackupSpec> => ({
  backupMode: "oneTime",
  schedule,
});
const often = { cron: "*/20 * * * *", keepLast: 2 };

async function results(scene: BackupWorld): Promise<string[]> {
  return ((await scene.status()).runs ?? []).map(({ result }) => result);
}

/** The names of the destinations in the store. */
function destinations({ store }: BackupWorld): string[] {
  const names = store.list("backups", "").map(({ key }) => /nightly[^/]*/.exec(key)?.[0]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

test("[BK140][BK142][BK146] runs begin when they are due, each in its own place, and the newest two stay (long)", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create(spec(often));
    await scene.advance(2 * minuteMs);
    assert.deepEqual(scene.begun(), [], "nothing begins before it is due");
    const { schedule } = await scene.status();
    const next = parseTime(schedule?.next) ?? 0;
    assert.ok(next % (20 * minuteMs) === 0 && next > scene.world.clock.nowMs());
    await scene.advance(next - scene.world.clock.nowMs() + 5 * minuteMs);
    assert.deepEqual(await results(scene), ["Succeeded"]);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
    const [run] = (await scene.status()).runs ?? [];
    assert.equal(parseTime(run?.time), next);
    await scene.advance(60 * minuteMs);
    assert.deepEqual(await results(scene), ["Removed", "Removed", "Succeeded", "Succeeded"]);
    const { runs = [], backupDetails, generations, lastSuccess } = await scene.status();
    assert.deepEqual(
      destinations(scene),
      runs.slice(2).map(({ backupName }) => backupName),
    );
    assert.equal(backupDetails?.restorable, true);
    assert.equal(generations?.reconciled, 1);
    assert.equal(lastSuccess, runs.at(-1)?.ended);
    assert.deepEqual(await scene.reasons(), []);
    const told = await scene.world.events("BackupRunSucceeded");
    assert.equal(told.length, 4);
    assert.deepEqual(
      (await scene.world.events("BackupNotRestorable")).length,
      0,
      "a new run does not take away what can be restored",
    );
    scene.world.assertDataSafe();
  });
});

test("[BK145] a run that was missed while no operator ran is made up, once", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create(spec(often));
    await scene.advance(2 * minuteMs);
    const { world } = scene.world;
    await scene.world.during(world.stopOperator(), minuteMs, "the end of the operator");
    await scene.advance(70 * minuteMs);
    world.startOperator();
    await scene.advance(3 * minuteMs);
    assert.deepEqual(await results(scene), ["Succeeded"]);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
  });
});

test("[BK144] a paused backup with a schedule skips its runs and says so, and goes on when it is resumed (long)", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ ...spec(often), backupState: "Paused" });
    await scene.advance(45 * minuteMs);
    assert.deepEqual(await results(scene), ["Skipped", "Skipped"]);
    assert.deepEqual(scene.begun(), []);
    assert.equal((await scene.world.events("BackupRunSkipped")).length, 2);
    const warnings = await scene.world.events("SpecWarning");
    assert.match(warnings[0]?.message ?? "", /no run begins while it is Paused/);
    await scene.change({ backupState: "Running" });
    await scene.advance(2 * minuteMs);
    assert.deepEqual(scene.begun(), [], "nothing is made up");
    await scene.advance(20 * minuteMs);
    assert.deepEqual(await results(scene), ["Skipped", "Skipped", "Succeeded"]);
  });
});

test("[BK144] a store that does not answer makes a run fail, and the next one begins without it (long)", async () => {
  await BackupWorld.run({ secret: "WRONG" }, async (scene) => {
    await scene.create(spec(often));
    await scene.advance(45 * minuteMs);
    assert.deepEqual(await results(scene), ["Failed", "Pending"]);
    assert.equal((await scene.reasons()).includes("BackupStoreRefused"), true);
    const [told] = await scene.world.events("BackupRunFailed");
    assert.match(told?.message ?? "", /could not be started before the next one was due/);
  });
});

test("[BK143] a schedule that never fires is refused, and works once it is corrected", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create(spec({ cron: "0 3 30 2 *", timeZone: "Europe/Bonn" }));
    await scene.advance(2 * minuteMs);
    const { blockedBy = [] } = await scene.status();
    assert.deepEqual(
      blockedBy.map(({ reason, message }) => `${reason}: ${message}`),
      [
        'InvalidSpec: there is no time zone "Europe/Bonn"',
        'InvalidSpec: "0 3 30 2 *" never fires: no month that it names has such a day',
      ],
    );
    await scene.change({ schedule: { cron: "*/20 * * * *", timeZone: "Europe/Berlin" } });
    await scene.advance(25 * minuteMs);
    assert.deepEqual(await results(scene), ["Succeeded"]);
  });
});

test("[BK146] nothing is deleted once somebody wants to keep more (long)", async () => {
  let isEdited = false;
  const worlds: BackupWorld[] = [];
  const lastLook = async ({ method, path }: KubeRequest): Promise<void> => {
    const isRead = method === "GET" && path.endsWith("/foundationdbbackups/nightly");
    if (isEdited || !isRead) return;
    isEdited = true;
    await worlds[0]?.change({ schedule: { keepLast: 5 } });
  };
  const wrapTransport = (transport: KubeTransport): KubeTransport => ({
    request: async (request) => {
      await lastLook(request);
      return transport.request(request);
    },
    watch: (request, onEvent) => transport.watch(request, onEvent),
  });
  await BackupWorld.run({ wrapTransport }, async (scene) => {
    worlds.push(scene);
    await scene.create(spec({ ...often, keepLast: 1 }));
    await scene.advance(50 * minuteMs);
    assert.equal(isEdited, true, "the last look");
    assert.deepEqual(await results(scene), ["Succeeded", "Succeeded"]);
    assert.equal(destinations(scene).length, 2);
    assert.equal(scene.begun().includes("delete"), false);
  });
});

test("[BK147] cleanup deletes the data of all runs (long)", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ ...spec({ cron: "*/20 * * * *" }), deletionPolicy: "cleanup" });
    await scene.advance(45 * minuteMs);
    assert.deepEqual(await results(scene), ["Succeeded", "Succeeded"]);
    await scene.world.client.delete(foundationDbBackups, nightly);
    await scene.advance(2 * minuteMs);
    assert.deepEqual(await scene.reasons(), ["BackupIsLast"]);
    assert.equal(destinations(scene).length, 2);
    await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
    await scene.untilGone();
    assert.equal(scene.objects(), 0);
  });
});
