// What is read from the keys of the backup layer, on captures of a real one. Rules: spec/backup.md [BK20]-[BK23].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pauseKey, timeKey, workerPauseKey } from "../../src/fdb/backup-keys.ts";
import { readBackupLayer, setAgentsPaused } from "../../src/fdb/backup-layer.ts";
import { textOfBytes } from "../../src/fdb/bytes.ts";
import { encodeTuple } from "../../src/fdb/tuple.ts";
import { Captured, pairsOf } from "./captured.ts";

async function captured(...files: string[]): Promise<Captured> {
  const database = new Captured();
  await database.fill(...files);
  return database;
}

const all = ["tag-to-uid.txt", "uid-to-config.txt", "timekeeper-with-recovery.txt"];

test("[BK20][BK21] a running backup is read as the tools show it", async () => {
  const database = await captured(...all);
  const { record, isPaused, otherWriters } = await database.layer("daily");
  assert.equal(isPaused, false);
  assert.deepEqual(otherWriters, [], "nobody looks while it runs");
  assert.deepEqual(record, {
    uid: "7bb83bb7f75dca032763131c8993d306",
    state: "RunningDifferentially",
    url: "blobstore://BKKEY@127.0.0.1:7070/db100?bucket=fdb-backups&sc=0&region=us-east-1",
    snapshotSeconds: 45,
    stopsWhenDone: false,
    logBytes: 85_385,
    rangeBytes: 543_807_533,
    restorableFrom: 161_005_537,
    restorableTo: 440_627_957,
    snapshotBegin: 414_222_504,
    snapshotTarget: 459_222_504,
    lastSnapshotEnd: 413_094_266,
    errors: [],
  });
});

test("[BK20][BK21] backups in other states, and a tag that was never used", async () => {
  const database = await captured(...all);
  const states: Record<string, unknown> = {};
  for (const tag of ["once", "probe1", "probe2", "t1", "t2", "never"]) {
    const { record } = await database.layer(tag);
    states[tag] = record && [record.state, record.stopsWhenDone, record.restorableTo !== undefined];
  }
  assert.deepEqual(states, {
    once: ["Completed", true, true],
    probe1: ["Aborted", false, false],
    probe2: ["Aborted", false, false],
    t1: ["RunningDifferentially", false, true],
    t2: ["Aborted", false, false],
    never: undefined,
  });
  const { record, otherWriters } = await database.layer("t2");
  assert.deepEqual(record?.errors, [
    {
      code: 2382,
      text: "'Task execution stopped due to timeout, abort, or completion by another worker' on 'file_backup_write_logs_5.2'",
      version: 171_875_281,
    },
  ]);
  assert.deepEqual(
    otherWriters.map(({ tag }) => tag),
    ["daily", "t1"],
    "backups of other tags that run",
  );
});

test("[BK22] the time of the first restorable version is found among all pairs", async () => {
  const database = await captured(...all);
  const { record, times, fromTime } = await database.layer("daily");
  assert.equal(times.length, 60);
  const pairs = pairsOf("timekeeper-with-recovery.txt");
  assert.ok(pairs.length > times.length, "the pair lies before the recent ones");
  assert.ok(fromTime !== undefined && record?.restorableFrom !== undefined);
  assert.ok(fromTime.version <= record.restorableFrom);
  const nextVersion = fromTime.version + 10_000_000;
  assert.ok(nextVersion > record.restorableFrom - 1_000_000, "no later pair would do");
});

test("[BK100] the version of so long ago is that of the last pair before it", async () => {
  const database = await captured(...all);
  const { times } = await database.layer("daily");
  const seconds = 0x6afa2495;
  const ago = (times[0]?.seconds ?? 0) - seconds;
  const at = async (retainedSeconds: number): Promise<number | undefined> => {
    const question = { tag: "daily", retainedSeconds };
    const read = readBackupLayer(database.store, question, 5000);
    return (await database.run(read)).retainedFrom;
  };
  assert.equal(await at(ago), 0x01cb762a);
  assert.equal(await at(ago - 9), 0x01cb762a);
  assert.equal(await at(ago + 1), 0x01267216);
  assert.equal(await at(ago + 100_000), undefined);
});

test("[BK107] a database whose clock is ahead of ours gives no newer version for so long ago", async () => {
  const database = await captured(...all);
  const { times } = await database.layer("daily");
  const newest = times[0]?.seconds ?? 0;
  const at = async (retainedSeconds: number, nowSeconds: number): Promise<number | undefined> => {
    const question = { tag: "daily", retainedSeconds, nowSeconds };
    const read = readBackupLayer(database.store, question, 5000);
    return (await database.run(read)).retainedFrom;
  };
  const right = await at(300, newest);
  assert.notEqual(right, undefined);
  assert.equal(await at(100, newest - 200), right, "ours is earlier");
  assert.equal(await at(300, newest + 86_400), right, "theirs is earlier");
  assert.equal(await at(100, newest - 100_000), undefined);
});

test("[BK102] a clock that was put back gives no newer version for so long ago", async () => {
  const database = await captured(...all);
  const { times } = await database.layer("daily");
  const newest = times[0]?.seconds ?? 0;
  const at = async (retainedSeconds: number): Promise<number | undefined> => {
    const read = readBackupLayer(database.store, { tag: "daily", retainedSeconds }, 5000);
    return (await database.run(read)).retainedFrom;
  };
  const right = (await at(300)) ?? 0;
  const tooNew = (times[0]?.version ?? 0) + 50_000_000;
  // Put back by five minutes: each old pair has a new one beside it from then on.
  const note = (seconds: number): Promise<void> =>
    database.run(
      database.store.transact(
        async (transaction) => {
          for (let step = 0; step < 6; step += 1) {
            const version = tooNew + step * 10_000_000;
            transaction.set(timeKey(seconds + step * 10), encodeTuple([version]));
          }
        },
        { timeoutMs: 5000, accessSystemKeys: true },
      ),
    );
  await note(newest - 300 - 55);
  assert.ok(((await at(300)) ?? Infinity) <= right, "the old versions count");
  assert.equal(await at(100_000), undefined);
  await note(newest - 100_000);
  assert.equal(await at(100_000 - 60), undefined, "above the versions of later times");
});

test("[BK25] times that are far ahead of ours are not taken for the newest", async () => {
  const database = await captured(...all);
  const { times } = await database.layer("daily");
  const newest = times[0]?.seconds ?? 0;
  const newestAt = async (nowSeconds: number): Promise<number> => {
    const read = readBackupLayer(database.store, { tag: "daily", nowSeconds }, 5000);
    return (await database.run(read)).times[0]?.seconds ?? 0;
  };
  assert.equal(await newestAt(newest), newest);
  assert.equal(await newestAt(newest - 3_000), newest, "clocks differ a little");
  const before = await newestAt(newest - 3_600 - 60);
  assert.ok(before < newest - 60 && before > newest - 100, String(newest - before));
});

test("[BK103] what was expired is not restorable, whatever the record of the database says", async () => {
  const database = await captured(...all);
  const question = { tag: "daily", expiredTo: 223_039_051 };
  const { record } = await database.run(readBackupLayer(database.store, question, 5000));
  assert.equal(record?.restorableFrom, 223_039_051);
});

test("[BK23] pausing and resuming change both keys together", async () => {
  const database = await captured("tag-to-uid.txt");
  const keys = (): Promise<(string | undefined)[]> =>
    database.run(
      database.store.transact(
        async (transaction) =>
          Promise.all(
            [pauseKey, workerPauseKey].map(async (key) => {
              const value = await transaction.get(key);
              return value && textOfBytes(value);
            }),
          ),
        { timeoutMs: 5000, accessSystemKeys: true },
      ),
    );
  assert.equal((await database.layer("daily")).isPaused, false);
  await database.run(setAgentsPaused(database.store, true, 5000));
  assert.deepEqual(await keys(), ["", "1"]);
  assert.equal((await database.layer("daily")).isPaused, true);
  await database.run(setAgentsPaused(database.store, false, 5000));
  assert.deepEqual(await keys(), [undefined, "0"]);
});
