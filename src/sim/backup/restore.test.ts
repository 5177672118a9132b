// Restores into an empty database are compared key by key with what the source held at that version; and what the real tool
// does with locks, tags, aborts and damaged containers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, randomInteger, randomPick } from "../../env/random.ts";
import { isFdbError } from "../../fdb/error.ts";
import { capture } from "./captures.ts";
import { progressText, restoreStates, restoreText, unknownRestore } from "./restore-view.ts";
import type { RestoreView } from "./restore-view.ts";
import {
  clusterFile,
  containerUrl,
  credentialsFile,
  openBench,
  openDestination,
} from "./tool-bench.ts";
import type { ToolBench, ToolEnd } from "./tool-bench.ts";

const credentials = ["--blob-credentials", credentialsFile];
const destination = ["--dest-cluster-file", clusterFile];

async function startBackup(bench: ToolBench, ...more: string[]): Promise<void> {
  const args = [
    "-C",
    clusterFile,
    "-d",
    containerUrl("daily"),
    "-t",
    "daily",
    "-z",
    ...more,
    ...credentials,
  ];
  assert.equal((await bench.backup("start", ...args)).code, 0);
}

function startRestore(bench: ToolBench, ...more: string[]): Promise<ToolEnd> {
  return bench.restore(
    "start",
    ...destination,
    "-r",
    containerUrl("daily"),
    ...credentials,
    ...more,
  );
}

async function stateOf(bench: ToolBench, tag = "default"): Promise<string> {
  const { stdout } = await bench.restore("status", ...destination, "-t", tag);
  return /State: (\w+)/.exec(stdout)?.[1] ?? "";
}

/** The users' keys of a database at a version, as text; now when no version is given. */
function contentOf(bench: ToolBench, version = Number.MAX_SAFE_INTEGER): Record<string, string> {
  const { sample } = bench;
  const content = sample.fdb.record(sample.connectionString)?.contentAt(version) ?? new Map();
  const entries = [...content].filter(([key]) => key < "\xff");
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(value).toString("latin1")]),
  );
}

async function lockOf(bench: ToolBench): Promise<string | undefined> {
  const { cluster } = await bench.sample.status();
  return cluster?.database_lock_state?.lock_uid;
}

/** Random sets, clears and cleared ranges for a while. */
async function scribble(bench: ToolBench, seed: number, seconds: number): Promise<void> {
  const random = seededRandom(seed);
  const { sample } = bench;
  const untilMs = sample.clock.nowMs() + seconds * 1000;
  while (sample.clock.nowMs() < untilMs) {
    const key = (): Buffer =>
      Buffer.from(`k/${String(randomInteger(random, 0, 99)).padStart(2, "0")}`);
    await sample.call(
      sample.admin.transact(
        async (transaction) => {
          for (let count = randomInteger(random, 1, 4); count > 0; count -= 1) {
            const act = randomPick(random, ["set", "set", "set", "clear", "range"]);
            if (act === "set") transaction.set(key(), Buffer.from(String(random.next())));
            else if (act === "clear") transaction.clear(key());
            else {
              const [from, to] = [key(), key()].toSorted((left, right) =>
                Buffer.compare(left, right),
              );
              transaction.clearRange(from ?? key(), to ?? key());
            }
          }
        },
        { timeoutMs: 60_000 },
      ),
    );
    await sample.pass(random.next());
  }
}

test("[BSIM17] a restore to any version gives the source at that version, key by key", async () => {
  for (const seed of [1, 2]) {
    const bench = await openBench(seed);
    bench.agent();
    bench.agent();
    await scribble(bench, seed, 20);
    await startBackup(bench, "-s", "30");
    await scribble(bench, seed + 100, 70);
    const { stdout } = await bench.backup(
      "describe",
      "-d",
      containerUrl("daily"),
      "--json",
      ...credentials,
    );
    const window = JSON.parse(stdout) as Record<string, { Version: number }>;
    const [from, to] = [
      window["MinRestorablePoint"]?.Version ?? 0,
      window["MaxRestorablePoint"]?.Version ?? 0,
    ];
    assert.ok(to > from + 30_000_000);
    const random = seededRandom(seed);
    const target = await openDestination(bench);
    target.agent();
    const seen = new Set<string>();
    for (const version of [from, to, ...[1, 2, 3].map(() => randomInteger(random, from, to))]) {
      const end = await startRestore(target, "-v", String(version), "-t", `to-${version}`, "-w");
      assert.equal(end.code, 0, end.stderr);
      const restored = contentOf(target);
      assert.deepEqual(restored, contentOf(bench, version), `seed ${seed} version ${version}`);
      seen.add(JSON.stringify(restored));
      await target.sample.call(
        target.sample.admin.transact(
          async (transaction) => transaction.clearRange(Buffer.from(""), Buffer.from([0xff])),
          { timeoutMs: 60_000 },
        ),
      );
    }
    assert.ok(seen.size > 2, "the versions differ");
  }
});

test("[BSIM17] ranges and prefixes are those asked for, and the rest of the destination stays", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ "a/1": "1", "a/2": "2", "b/1": "3" });
  await startBackup(bench);
  await bench.write({ "a/2": undefined, "a/3": "4" });
  await bench.sample.pass(25);
  const prefixed = await startRestore(bench, "-k", "a/ a0", "--add-prefix", "copy/", "-w");
  assert.equal(prefixed.code, 0, prefixed.stderr);
  assert.deepEqual(contentOf(bench), {
    "a/1": "1",
    "a/3": "4",
    "b/1": "3",
    "copy/a/1": "1",
    "copy/a/3": "4",
  });
  const moved = await startRestore(
    bench,
    "-t",
    "m",
    "-k",
    "b/ b/\\xff",
    "--remove-prefix",
    "b/",
    "--add-prefix",
    "z/",
    "-w",
  );
  assert.equal(moved.code, 0, moved.stderr);
  assert.equal(contentOf(bench)["z/1"], "3");
  const outside = await startRestore(bench, "-t", "o", "-k", "a/ a0", "--remove-prefix", "a/");
  assert.equal(outside.code, 1);
  assert.match(outside.stderr, /^Assertion restoreRange[\s\S]*ERROR: An internal error occurred\n/);
});

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
  const after = await bench.backup("describe", "-d", containerUrl("daily"), ...credentials);
  const last = (text: string): number => Number(/MaxRestorableVersion: +(\d+)/.exec(text)?.[1]);
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

test("[BSIM6] expire keeps what was promised and the rest is really gone; delete leaves nothing", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench, "-s", "30");
  await bench.sample.pass(150);
  const describe = async (): Promise<
    Record<string, { Version: number }> & { Snapshots: Record<string, { Version: number }>[] }
  > => {
    const { stdout } = await bench.backup(
      "describe",
      "-d",
      containerUrl("daily"),
      "--json",
      ...credentials,
    );
    return JSON.parse(stdout) as Awaited<ReturnType<typeof describe>>;
  };
  const { Snapshots } = await describe();
  const kept = Snapshots[2];
  const version = (point: { Version: number } | undefined): string => String(point?.Version);
  const cut = [
    "--expire-before-version",
    version(kept?.["Start"]),
    "--restorable-after-version",
    version(kept?.["End"]),
  ];
  const expired = await bench.backup("expire", "-d", containerUrl("daily"), ...cut, ...credentials);
  assert.equal(
    expired.stdout,
    `\rFinal metadata update...\nAll data before version ${version(kept?.["Start"])} has been deleted.\n`,
  );
  const after = await describe();
  assert.ok((after["MinRestorablePoint"]?.Version ?? Infinity) <= (kept?.["End"]?.Version ?? 0));
  const older = bench.store
    .list("fdb-backups", "")
    .filter(
      ({ content }) =>
        content.kind === "log" && content.endVersion <= (after["ExpiredEnd"]?.Version ?? 0),
    );
  assert.equal(older.length, 0);
  const refused = await bench.backup(
    "expire",
    "-d",
    containerUrl("daily"),
    "--expire-before-version",
    "99999999999",
    ...credentials,
  );
  assert.deepEqual([refused.code, refused.stderr], [1, capture("03-expire/whole-refused").stderr]);
  await bench.backup("abort", "-C", clusterFile, "-t", "daily");
  const removed = await bench.backup("delete", "-d", containerUrl("daily"), ...credentials);
  assert.match(
    removed.stdout,
    /^Deleting blobstore:\S+\.\.\.\n\r\d+ objects deleted\nThe entire container has been deleted\.\n$/,
  );
  assert.deepEqual(bench.store.list("fdb-backups", ""), []);
});

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
    ranges: [
      { begin: "", end: "\xff" },
      { begin: "\xff\x02/blobRange/", end: "\xff\x02/blobRange0" },
      {
        begin: "\xff/metacluster/clusterRegistration",
        end: "\xff/metacluster/clusterRegistration\x00",
      },
      { begin: "\xff/tagQuota/", end: "\xff/tagQuota0" },
      { begin: "\xff/tenant/", end: "\xff/tenant0" },
    ],
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

test("[BSIM17] an encrypted backup needs its key to be restored, and says so in the words of the tool", async () => {
  const bench = await openBench();
  bench.files.set("/etc/fdb/enc.key", "k".repeat(32));
  bench.files.set("/etc/fdb/wrong.key", "w".repeat(32));
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench, "--encryption-key-file", "/etc/fdb/enc.key");
  await bench.sample.pass(25);
  const target = await openDestination(bench);
  target.files.set("/etc/fdb/enc.key", "k".repeat(32));
  target.files.set("/etc/fdb/wrong.key", "w".repeat(32));
  target.agent();
  const without = await startRestore(target);
  assert.equal(without.stderr, capture("08-encryption/restore-without-key").stderr);
  const wrong = await startRestore(target, "--encryption-key-file", "/etc/fdb/wrong.key");
  assert.equal(wrong.stderr, "ERROR: Corrupted backup data\nFatal Error: Corrupted backup data\n");
  assert.equal(await lockOf(target), undefined);
  const right = await startRestore(target, "--encryption-key-file", "/etc/fdb/enc.key", "-w");
  assert.equal(right.code, 0, right.stderr);
  assert.deepEqual(contentOf(target), { a: "1" });
});
