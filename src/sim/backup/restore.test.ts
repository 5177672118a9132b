// Restores are compared key by key with what the source held at that version.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomInteger, seededRandom } from "../../env/random.ts";
import { capture } from "./captures.ts";
import {
  contentOf,
  credentials,
  lockOf,
  scribble,
  startBackup,
  startRestore,
} from "./restore-bench.ts";
import { timeText } from "./time-keeper.ts";
import { clusterFile, containerUrl, openBench, openDestination } from "./tool-bench.ts";
import type { ToolEnd } from "./tool-bench.ts";

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

test("[BSIM20] a restore to a time asks the original database, and another one gives another version without a word", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench);
  await bench.sample.pass(30);
  const second = Math.floor(bench.sample.clock.nowMs() / 1000);
  const nowVersion = Math.max(
    ...bench.store
      .list("fdb-backups", "")
      .map(({ content }) => (content.kind === "log" ? content.endVersion : 0)),
  );
  await bench.write({ a: "2" });
  await bench.sample.pass(30);
  const target = await openDestination(bench);
  target.agent();
  const time = timeText(second - 1);
  target.files.set("/var/fdb/orig.cluster", bench.sample.connectionString);
  const at = ["--timestamp", time, "--orig-cluster-file"];
  const wrong = await startRestore(target, ...at, clusterFile, "-n");
  const right = await startRestore(target, ...at, "/var/fdb/orig.cluster", "-w");
  assert.equal(right.code, 0, right.stderr);
  const resolved = (end: ToolEnd): number =>
    Number(/resolves to version (\d+)/.exec(end.stdout)?.[1]);
  assert.ok(resolved(right) > nowVersion - 25_000_000);
  assert.notEqual(resolved(wrong), resolved(right));
  assert.deepEqual(contentOf(target), contentOf(bench, resolved(right)));
  assert.deepEqual(contentOf(target), { a: "1" });
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
