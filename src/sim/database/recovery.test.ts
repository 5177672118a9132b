// Recoveries: the table of kills and generations of a real cluster, the steps, and who gets which
// role.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FdbError } from "../../fdb/error.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  addressesOf,
  hallServers,
  plainServers,
  startPlain,
  startSample,
  summarize,
} from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

async function generation(sample: Sample): Promise<number> {
  return (await sample.status()).cluster?.generation ?? -1;
}

function rolesOf(status: DatabaseStatus, name: string): string[] {
  const processes = Object.values(status.cluster?.processes ?? {});
  const process = processes.find((candidate) => candidate.locality?.["instance_id"] === name);
  return (process?.roles ?? []).map((role) => role.role);
}

async function kill(sample: Sample, names: readonly string[]): Promise<number> {
  const before = await generation(sample);
  await sample.call(
    sample.admin.kill(
      names.map((name) => sample.cluster.address(name)),
      20_000,
    ),
  );
  await sample.pass(15);
  return (await generation(sample)) - before;
}

test("[FDB9] killing everything at once is one recovery of two generations", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  assert.equal(await generation(sample), 2);
  assert.equal(await kill(sample, sample.cluster.names()), 2);
  const record = sample.fdb.truth.databases()[0]?.recoveries.at(-1);
  assert.ok(record?.acceptedMs !== undefined);
});

for (const [names, leastMs, mostMs] of [
  [["log-1"], 500, 1_200],
  [["stateless-1"], 500, 2_700],
  [["storage-1", "log-1", "log-2", "log-3", "stateless-1", "stateless-2"], 1_500, 2_700],
] as const) {
  test(`[FDB8] commits stall for seconds at most when ${names.join(", ")} are killed`, async () => {
    const sample = await startPlain();
    await sample.pass(40);
    await kill(sample, names);
    const record = sample.fdb.truth.databases()[0]?.recoveries.at(-1);
    const stallMs = (record?.acceptedMs ?? Infinity) - (record?.stalledSinceMs ?? 0);
    assert.ok(stallMs >= leastMs && stallMs <= mostMs, `${stallMs}`);
  });
}

for (const [names, delta] of [
  [["storage-1"], 0],
  [["storage-1", "storage-2", "storage-3"], 0],
  [["log-1"], 2],
  [["stateless-1"], 2],
  [["stateless-2"], 2],
] as const) {
  test(`[FDB8] [FDB9] killing ${names.join(", ")} adds ${delta} generations`, async () => {
    const sample = await startPlain();
    await sample.pass(40);
    assert.equal(await kill(sample, names), delta);
  });
}

test("[FDB9] one by one, every log and stateless process costs a recovery", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  let sum = 0;
  for (const name of sample.cluster.names()) sum += await kill(sample, [name]);
  assert.equal(sum, 10);
});

test("[FDB8] a process that does not come back is noticed after the detection time", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const startedMs = sample.clock.nowMs();
  sample.cluster.stop("log-3");
  await sample.pass(10);
  const record = sample.fdb.truth.databases()[0]?.recoveries.at(-1);
  assert.equal((record?.startedMs ?? 0) - startedMs, 4_500);
  assert.equal(await generation(sample), 4);
});

test("[FDB10] old logs and their roles stay until fully_recovered, ten seconds after", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  await sample.call(sample.admin.configure("logs=4", 10_000));
  const young = await sample.status();
  assert.equal(young.cluster?.recovery_state?.name, "all_logs_recruited");
  assert.deepEqual(
    young.cluster?.logs?.map((set) => [set.epoch, set.current]),
    [
      [4, true],
      [2, false],
    ],
  );
  assert.deepEqual(rolesOf(young, "log-1"), ["coordinator", "log", "log"]);
  assert.equal(young.cluster?.bounce_impact?.can_clean_bounce, false);
  await sample.pass(10);
  const old = await sample.status();
  assert.equal(old.cluster?.recovery_state?.name, "fully_recovered");
  assert.equal(old.cluster?.logs?.length, 1);
  assert.deepEqual(rolesOf(old, "log-1"), ["coordinator", "log"]);
});

test("[FDB11] a dead storage server keeps the old logs until it is removed", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  sample.cluster.stop("storage-1");
  await kill(sample, ["log-1"]);
  await sample.pass(30);
  assert.equal(summarize(await sample.status()).recovery, "all_logs_recruited");
  await sample.pass(100);
  assert.equal(summarize(await sample.status()).recovery, "fully_recovered");
});

test("[FDB12] roles by class, as on a real cluster", async () => {
  const server = (name: string, processClass: string, host: number): object => ({
    name,
    processClass,
    address: `10.1.0.${host}:4501`,
  });
  const extra = [
    server("transaction-1", "transaction", 31),
    server("controller-1", "cluster_controller", 32),
    server("coordinator-1", "coordinator", 33),
    server("test-1", "test", 34),
    server("unset-1", "unset", 35),
  ] as ReturnType<typeof plainServers>;
  const servers = [...plainServers().filter(({ name }) => name !== "log-3"), ...extra];
  const coordinators = addressesOf(servers, ["log-1", "log-2", "coordinator-1"]);
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  await sample.pass(40);
  const status = await sample.status();
  assert.deepEqual(rolesOf(status, "transaction-1"), []);
  assert.deepEqual(rolesOf(status, "controller-1"), ["cluster_controller"]);
  assert.deepEqual(rolesOf(status, "coordinator-1"), ["coordinator"]);
  assert.deepEqual(rolesOf(status, "test-1"), []);
  assert.deepEqual(rolesOf(status, "unset-1"), ["storage"]);
  const shared = ["master", "data_distributor", "ratekeeper", "consistency_scan"];
  const holders = ["stateless-1", "stateless-2"].filter((name) =>
    shared.every((role) => rolesOf(status, name).includes(role)),
  );
  assert.equal(holders.length, 1);
  await sample.call(sample.admin.configure("triple", 60_000));
  await sample.pass(40);
  assert.ok(rolesOf(await sample.status(), "transaction-1").includes("log"));
});

test("[FDB13] logs that register late cause a second recovery", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const before = await generation(sample);
  sample.fdb.faults.delayStart(sample.cluster.address("log-2"), 4_000);
  assert.equal(await kill(sample, sample.cluster.names()), 4);
  assert.equal(before, 2);
  const causes = sample.fdb.truth.databases()[0]?.recoveries.map((record) => record.cause);
  assert.equal(causes?.at(-1), "better processes registered");
});

test("[FDB13] with fewer log processes than configured, storage processes are not taken for the number", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  sample.cluster.stop("log-3");
  await sample.pass(20);
  const status = await sample.status();
  assert.equal(status.cluster?.logs?.[0]?.log_interfaces?.length, 2);
  assert.equal(summarize(status).available, true);
});

test("[FDB9] a database whose logs are all gone waits for them", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const next = ["10.1.0.1:4501", "10.1.0.2:4501", "10.1.0.3:4501"];
  await sample.call(sample.admin.changeCoordinators(next, 60_000));
  await sample.pass(40);
  for (const name of ["log-1", "log-2", "log-3"]) sample.cluster.stop(name);
  await sample.pass(30);
  const status = await sample.status();
  assert.equal(status.cluster?.recovery_state?.name, "locking_coordinated_state");
  assert.equal(status.client?.database_status?.available, false);
  sample.cluster.restart("log-1");
  sample.cluster.restart("log-2");
  await sample.pass(20);
  assert.equal(summarize(await sample.status()).available, true);
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});

test("[FDB9] hall by hall costs a recovery or two each", async () => {
  const servers = hallServers(3);
  const coordinators = addressesOf(servers, ["log-h1z1", "log-h2z1", "log-h3z1"]);
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new triple ssd", 60_000));
  await sample.pass(60);
  await sample.call(sample.admin.configure("three_data_hall", 60_000));
  await sample.pass(60);
  for (const hall of ["h1z", "h2z", "h3z"]) {
    const names = sample.cluster.names().filter((name) => name.includes(hall));
    assert.ok((await kill(sample, names)) <= 4);
  }
  assert.ok((await generation(sample)) <= 16);
});

test("[FDB41] a status that is asked for during a restart is lost; the next one is not", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const addresses = sample.cluster.names().map((name) => sample.cluster.address(name));
  const beganMs = sample.clock.nowMs();
  const lost = sample.admin.status(20_000);
  await sample.pass(0.15);
  const killed = sample.admin.kill(addresses, 20_000);
  const outcome = lost.catch((error: unknown) => error);
  await sample.call(killed);
  const status = await sample.status(3_000);
  assert.equal(status.client?.database_status?.available, true);
  assert.equal(((await sample.call(outcome)) as FdbError).code, 1031);
  assert.equal(sample.clock.nowMs() - beganMs, 20_000);
});
