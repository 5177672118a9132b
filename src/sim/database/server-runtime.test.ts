// Starting fdbserver: what stops it, and what it finds again on its volume.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCoordinators, plainServers, startPlain, startSample } from "./sample-cluster.ts";
import type { LocalServer } from "./local-cluster.ts";

function server(change: Partial<LocalServer>): LocalServer {
  return { name: "extra", processClass: "storage", address: "10.1.0.50:4501", ...change };
}

for (const [title, change, message] of [
  [
    "a listen address of another host",
    { extraArgs: ["--listen_address=10.7.7.7:4501"] },
    /10\.7\.7\.7:4501/,
  ],
  ["an address in use", { address: "10.1.0.1:4501" }, /Address already in use/],
  [
    "a data directory on no volume",
    { extraArgs: ["--datadir=/usr/lib"] },
    /`\/usr\/lib' is not writable/,
  ],
  ["a log directory on no volume", { extraArgs: ["--logdir=/proc"] }, /log directory `\/proc'/],
  [
    "no cluster file",
    { extraArgs: ["--cluster_file=/var/fdb/data/x", "--seed_cluster_file=/y"] },
    /No cluster file/,
  ],
  ["an unknown option", { extraArgs: ["--wrong=1"] }, /unknown option/],
] as const) {
  test(`[FDB7] a process with ${title} does not start`, async () => {
    const sample = await startPlain();
    sample.cluster.start(server(change));
    await sample.pass(1);
    const exit = sample.cluster.lastExit("extra");
    assert.equal(exit?.code, 1);
    assert.match(exit.message, message);
  });
}

test("[FDB7] an ill-formed cluster file is refused", async () => {
  const sample = await startPlain();
  sample.cluster.files("storage-1").set("/var/fdb/data/fdb.cluster", "nonsense");
  sample.cluster.restart("storage-1");
  await sample.pass(1);
  assert.match(sample.cluster.lastExit("storage-1")?.message ?? "", /Connection string invalid/);
});

test("[FDB7] data of a newer line cannot be read two lines back", async () => {
  const sample = await startPlain();
  sample.cluster.restart("storage-1", { version: "7.1.67" });
  await sample.pass(1);
  assert.match(sample.cluster.lastExit("storage-1")?.message ?? "", /newer, incompatible version/);
});

test("[FDB3] the first start copies the seed cluster file, later ones keep their own", async () => {
  const sample = await startSample({ servers: plainServers(), coordinators: plainCoordinators });
  const path = "/var/fdb/data/fdb.cluster";
  const written = sample.cluster.files("log-1").get(path) ?? "";
  assert.match(written, /^# DO NOT EDIT!\n#.*\nsample:/);
  assert.equal(written.split("\n")[2], sample.connectionString);
  sample.cluster.files("log-1").set("/var/dynamic-conf/fdb.cluster", "other:x@10.1.1.1:1");
  sample.cluster.restart("log-1");
  await sample.pass(5);
  assert.equal(sample.cluster.files("log-1").get(path), written);
  const status = await sample.status();
  assert.equal(Object.keys(status.cluster?.processes ?? {}).length, 8);
});

test("[FDB3] a process that comes back with its volume at another address keeps its id and its data", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const before = sample.fdb.truth.replicas();
  const idOf = (address: string): string | undefined =>
    before.flatMap((shard) => shard.replicas).find((replica) => replica.address === address)
      ?.processId;
  sample.cluster.restart("storage-1", { address: "10.1.0.99:4501" });
  await sample.pass(10);
  const after = sample.fdb.truth.replicas().flatMap((shard) => shard.replicas);
  const moved = after.find((replica) => replica.address === "10.1.0.99:4501");
  assert.equal(moved?.processId, idOf("10.1.0.1:4501"));
  assert.equal(moved?.isLive, true);
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});
