// When the map of times and versions of a backup is written, and what is in it. Rules: spec/backup.md [BK130], [BK133], [BK134].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { timeMapObject } from "../../build/backup-time-map.ts";
import { parseTimeMap } from "../../model/backup-time-map.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import {
  backupWith,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

/** As `layerWith` has it. */
const newestSeconds = nowMs / 1000 - 2;
const from = { seconds: newestSeconds - 60, version: 50_000_000 };

function mapWith(...pairs: TimePair[]): Pick<BackupSnapshot, "timeMap"> {
  const { metadata, ...rest } = timeMapObject(backupWith(), pairs);
  return { timeMap: { ...rest, metadata: { ...metadata, uid: "m-1", resourceVersion: "4" } } };
}

function written(scene: BackupSnapshot): TimePair[] | undefined {
  const action = planBackup(scene).actions.find(
    ({ type }) => type === "createTimeMap" || type === "updateTimeMap",
  );
  const isMap = action?.type === "createTimeMap" || action?.type === "updateTimeMap";
  return isMap ? parseTimeMap(action.object.data) : undefined;
}

test("[BK133] the first map begins at the first point that can be restored", () => {
  const scene = sceneOf(seen(recordWith(), { fromTime: from }));
  assert.deepEqual(planBackup(scene).times, { afterSeconds: from.seconds - 11 });
  assert.equal(planBackup(scene).isReconciled, true);
  const times = { afterSeconds: from.seconds - 11, pairs: [from] };
  const plan = planBackup({ ...scene, times });
  assert.equal(plan.isReconciled, true, "a map is no change of the backup");
  assert.deepEqual(written({ ...scene, times }), [from]);
});

test("[BK133] there is one write in ten minutes, with what is new since the last pair", () => {
  const recent = { seconds: newestSeconds - 599, version: 20_000_000 };
  const at = (last: TimePair): BackupSnapshot => sceneOf(mapWith(last));
  assert.equal(planBackup(at(recent)).times, undefined);
  const last = { seconds: newestSeconds - 600, version: 20_000_000 };
  assert.deepEqual(planBackup(at(last)).times, { afterSeconds: last.seconds, last });
  const pairs = [{ seconds: newestSeconds, version: 620_000_000 }];
  const other = { afterSeconds: 1, pairs };
  assert.equal(written({ ...at(last), times: other }), undefined, "an answer to another question");
  const times = { afterSeconds: last.seconds, pairs };
  assert.deepEqual(written({ ...at(last), times }), [last, ...pairs]);
});

test("[BK133] a database whose clock went back, and one that is not ours, write nothing", () => {
  const ahead = { seconds: newestSeconds + 3_000, version: 20_000_000 };
  assert.equal(planBackup(sceneOf(mapWith(ahead))).times, undefined);
  const foreign = recordWith({ url: "blobstore://account@host:443/other?bucket=fdb-backups" });
  assert.equal(planBackup(sceneOf(seen(foreign))).times, undefined);
  const none = recordWith();
  const { restorableTo: _t, restorableFrom: _f, ...unrestorable } = none;
  assert.equal(planBackup(sceneOf(seen(unrestorable))).times, undefined);
  const unmanaged = backupWith({ backupType: "unmanaged" });
  assert.equal(planBackup(sceneOf({ backup: unmanaged })).times, undefined);
});

test("[BK133] a backup that has ended is covered once, beyond its end", () => {
  const backup = backupWith({ backupMode: "oneTime" });
  const ended = (restorableTo: number): BackupSnapshot =>
    sceneOf({ backup, ...seen(recordWith({ state: "Completed", restorableTo })) });
  assert.equal(planBackup(ended(110_000_001)).times, undefined, "not noted yet");
  assert.deepEqual(planBackup(ended(110_000_000)).times, { afterSeconds: -11 });
  const covered = mapWith({ seconds: newestSeconds - 9_000, version: 110_000_000 });
  assert.equal(planBackup({ ...ended(110_000_000), ...covered }).times, undefined);
  const short = mapWith({ seconds: newestSeconds - 9_000, version: 109_000_000 });
  assert.notEqual(planBackup({ ...ended(110_000_000), ...short }).times, undefined);
});

test("[BK134] pairs that only expired data needs go, but for the last", () => {
  const [one, two, three] = [1, 2, 3].map((version) => ({
    seconds: newestSeconds - 4_000 + version * 600,
    version: version * 10_000_000,
  })) as [TimePair, TimePair, TimePair];
  const next = { seconds: newestSeconds, version: 110_000_000 };
  const times = { afterSeconds: three.seconds, pairs: [next] };
  const after = (restorableFrom: number | undefined): TimePair[] | undefined => {
    const expiry = restorableFrom === undefined ? {} : { expiry: { restorableFrom } };
    return written(sceneOf({ backup: backupWith({}, expiry), times, ...mapWith(one, two, three) }));
  };
  assert.deepEqual(after(undefined), [one, two, three, next]);
  assert.deepEqual(after(19_999_999), [one, two, three, next]);
  assert.deepEqual(after(20_000_000), [two, three, next]);
  assert.deepEqual(after(25_000_000), [two, three, next]);
  assert.deepEqual(after(500_000_000), [three, next]);
});

test("[BK137] a time that has not come ends the map no longer than until it is noticed", () => {
  const last = { seconds: newestSeconds - 600, version: 20_000_000 };
  const ahead = { seconds: newestSeconds + 86_400, version: 30_000_000, isAfterGap: true };
  const scene = sceneOf(mapWith(last, ahead));
  assert.deepEqual(planBackup(scene).times, { afterSeconds: last.seconds, last });
  const pairs = [{ seconds: newestSeconds, version: 620_000_000 }];
  const times = { afterSeconds: last.seconds, pairs };
  assert.deepEqual(written({ ...scene, times }), [last, ...pairs]);
  const alone = sceneOf({ ...mapWith(ahead), ...seen(recordWith(), { fromTime: from }) });
  assert.deepEqual(planBackup(alone).times, { afterSeconds: from.seconds - 11 }, "it begins anew");
});
