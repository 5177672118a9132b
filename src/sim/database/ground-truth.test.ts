// The truth behind status: what is lost, what is only down, and that chance is the only difference
// between two histories.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfText } from "../../fdb/bytes.ts";
import { startPlain, summarize } from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

async function ready(seed = 1): Promise<Sample> {
  const sample = await startPlain({ seed });
  await sample.pass(40);
  return sample;
}

const keys = Array.from({ length: 40 }, (_, index) => bytesOfText(`key-${index}`));

async function write(sample: Sample): Promise<void> {
  await sample.call(
    sample.admin.transact(
      async (transaction) => {
        for (const key of keys) transaction.set(key, bytesOfText("value"));
      },
      { timeoutMs: 10_000 },
    ),
  );
}

async function count(sample: Sample): Promise<number> {
  let found = 0;
  for (const key of keys) {
    const read = sample.admin.transact((transaction) => transaction.get(key), { timeoutMs: 1_000 });
    const value = await sample.call(read).catch(() => undefined);
    if (value !== undefined) found += 1;
  }
  return found;
}

test("[FDB34] two storages of three down: status is healthy, some reads hang, nothing is lost", async () => {
  const sample = await ready();
  await write(sample);
  sample.cluster.stop("storage-2");
  sample.cluster.stop("storage-3");
  await sample.pass(12);
  const line = summarize(await sample.status());
  assert.equal(line.healthy, true);
  const readable = await count(sample);
  assert.ok(readable > 0 && readable < keys.length, `${readable}`);
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
  sample.cluster.restart("storage-3");
  await sample.pass(5);
  assert.equal(await count(sample), keys.length);
});

test("[FDB36] a commit may fail with an unknown result and is tried again", async () => {
  const faults: ("unknown-committed" | undefined)[] = ["unknown-committed", undefined];
  const sample = await startPlain({ commitFault: () => faults.shift() });
  await sample.pass(40);
  await write(sample);
  assert.equal(faults.length, 0);
  assert.equal(await count(sample), keys.length);
});

test("[FDB34] [FDB36] two volumes of three lost: the shards they shared are gone, and their keys with them", async () => {
  const sample = await ready();
  await write(sample);
  sample.fdb.faults.loseVolume("storage-2:/var/fdb/data");
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
  sample.fdb.faults.loseVolume("storage-3:/var/fdb/data");
  assert.equal(sample.cluster.lastExit("storage-3")?.code, undefined);
  await sample.pass(1);
  assert.match(sample.cluster.lastExit("storage-3")?.message ?? "", /volume is gone/);
  const lost = sample.fdb.truth.dataLost();
  assert.equal(lost.length, 1);
  assert.equal(lost[0]?.database, "sample");
  sample.cluster.restart("storage-2");
  sample.cluster.restart("storage-3");
  await sample.pass(10);
  assert.equal(sample.fdb.truth.dataLost().length, 1);
  assert.ok((await count(sample)) < keys.length);
});

test("[FDB34] a deleted volume whose data has left costs nothing", async () => {
  const sample = await ready();
  await write(sample);
  await sample.call(sample.admin.exclude(["10.1.0.1"], { wait: true, timeoutMs: 200_000 }));
  sample.cluster.stop("storage-1");
  sample.fdb.runtime.volumeRemoved?.("storage-1:/var/fdb/data");
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
  assert.equal(await count(sample), keys.length);
});

test("[FDB34] one volume lost at a time, with repair between: nothing is lost", async () => {
  const sample = await ready();
  await write(sample);
  for (const name of ["storage-1", "storage-2", "storage-3"]) {
    sample.fdb.faults.loseVolume(`${name}:/var/fdb/data`);
    await sample.pass(1);
    sample.cluster.restart(name);
    await sample.pass(150);
  }
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
  assert.equal(await count(sample), keys.length);
});

test("[FDB27] [FDB34] all storages down: unavailable, with the reasons a real one gives", async () => {
  const sample = await ready();
  for (const name of ["storage-1", "storage-2", "storage-3"]) sample.cluster.stop(name);
  await sample.pass(10);
  const line = summarize(await sample.status());
  assert.deepEqual([line.available, line.recovery], [false, "fully_recovered"]);
  assert.deepEqual(line.messages, [
    "unreadable_configuration",
    "fetch_consistency_scan_info_timeout",
    "status_incomplete",
  ]);
  sample.cluster.restart("storage-1");
  sample.cluster.restart("storage-2");
  await sample.pass(5);
  assert.equal(summarize(await sample.status()).available, true);
});

test("[FDB35] lost logs or coordinators lose the database", async () => {
  const logs = await ready();
  const addresses = ["10.1.0.1:4501", "10.1.0.2:4501", "10.1.0.3:4501"];
  await logs.call(logs.admin.changeCoordinators(addresses, 60_000));
  await logs.pass(20);
  for (const name of ["log-1", "log-2"]) logs.fdb.faults.loseVolume(`${name}:/var/fdb/data`);
  assert.equal(logs.fdb.truth.databases()[0]?.areLogsLost, true);
  assert.ok(logs.fdb.truth.dataLost().length > 0);

  const coordinators = await ready();
  for (const name of ["log-1", "log-2", "log-3"]) {
    coordinators.fdb.faults.loseVolume(`${name}:/var/fdb/data`);
  }
  await coordinators.pass(1);
  for (const name of ["log-1", "log-2", "log-3"]) coordinators.cluster.restart(name);
  await coordinators.pass(30);
  const line = summarize(await coordinators.status());
  assert.deepEqual([line.available, line.recovery], [false, "configuration_never_created"]);
  assert.ok(coordinators.fdb.truth.dataLost().length > 0);
});

test("[FDB36] a cut address is dead to the database, and back when restored", async () => {
  const sample = await ready();
  sample.fdb.faults.cutAddress("10.1.0.11");
  await sample.pass(20);
  const cut = summarize(await sample.status());
  assert.deepEqual([cut.available, cut.generation, cut.processes], [true, 4, 7]);
  sample.fdb.faults.restoreAddress("10.1.0.11");
  await sample.pass(20);
  const back = summarize(await sample.status());
  assert.equal(back.processes, 8);
  assert.equal(sample.cluster.lastExit("log-1"), undefined);
});

test("[FDB36] a crash is an exit with code 1", async () => {
  const sample = await ready();
  assert.equal(sample.fdb.faults.crashProcess("10.1.0.1:4501"), true);
  assert.equal(sample.fdb.faults.crashProcess("10.1.0.1:4501"), false);
  await sample.pass(1);
  assert.deepEqual(sample.cluster.lastExit("storage-1"), { code: 1, message: "crashed" });
});

async function history(seed: number): Promise<string> {
  const sample = await ready(seed);
  sample.cluster.start({ name: "storage-4", processClass: "storage", address: "10.1.0.4:4501" });
  sample.cluster.start({
    name: "stateless-3",
    processClass: "stateless",
    address: "10.1.0.23:4501",
  });
  await sample.pass(1);
  await sample.call(
    sample.admin.kill(
      sample.cluster.names().map((name) => sample.cluster.address(name)),
      20_000,
    ),
  );
  await sample.pass(30);
  await sample.call(sample.admin.exclude(["10.1.0.1:4501"], { wait: true, timeoutMs: 200_000 }));
  sample.cluster.stop("log-1");
  await sample.pass(100);
  return sample.trace.join("\n") + JSON.stringify(await sample.status());
}

test("[FDB38] the same seed gives the same history, another seed another", async () => {
  const [first, again, other] = [await history(7), await history(7), await history(8)];
  assert.equal(first, again);
  assert.notEqual(first, other);
});
