// What the real tool does with locks, tags, aborts, damaged containers and agents that die in the middle of a restore.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFdbError } from "../../fdb/error.ts";
import { defaultRanges } from "./backup-view.ts";
import { capture } from "./captures.ts";
import {
  contentOf,
  credentials,
  destination,
  lockOf,
  scribble,
  startBackup,
  startRestore,
  stateOf,
} from "./restore-bench.ts";
import { progressText, restoreStates, restoreText, unknownRestore } from "./restore-view.ts";
import type { RestoreView } from "./restore-view.ts";
import { clusterFile, containerUrl, openBench, openDestination } from "./tool-bench.ts";
import type { ToolBench } from "./tool-bench.ts";

test("[BSIM16] the database is locked from start on while nobody can work, and unlocked at the end", async () => {
  const bench = await openBench();
  const agent = bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench);
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  const queued = await startRestore(target);
  assert.equal(queued.code, 0);
  assert.equal(await stateOf(target), "queued");
  const status = await target.restore("status", ...destination);
  const uid = /UID: (\w+)/.exec(status.stdout)?.[1];
  assert.equal(await lockOf(target), uid);
  await assert.rejects(target.write({ x: "1" }), (error) => isFdbError(error, 1038));
  await target.backup("pause", "-C", clusterFile);
  target.agent();
  await target.sample.pass(30);
  assert.equal(await stateOf(target), "queued");
  await target.backup("resume", "-C", clusterFile);
  const waited = await target.restore("wait", ...destination);
  assert.match(waited.stdout, /State: completed[^\n]*\n$/);
  assert.equal(await lockOf(target), undefined);
  assert.deepEqual(contentOf(target), { a: "1" });
  agent.process.kill();
});

test("[BSIM16] [BSIM9] an agent that cannot read the container leaves the restore starting, with the error, and the lock", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench);
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  const wrong = target.agent("/etc/fdb/bad.json");
  await startRestore(target, "-k", "a b");
  await target.sample.pass(15);
  const { stdout } = await target.restore("status", ...destination);
  const shape = (text: string): string =>
    text
      .replace(/UID: \w+/, "UID")
      .replace(/Tag: \w+/, "Tag")
      .replace(/\d+s ago/, "Ns ago")
      .replace(/URL: \S+/, "URL")
      .replace(/Range: \S+/, "Range")
      .replace(/Version: \d+\n/, "Version\n");
  assert.equal(
    shape(stdout),
    shape(capture("05-restore/agent-wrong-secret-status-after-15s").stdout),
  );
  assert.notEqual(await lockOf(target), undefined);
  wrong.process.kill();
  target.agent();
  await target.sample.pass(80);
  assert.equal(await stateOf(target), "completed");
});

test("[BSIM18] a destination that is not empty, a tag under way, and a second restore", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench);
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  await target.write({ other: "1" });
  const full = await startRestore(target);
  assert.deepEqual(
    [full.code, full.stderr],
    [1, capture("05-restore/start-other-tag-nonempty").stderr],
  );
  assert.equal(await lockOf(target), undefined);
  await target.write({ other: undefined });
  await startRestore(target);
  const same = await startRestore(target);
  assert.deepEqual(
    [same.code, same.stderr],
    [1, capture("05-restore/start-same-tag-while-running").stderr],
  );
  const args = [
    "start",
    ...destination,
    "-r",
    containerUrl("daily"),
    ...credentials,
    "-t",
    "two",
    "-k",
    "zz zzz",
  ];
  const second = target.start("fdbrestore", args);
  await target.sample.pass(60);
  assert.equal(second.end().code, "still running");
  target.agent();
  await target.sample.pass(30);
  assert.equal(second.end().code, 0);
  await target.sample.pass(30);
  assert.deepEqual(
    [await stateOf(target), await stateOf(target, "two")],
    ["completed", "completed"],
  );
});

test("[BSIM18] on a database that somebody else has locked, start prints everything and then waits", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench);
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  const { sample } = target;
  sample.fdb.lock(sample.connectionString);
  const args = ["start", ...destination, "-r", containerUrl("daily"), ...credentials];
  const held = target.start("fdbrestore", args);
  await sample.pass(300);
  assert.equal(held.end().code, "still running");
  assert.match(held.end().stdout, /\nRestoring backup to version: \d+\n$/);
  sample.fdb.unlock(sample.connectionString);
  await sample.pass(5);
  assert.equal(held.end().code, 0);
});

test("[BSIM18] an abort unlocks at once and leaves the database half restored and writable", async () => {
  const bench = await openBench();
  bench.agent();
  const keys = Array.from({ length: 40 }, (_, index) => [
    `k${String(index).padStart(2, "0")}`,
    "v",
  ]);
  await bench.write(Object.fromEntries(keys) as Record<string, string>);
  await startBackup(bench);
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  target.agent();
  bench.store.fail({ extraLatencyMs: 1_500 });
  await startRestore(target);
  while (Object.keys(contentOf(target)).length === 0) await target.sample.pass(0.5);
  const aborted = await target.restore("abort", ...destination);
  assert.equal(aborted.stdout, "RESTORE_ABORT Tag: default  State: aborted\n");
  assert.equal(await lockOf(target), undefined);
  await target.sample.pass(120);
  const left = Object.keys(contentOf(target)).length;
  assert.ok(left > 0 && left < 40, `${left}`);
  await target.write({ other: "1" });
  const again = await target.restore("abort", ...destination);
  assert.equal(again.stdout, "RESTORE_ABORT Tag: default  State: aborted\n");
});

test("[BSIM11] [BSIM17] an agent that dies in the middle of a restore delays it by a minute and harms nothing", async () => {
  const bench = await openBench();
  bench.agent();
  await scribble(bench, 5, 10);
  await startBackup(bench);
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  const first = target.agent();
  await startRestore(target);
  while ((await stateOf(target)) !== "running") await target.sample.pass(0.5);
  first.process.kill();
  target.agent();
  const killedMs = target.sample.clock.nowMs();
  await target.restore("wait", ...destination);
  const seconds = (target.sample.clock.nowMs() - killedMs) / 1000;
  assert.ok(seconds > 45 && seconds < 80, `${seconds}`);
  const { stdout } = await target.restore("status", ...destination);
  const version = Number(/ Version: (\d+)\n/.exec(stdout)?.[1]);
  assert.deepEqual(contentOf(target), contentOf(bench, version));
});

test("[BSIM1] [BSIM9] lost and damaged objects: the window shrinks, or the restore stays with its error", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1", b: "2" });
  await startBackup(bench);
  await bench.sample.pass(65);
  const before = await bench.backup("describe", "-d", containerUrl("daily"), ...credentials);
  assert.equal(
    bench.store.lose(
      "fdb-backups",
      ({ key }) => /logs\/.*log,\d+,\d+,/.test(key) && key === lastLog(bench),
    ),
    1,
  );
  const look = ["-d", containerUrl("daily"), ...credentials];
  const believed = await bench.backup("describe", ...look);
  const after = await bench.backup("describe", ...look, "--deep");
  const last = (text: string): number => Number(/MaxRestorableVersion: +(\d+)/.exec(text)?.[1]);
  assert.equal(last(believed.stdout), last(before.stdout));
  assert.ok(last(after.stdout) < last(before.stdout));
  assert.ok(bench.store.damage("fdb-backups", ({ content }) => content.kind === "range") > 0);
  const target = await openDestination(bench);
  target.agent();
  await startRestore(target);
  await target.sample.pass(30);
  const { stdout } = await target.restore("status", ...destination);
  assert.match(
    stdout,
    /State: running .*LastError: ''Corrupted backup data' on 'restore_range_data'' \d+s ago\.\n/,
  );
  bench.store.lose("fdb-backups", ({ content }) => content.kind === "range");
  await target.sample.pass(90);
  const lost = await target.restore("status", ...destination);
  assert.match(lost.stdout, /LastError: ''Missing backup data' on 'restore_range_data''/);
  assert.notEqual(await lockOf(target), undefined);
});

function lastLog(bench: ToolBench): string {
  const logs = bench.store.list("fdb-backups", "").filter(({ content }) => content.kind === "log");
  return logs.at(-1)?.key ?? "";
}

test("[BSIM9] commands for unknown tags and impossible versions answer as the real ones", async () => {
  const bench = await openBench();
  for (const name of [
    "status-none",
    "status-unknown-tag",
    "abort-unknown-tag",
    "wait-unknown-tag",
    "missing-container",
    "timestamp-without-orig-cluster-file",
    "timestamp-bad-iso",
  ]) {
    const { argv, code, stdout, stderr } = capture(`05-restore/${name}`);
    const args = argv
      .slice(1)
      .map((word) => (word === "/var/fdb/dest.cluster" ? clusterFile : word));
    const end = await bench.run("fdbrestore", args);
    assert.deepEqual([end.code, end.stdout, end.stderr], [code, stdout, stderr], name);
  }
  bench.agent();
  await startBackup(bench);
  const early = await startRestore(bench);
  assert.equal(early.stderr, capture("05-restore/not-restorable-container").stderr);
  await bench.sample.pass(25);
  const above = await startRestore(bench, "-v", "99999999999");
  assert.match(
    above.stderr,
    /^ERROR: Restore version 99999999999 is not possible from blobstore:\S+\nERROR: Invalid restore version\nFatal Error: Invalid restore version\n$/,
  );
  const dry = await startRestore(bench, "-n");
  assert.match(dry.stdout, /\nBackup can be used to restore to version \d+\n$/);
});

test("[BSIM9] the status of a restore is printed to the last character", () => {
  const text = capture("05-restore/abort-middle-status-before").stdout;
  const number = (name: string): number => Number(new RegExp(`${name}: (-?\\d+)`).exec(text)?.[1]);
  const [, finished, blocks] = /Blocks: (\d+)\/(\d+)/.exec(text) ?? [];
  const restore: RestoreView = {
    ...unknownRestore,
    uid: /UID: (\w+)/.exec(text)?.[1] ?? "",
    tag: "mid",
    state: restoreStates.running,
    url: /URL: (\S+)/.exec(text)?.[1] ?? "",
    ranges: defaultRanges,
    version: 219_091_829,
    blocks: Number(blocks),
    blocksFinished: Number(finished),
    blocksDispatched: number("BlocksInProgress") + Number(finished),
    files: number("Files"),
    bytesWritten: number("BytesWritten"),
    currentVersion: number("CurrentVersion"),
    firstConsistentVersion: number("FirstConsistentVersion"),
  };
  assert.equal(`${restoreText(restore, 0)}\n\n\n`, text);
  assert.match(progressText(restore, 0), /LastError: None$/);
});
