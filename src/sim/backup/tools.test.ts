// The commands, their words and their exit codes against what the real tools did, on a database without agents unless one
// is started.
import assert from "node:assert/strict";
import { test } from "node:test";
import { capture } from "./captures.ts";
import { benchOn, clusterFile, containerUrl, credentialsFile, openBench } from "./tool-bench.ts";
import type { ToolBench, ToolEnd } from "./tool-bench.ts";

const cluster = ["-C", clusterFile];
const credentials = ["--blob-credentials", credentialsFile];

function toolOf(name: string): "fdbbackup" | "fdbrestore" {
  return capture(name).argv[0] === "/usr/bin/fdbrestore" ? "fdbrestore" : "fdbbackup";
}

/** Runs the very command line of a capture; the destination of its restores is the bench's own database. */
function rerun(bench: ToolBench, name: string): Promise<ToolEnd> {
  const args = capture(name)
    .argv.slice(1)
    .map((word) => (word === "/var/fdb/dest.cluster" ? clusterFile : word));
  return bench.run(toolOf(name), args);
}

async function assertSame(bench: ToolBench, name: string): Promise<void> {
  const { code, stdout, stderr } = await rerun(bench, name);
  const wanted = capture(name);
  assert.deepEqual(
    { code, stdout, stderr },
    { code: wanted.code, stdout: wanted.stdout, stderr: wanted.stderr },
    name,
  );
}

test("[BSIM3] URLs that are none are refused with code 10, each with the words of the tool", async () => {
  const bench = await openBench();
  for (const name of [
    "url-garbage-start",
    "url-missing-start",
    "url-name-with-space-start",
    "url-no-name-start",
    "url-no-region-start",
    "url-scheme-s3-start",
    "url-unknown-parameter-start",
  ]) {
    await assertSame(bench, `04-errors/${name}`);
  }
  await assertSame(bench, "02-describe/list-without-bucket");
});

test("[BSIM2] refusals have one text, and a store that nobody reaches makes the tools wait as long as the real ones", async () => {
  const bench = await openBench();
  for (const name of [
    "04-errors/credentials-wrong-secret-describe",
    "04-errors/credentials-wrong-secret-start",
    "04-errors/url-wrong-region-start",
    "04-errors/url-wrong-bucket-describe",
    "04-errors/credentials-none-start",
    "04-errors/url-unreachable-port-start",
    "04-errors/url-unreachable-port-describe",
    "02-describe/missing-container-text",
    "03-expire/missing-container",
    "03-expire/delete-missing",
  ]) {
    const startedMs = bench.sample.clock.nowMs();
    await assertSame(bench, name);
    const seconds = (bench.sample.clock.nowMs() - startedMs) / 1000;
    assert.ok(Math.abs(seconds - capture(name).wall) < 2, `${name} took ${seconds} s`);
  }
});

test("[BSIM2] without a secret the tools wait for ever, without a word", async () => {
  const bench = await openBench();
  const args = ["describe", ...cluster, "-d", containerUrl("once"), "--json"];
  const end = await bench.run("fdbbackup", args, 600);
  assert.deepEqual([end.code, end.stdout, end.stderr], ["still running", "", ""]);
});

test("[BSIM2] a store that hangs holds a command until it answers, one that fails ends it with the one text", async () => {
  const bench = await openBench();
  await bench.backup("start", ...cluster, "-d", containerUrl("x"), "-z", ...credentials);
  const describe = ["describe", "-d", containerUrl("x"), "--json", ...credentials];
  bench.store.fail({ isHanging: true });
  const held = bench.start("fdbbackup", describe);
  await bench.sample.pass(500);
  assert.equal(held.end().code, "still running");
  bench.store.heal();
  await bench.sample.pass(5);
  assert.equal(held.end().code, 0);
  bench.store.fail({ isFailing: true });
  const failed = await bench.run("fdbbackup", describe, 200);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^ERROR: HTTP response code not received or indicated failure\n/);
  bench.store.heal();
  bench.store.fail({ isFull: true });
  const full = await bench.backup(
    "start",
    ...cluster,
    "-d",
    containerUrl("y"),
    "-t",
    "y",
    ...credentials,
  );
  assert.equal(full.code, 1);
  bench.store.heal();
  bench.store.fail({ extraLatencyMs: 4_000 });
  const slow = await bench.run("fdbbackup", describe, 200);
  assert.equal(slow.code, 0);
  assert.ok(slow.ms > 8_000, `${slow.ms}`);
});

test("[BSIM3] secrets come from the URL, from the file given, or from the variable's files", async () => {
  const bench = await openBench();
  await bench.backup("start", ...cluster, "-d", containerUrl("x"), "-z", ...credentials);
  const own = containerUrl("x").replace("BKKEY@", "BKKEY:BKSECRET@");
  assert.equal((await bench.backup("describe", "-d", own)).code, 0);
  bench.files.set(
    "/etc/fdb/apikey.json",
    JSON.stringify({ accounts: { "@127.0.0.1": { api_key: "BKKEY", secret: "BKSECRET" } } }),
  );
  const keyless = containerUrl("x").replace("BKKEY@", "@");
  const named = await bench.backup(
    "describe",
    "-d",
    keyless,
    "--blob-credentials",
    "/etc/fdb/apikey.json",
  );
  assert.equal(named.code, 0);
  bench.files.set("/etc/fdb/garbage.json", "no json");
  const variable = bench.start("fdbbackup", ["describe", "-d", containerUrl("x")], {
    FDB_BLOB_CREDENTIALS: `/etc/fdb/garbage.json:${credentialsFile}`,
  });
  await bench.sample.pass(5);
  assert.equal(variable.end().code, 0);
});

test("[BSIM7] an option that a command does not have ends it, and so does a missing cluster file", async () => {
  const bench = await openBench();
  for (const name of [
    "03-expire/delete-with-C-option",
    "04-errors/credentials-wrong-secret-status",
    "05-restore/status-json-option",
    "04-errors/no-quorum-cluster-file-missing",
    "02-describe/version-timestamps-without-cluster-file",
    "03-expire/no-cutoff-given",
    "03-expire/restorable-after-only",
    "03-expire/timestamp-bad-format",
  ]) {
    if (name.includes("version-timestamps")) {
      const start = ["-d", containerUrl("empty-db"), "-t", "e", ...credentials];
      await bench.backup("start", ...cluster, ...start);
    }
    await assertSame(bench, name);
  }
  const underscores = await bench.backup(
    "status",
    `--cluster_file=${clusterFile}`,
    "--json",
    "--knob_x=1",
    "--log",
    "--logdir",
    "/var/log",
  );
  assert.equal(underscores.code, 0);
});

test("[BSIM7] the kind of mutation log is named in the way of the version", async () => {
  const bench = await openBench();
  const start = ["start", ...cluster, "-d", containerUrl("p"), ...credentials];
  const older = await bench.backup(...start, "--mutation-log-type", "partitioned-log-experimental");
  assert.match(older.stderr, /^ERROR: unknown option `--mutation-log-type'\n/);
  assert.equal((await bench.backup(...start, "--partitioned-log-experimental")).code, 0);
  const newer = benchOn(bench.sample, bench.store, { version: "7.4.7" });
  const described = await newer.backup(
    "describe",
    "-d",
    containerUrl("p"),
    "--json",
    ...credentials,
  );
  assert.match(described.stdout, /"Restorable":false,"MutationLogType":"default",/);
  const flag = await newer.backup(...start, "--partitioned-log-experimental");
  assert.match(flag.stderr, /^ERROR: unknown option `--partitioned-log-experimental'\n/);
});

test("[BSIM2] a missing bucket is refused, or costs the tool its life, as in the real one", async () => {
  const bench = await openBench();
  bench.store.removeBucket("fdb-backups");
  const codes = new Set<number | string>();
  for (let index = 0; index < 30; index += 1) {
    codes.add((await rerun(bench, "04-errors/agent-none-start")).code);
  }
  assert.deepEqual([...codes].toSorted(), [1, 139]);
  bench.store.addBucket("fdb-backups");
  bench.store.fail({ isSkewed: true });
  const skewed = await rerun(bench, "04-errors/agent-none-start");
  assert.equal(skewed.stderr, capture("04-errors/credentials-wrong-secret-start").stderr);
});

test("[BSIM7] without a quorum commands wait for ever, but describe and expire by version need no database", async () => {
  const bench = await openBench();
  await bench.backup("start", ...cluster, "-d", containerUrl("once"), "-t", "once", ...credentials);
  for (const name of ["log-1", "log-2"]) bench.sample.cluster.stop(name);
  await bench.sample.pass(30);
  assert.equal((await bench.run("fdbbackup", ["status", ...cluster], 300)).code, "still running");
  assert.equal(
    (await bench.run("fdbrestore", ["status", "--dest-cluster-file", clusterFile], 300)).code,
    "still running",
  );
  assert.equal(
    (await bench.backup("describe", ...cluster, "-d", containerUrl("once"), ...credentials)).code,
    0,
  );
});

test("[BSIM8] on a new database, and for unknown tags, every command answers as the real one", async () => {
  const bench = await openBench();
  for (const name of [
    "00-before/status-json-no-agent",
    "00-before/status-no-tag-no-agent",
    "00-before/tags-none",
    "01-lifecycle/status-unknown-tag-json",
    "01-lifecycle/abort-unknown-tag",
    "01-lifecycle/discontinue-unknown-tag",
    "01-lifecycle/modify-unknown-tag",
    "01-lifecycle/modify-nothing",
    "01-lifecycle/wait-unknown-tag",
    "01-lifecycle/pause",
    "01-lifecycle/resume",
    "01-lifecycle/start-dryrun",
    "08-encryption/start-key-file-missing",
  ]) {
    await assertSame(bench, name);
  }
  bench.files.set("/etc/fdb/short.key", "sixteen bytes...");
  await assertSame(bench, "08-encryption/start-16-byte-key");
});

test("[BSIM8] start without agents ends well after five seconds; the tag is taken until it is aborted", async () => {
  const bench = await openBench();
  const startedMs = bench.sample.clock.nowMs();
  await assertSame(bench, "04-errors/agent-none-start");
  assert.ok(bench.sample.clock.nowMs() - startedMs >= 5_000);
  const again = await rerun(bench, "04-errors/agent-none-start");
  assert.equal(
    again.stderr,
    "ERROR: A backup is already running on tag `noagent'\nFatal Error: Backup error\n",
  );
  const discontinued = await bench.backup("discontinue", ...cluster, "-t", "noagent");
  assert.equal(
    discontinued.stderr,
    "ERROR: The backup on tag `noagent' is already discontinued\nFatal Error: Backup duplicate request\n",
  );
  const aborted = await bench.backup("abort", ...cluster, "-t", "noagent");
  assert.equal(aborted.stdout, "The backup on tag `noagent' was successfully aborted.\n");
  const tags = await bench.backup("tags", ...cluster);
  assert.equal(tags.stdout, "noagent\n");
});

test("[BSIM8] with an agent start ends at once, and the tag and its container are as the real tool leaves them", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.sample.pass(3);
  await assertSame(bench, "01-lifecycle/start-z-s3");
  await assertSame(bench, "01-lifecycle/start-again-same-tag-same-url");
  const other = await bench.backup(
    "start",
    ...cluster,
    "-d",
    containerUrl("empty-db"),
    "-t",
    "t2",
    ...credentials,
  );
  assert.equal(other.code, 0, "two tags may write into one container");
  const wrong = await bench.backup(
    "modify",
    ...cluster,
    "-t",
    "t1",
    "-s",
    "45",
    "--verify-uid",
    "0".repeat(32),
  );
  assert.match(
    wrong.stderr,
    /^UID verification failed, backup on tag 't1' is '[0-9a-f]{32}' but '0{32}' was specified\.\n/,
  );
  const moved = await bench.backup(
    "modify",
    ...cluster,
    "-t",
    "t1",
    "-s",
    "45",
    "-d",
    containerUrl("moved"),
    ...credentials,
  );
  assert.deepEqual([moved.code, moved.stdout, moved.stderr], [0, "", ""]);
  const status = await bench.backup("status", ...cluster, "-t", "t1", "--json");
  const shown = JSON.parse(status.stdout) as Record<string, unknown>;
  assert.equal(shown["DestinationURL"], containerUrl("moved"));
  assert.equal(shown["SnapshotIntervalSeconds"], 45);
  const list = await bench.backup("list", "-b", containerUrl(""), ...credentials);
  assert.equal(
    list.stdout,
    "blobstore://BKKEY@127.0.0.1:7070/empty-db?bucket=fdb-backups&sc=0\nblobstore://BKKEY@127.0.0.1:7070/moved?bucket=fdb-backups&sc=0\n",
  );
});

test("[BSIM3] [BSIM4] a file:// container lies on the mounted volume, in a folder of its own", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.sample.pass(3);
  await bench.backup("start", ...cluster, "-d", "file:///var/backup", "-t", "f");
  await bench.sample.pass(60);
  const status = await bench.backup("status", ...cluster, "-t", "f", "--json");
  const shown = JSON.parse(status.stdout) as { DestinationURL: string; Status: { Name: string } };
  assert.match(
    shown.DestinationURL,
    /^file:\/\/\/var\/backup\/backup-2026-01-01-00-\d\d-\d\d\.\d{6}$/,
  );
  assert.equal(shown.Status.Name, "Completed");
  const list = await bench.backup("list", "-b", "file:///var/backup/");
  assert.equal(list.stdout, `${shown.DestinationURL}\n`);
  const found = await bench.backup("describe", "-d", shown.DestinationURL, "--json");
  assert.match(found.stdout, /"Restorable":true/);
  const objects = bench.sample.fdb.objectStores.onVolume("disk").list("files", "");
  const kinds = new Set(
    objects.map(({ key }) => key.replace(/^.*\/(kvranges|logs|snapshots|properties)\/.*$/, "$1")),
  );
  assert.deepEqual([...kinds].toSorted().slice(-4), [
    "kvranges",
    "logs",
    "properties",
    "snapshots",
  ]);
});
