// The map of times and versions that lies beside a backup, in a whole world. Rules: spec/backup.md [BK130]-[BK134].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { readTimesAfter } from "../../src/fdb/time-keeper.ts";
import { configMaps } from "../../src/kube/resource.ts";
import { parseTimeMap, versionAtTime } from "../../src/model/backup-time-map.ts";
import type { TimedVersion, TimePair } from "../../src/model/backup-time-map.ts";
import { BackupWorld, nightly } from "./managed-backup.ts";
import { knobs } from "./restart-harness.ts";
import { minuteMs } from "./world-harness.ts";

const timeline = { namespace: "default", name: "nightly-timeline" };

async function mapOf(scene: BackupWorld): Promise<TimePair[]> {
  return parseTimeMap((await scene.world.client.find(configMaps, timeline))?.data);
}

/** All that the database itself has noted. */
async function notedBy({ world }: BackupWorld): Promise<TimedVersion[]> {
  const { connectionString = "" } = (await world.cluster()).status ?? {};
  const target = { name: "person", connectionString, version: "7.3.63" };
  const client = world.world.fdb.admin.open(target);
  const read = readTimesAfter(client, -1, 100_000, 10_000);
  const noted = await world.during(read, minuteMs, "a look at the record");
  client.close();
  return noted;
}

/** At every second that the database has noted, the map is not later, and not earlier than it says. */
async function assertTrue(scene: BackupWorld): Promise<void> {
  const [pairs, noted] = [await mapOf(scene), await notedBy(scene)];
  const last = pairs.at(-1)?.seconds ?? 0;
  const asked = noted.filter(({ seconds }) => seconds > (pairs[0]?.seconds ?? 0) && seconds < last);
  assert.ok(asked.length > 0);
  for (const { seconds, version } of asked) {
    const found = versionAtTime(pairs, seconds);
    assert.ok(found.kind === "found" && found.version <= version, String(seconds));
    const earliest = noted.findLast((each) => each.seconds <= seconds - found.errorSeconds);
    assert.ok(found.version >= (earliest?.version ?? 0), String(seconds));
    assert.ok(found.errorSeconds <= 30, `${found.errorSeconds} s`);
  }
}

test("[BK130][BK133] the times of a backup are written once in ten minutes, with both sides of a recovery (long)", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.advance(minuteMs);
    const { restorable } = await scene.status();
    const [first] = await mapOf(scene);
    assert.ok(first !== undefined && first.version <= (restorable?.from?.version ?? 0));
    const mark = scene.world.requests.length;
    await scene.advance(35 * minuteMs);
    const writes = scene.world.writesSince(mark).filter((write) => write.includes("configmaps"));
    assert.deepEqual(writes, Array(3).fill("update configmaps nightly-timeline"));
    await scene.world.changeSpec(knobs("knob_max_trace_lines=5"));
    await scene.world.untilReconciled(10 * minuteMs);
    await scene.advance(15 * minuteMs);
    const pairs = await mapOf(scene);
    assert.equal(pairs.filter(({ isAfterGap }) => isAfterGap).length, 1, "one recovery");
    assert.ok(pairs.length < 20, String(pairs.length));
    await assertTrue(scene);
    assert.equal((await scene.status()).generations?.reconciled, 1);
  });
});

test("[BK133] an operator that was away catches up, and a backup that has ended is covered (long)", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    const { world } = scene.world;
    await scene.world.during(world.stopOperator(), minuteMs, "the end of the operator");
    await scene.advance(150 * minuteMs);
    world.startOperator();
    await scene.advance(2 * minuteMs);
    const pairs = await mapOf(scene);
    assert.ok(pairs.length >= 15, String(pairs.length));
    await assertTrue(scene);
    await scene.change({ backupState: "Stopped" });
    await scene.until(({ state }) => state === "Completed", "the end");
    await scene.advance(15 * minuteMs);
    const { restorable } = await scene.status();
    assert.ok(((await mapOf(scene)).at(-1)?.version ?? 0) >= (restorable?.to?.version ?? Infinity));
    const mark = scene.world.requests.length;
    await scene.advance(60 * minuteMs);
    assert.deepEqual(
      scene.world.writesSince(mark).filter((write) => write.includes("configmaps")),
      [],
    );
  });
});

for (const [deletionPolicy, isKept] of [
  ["noop", true],
  ["stop", true],
  ["cleanup", false],
] as const) {
  test(`[BK130] with ${deletionPolicy} the map ${isKept ? "outlives" : "goes with"} its backup`, async () => {
    await BackupWorld.run({}, async (scene) => {
      await scene.create({ deletionPolicy });
      await scene.untilRestorable();
      await scene.advance(minuteMs);
      assert.notDeepEqual(await mapOf(scene), []);
      await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
      await scene.world.client.delete(foundationDbBackups, nightly);
      await scene.untilGone();
      await scene.advance(2 * minuteMs);
      const found = await scene.world.client.find(configMaps, timeline);
      assert.equal(found !== undefined, isKept);
    });
  });
}

test("[BK134] a ConfigMap of that name that somebody else made is left alone, and said", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.world.client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: timeline,
      data: { timeline: "a film" },
    });
    await scene.create();
    await scene.untilRestorable();
    await scene.advance(2 * minuteMs);
    const { blockedBy = [], conditions } = await scene.status();
    assert.deepEqual(
      blockedBy.map(({ reason, message }) => `${reason}: ${message}`),
      [
        "ActionFailed: Could not create ConfigMap nightly-timeline: there is one that somebody else made: rename or delete it",
      ],
    );
    assert.equal(conditions?.find(({ type }) => type === "Reconciled")?.status, "True");
    const found = await scene.world.client.find(configMaps, timeline);
    assert.deepEqual(found?.data, { timeline: "a film" });
    await scene.world.client.delete(configMaps, timeline);
    await scene.advance(3 * minuteMs);
    assert.notDeepEqual(await mapOf(scene), []);
    assert.deepEqual(await scene.reasons(), []);
  });
});
