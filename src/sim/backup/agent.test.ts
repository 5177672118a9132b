// What agents do: when a backup becomes restorable, pause, death, wrong secrets, a store that fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfBinary, textOfBytes } from "../../fdb/bytes.ts";
import { decodeTuple } from "../../fdb/tuple.ts";
import {
  benchWithAgent,
  cluster,
  credentials,
  read,
  start,
  statusOf,
  textOf,
} from "./agent-bench.ts";
import { uidText } from "./layer-config.ts";
import { benchOn, clusterFile, containerUrl, credentialsFile, openBench } from "./tool-bench.ts";

test("[BSIM13] a backup is restorable twenty seconds after its start, then the lag is a saw tooth", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z");
  const startedMs = bench.sample.clock.nowMs();
  assert.equal((await statusOf(bench, "daily")).Status.Name, "Running");
  while (!(await statusOf(bench, "daily")).Restorable) await bench.sample.pass(0.5);
  const seconds = (bench.sample.clock.nowMs() - startedMs) / 1000;
  assert.ok(seconds > 17 && seconds < 24, `${seconds}`);
  const lags: number[] = [];
  for (let index = 0; index < 60; index += 1) {
    await bench.sample.pass(1);
    lags.push((await statusOf(bench, "daily")).LatestRestorablePoint?.LagSeconds ?? -1);
  }
  assert.ok(
    Math.min(...lags) <= 2 && Math.max(...lags) >= 18 && Math.max(...lags) <= 23,
    lags.join(" "),
  );
});

test("[BSIM14] the ranges of a snapshot are copied one after another over its interval", async () => {
  const bench = await benchWithAgent();
  await bench.write({ a: "1", b: "2", c: "3", d: "4", e: "5" });
  await start(bench, "daily", "-z", "-s", "60");
  const bytes: number[] = [];
  for (let index = 0; index < 10; index += 1) {
    await bench.sample.pass(8);
    bytes.push((await statusOf(bench, "daily")).RangeBytesWritten ?? 0);
  }
  assert.ok(new Set(bytes).size >= 6, bytes.join(" "));
  const { stdout } = await bench.backup(
    "describe",
    "-d",
    containerUrl("daily"),
    "--json",
    ...credentials,
  );
  const { Snapshots } = JSON.parse(stdout) as {
    Snapshots: { Start: { Version: number }; End: { Version: number } }[];
  };
  const spans = Snapshots.map(({ Start, End }) => (End.Version - Start.Version) / 1_000_000);
  assert.ok((spans[0] ?? 99) < 3 && (spans[1] ?? 0) > 40, spans.join(" "));
});

test("[BSIM15] a backup without -z completes by itself, and its log ends at twenty seconds", async () => {
  const bench = await benchWithAgent();
  await start(bench, "once");
  const startedMs = bench.sample.clock.nowMs();
  while ((await statusOf(bench, "once")).Status.Name === "Running") await bench.sample.pass(0.5);
  const seconds = (bench.sample.clock.nowMs() - startedMs) / 1000;
  assert.ok(seconds > 28 && seconds < 40, `${seconds}`);
  const shown = await statusOf(bench, "once");
  assert.deepEqual(
    [shown.Status.Name, shown.Restorable, shown.LatestRestorablePoint?.LagSeconds],
    ["Completed", true, undefined],
  );
});

test("[BSIM8] discontinue completes a restorable backup at once; abort keeps what was restorable", async () => {
  const bench = await benchWithAgent();
  await start(bench, "one", "-z");
  await start(bench, "two", "-z");
  await bench.sample.pass(25);
  const discontinued = await bench.backup("discontinue", ...cluster, "-t", "one");
  assert.equal(discontinued.stdout, "The backup on tag `one' was successfully discontinued.\n");
  assert.equal((await statusOf(bench, "one")).Status.Name, "Completed");
  await bench.backup("abort", ...cluster, "-t", "two");
  const aborted = await statusOf(bench, "two");
  assert.deepEqual([aborted.Status.Name, aborted.Restorable], ["Aborted", true]);
  const before = aborted.LatestRestorablePoint?.Version;
  await bench.sample.pass(60);
  assert.equal(
    (await statusOf(bench, "two")).LatestRestorablePoint?.Version,
    before,
    "nothing goes on",
  );
});

test("[BSIM12] [BSIM21] the pause key alone stops all agents, and they catch up when it is cleared", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z");
  await bench.sample.pass(30);
  const key = "\xff\x02/backup-agent/\x01tasks\x00\x01pause\x00";
  const setPause = async (value: string | undefined): Promise<void> => {
    await bench.sample.call(
      bench.sample.admin.transact(
        async (transaction) => {
          if (value === undefined) transaction.clear(bytesOfBinary(key));
          else transaction.set(bytesOfBinary(key), bytesOfBinary(value));
        },
        { timeoutMs: 5_000, accessSystemKeys: true },
      ),
    );
  };
  await setPause("");
  await bench.sample.pass(60);
  const paused = await statusOf(bench, "daily");
  assert.equal(paused.BackupAgentsPaused, true);
  assert.ok((paused.LatestRestorablePoint?.LagSeconds ?? 0) > 55);
  await setPause(undefined);
  await bench.sample.pass(8);
  assert.ok(((await statusOf(bench, "daily")).LatestRestorablePoint?.LagSeconds ?? 99) < 30);
  await bench.backup("pause", ...cluster);
  assert.equal(
    textOfBytes(
      (await read(bench, "\xff\x02/backupPaused", "\xff\x02/backupPausee"))[0]?.value ??
        new Uint8Array(),
    ),
    "1",
  );
  assert.equal((await read(bench, key, `${key}\x00`)).length, 1);
});

test("[BSIM11] the work of an agent that died in a task is taken over about a minute after it took it", async () => {
  const bench = await openBench();
  const first = bench.agent();
  await bench.sample.pass(3);
  await start(bench, "daily", "-z");
  await bench.sample.pass(15);
  bench.store.fail({ isHanging: true });
  await bench.sample.pass(8);
  first.process.kill();
  bench.store.heal();
  bench.agent();
  const killedMs = bench.sample.clock.nowMs();
  while (!(await statusOf(bench, "daily")).Restorable) await bench.sample.pass(1);
  const seconds = (bench.sample.clock.nowMs() - killedMs) / 1000;
  assert.ok(seconds > 45 && seconds < 65, `${seconds}`);
});

test("[BSIM11] an agent with a wrong secret leaves an error in the text and the keys, and heals when replaced", async () => {
  const bench = await openBench();
  const wrong = bench.agent("/etc/fdb/bad.json");
  await bench.sample.pass(3);
  await start(bench, "ws", "-z");
  await bench.sample.pass(8);
  const text = await textOf(bench, "ws");
  assert.match(
    text,
    /is in progress \(just started\)[\s\S]*\nRecent Errors \(since initialization\)\n\d second\(s\) ago : 'HTTP response code not received or indicated failure' on 'file_backup_start_5\.2'\n/,
  );
  const { UID } = await statusOf(bench, "ws");
  const config = await read(
    bench,
    "\xff\x02/backup-agent/uid->config/",
    "\xff\x02/backup-agent/uid->config0",
  );
  const error = config.find(({ key }) => textOfBytes(key).includes("lastErrorPerType"));
  const tail =
    error && decodeTuple(error.key.slice("..\x02/backup-agent/uid->config/".length - 1 + 16));
  assert.equal(uidText(error?.key.slice(28, 44) ?? new Uint8Array()), UID);
  assert.equal(tail?.at(-1), 1523);
  wrong.process.kill();
  bench.agent();
  await bench.sample.pass(90);
  assert.equal((await statusOf(bench, "ws")).Restorable, true);
  assert.match(await textOf(bench, "ws"), /\nOlder Errors\n/);
});

test("[BSIM2] [BSIM11] an outage of the store shows as an error after the tries, and heals by itself", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z");
  await bench.sample.pass(25);
  bench.store.fail({ isUnreachable: true });
  await bench.sample.pass(110);
  assert.match(
    await textOf(bench, "daily"),
    /Recent Errors \(since latest restorable point[\s\S]*'Network connection failed' on 'file_backup_write_logs_5\.2'/,
  );
  bench.store.heal();
  await bench.sample.pass(80);
  assert.ok(((await statusOf(bench, "daily")).LatestRestorablePoint?.LagSeconds ?? 99) < 30);
});

test("[BSIM10] an agent follows its database to other coordinators, keeps its cluster file, and reads it again while nobody answers", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z");
  await bench.sample.pass(25);
  const others = ["10.1.0.1:4501", "10.1.0.2:4501", "10.1.0.3:4501"];
  const moved = await bench.sample.call(bench.sample.admin.changeCoordinators(others, 60_000));
  await bench.sample.pass(20);
  assert.equal(bench.files.get(clusterFile), moved);
  assert.ok(((await statusOf(bench, "daily")).LatestRestorablePoint?.LagSeconds ?? 99) < 30);
  bench.files.set("/var/fdb/old.cluster", "sample:operator1@10.1.0.99:4501");
  const lost = bench.start("backup_agent", ["-C", "/var/fdb/old.cluster"], {
    FDB_BLOB_CREDENTIALS: credentialsFile,
  });
  await bench.sample.pass(60);
  const instances = async (): Promise<number> => {
    const { cluster: status } = await bench.sample.status();
    return Number(
      (status?.layers?.["backup"] as { instances_running?: number } | undefined)?.instances_running,
    );
  };
  assert.equal(await instances(), 1);
  assert.equal(lost.end().code, "still running");
  bench.files.set("/var/fdb/old.cluster", moved);
  await bench.sample.pass(60);
  assert.equal(await instances(), 2);
});

test("[BSIM10] an agent of another protocol than the database does nothing", async () => {
  const bench = await openBench();
  const older = benchOn(bench.sample, bench.store, { version: "7.1.67" });
  older.agent();
  await bench.sample.pass(30);
  const end = await bench.backup(
    "start",
    ...cluster,
    "-d",
    containerUrl("x"),
    "-z",
    ...credentials,
  );
  assert.match(end.stdout, /but no backup agents are responding/);
  assert.deepEqual((await bench.sample.status()).cluster?.layers, { _valid: true });
});

test("[BSIM12] paused agents rest, and cost next to nothing", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z");
  await bench.backup("pause", ...cluster);
  await bench.sample.pass(60);
  const { UID } = await statusOf(bench, "daily");
  assert.equal(UID.length, 32);
  let fired = 0;
  await bench.sample.clock.run({
    untilMs: bench.sample.clock.nowMs() + 600_000,
    until: () => (fired += 1) > 2_000,
  });
  assert.ok(fired < 2_000, `${fired}`);
});
