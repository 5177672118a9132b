// three_data_hall and three_datacenter: what a real cluster did when a hall or datacenter went, was
// missing, or was excluded.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressesOf,
  datacenterServers,
  hallServers,
  startPlain,
  startSample,
  summarize,
} from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

async function hallSample(): Promise<Sample> {
  const servers = hallServers(3);
  const coordinators = addressesOf(servers, ["log-h1z1", "log-h2z1", "log-h3z1"]);
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new triple ssd", 60_000));
  await sample.pass(60);
  await sample.call(sample.admin.configure("three_data_hall", 60_000));
  await sample.pass(60);
  const logs = [1, 2, 3].flatMap((hall) => [1, 2, 3].map((zone) => `log-h${hall}z${zone}`));
  await sample.call(sample.admin.changeCoordinators(addressesOf(servers, logs), 60_000));
  await sample.pass(60);
  return sample;
}

function stop(sample: Sample, pattern: RegExp): void {
  for (const name of sample.cluster.names()) if (pattern.test(name)) sample.cluster.stop(name);
}

function restart(sample: Sample, pattern: RegExp): void {
  for (const name of sample.cluster.names()) if (pattern.test(name)) sample.cluster.restart(name);
}

async function look(sample: Sample): Promise<Record<string, unknown>> {
  const line = summarize(await sample.status());
  const { available, healthy, generation, recovery, data, minReplicas, tolerance } = line;
  return { available, healthy, generation, recovery, data, minReplicas, tolerance };
}

test("[FDB14] [FDB26] three halls: three copies in three halls, four logs in two, tolerance 2", async () => {
  const sample = await hallSample();
  const status = await sample.status();
  assert.deepEqual(await look(sample), {
    available: true,
    healthy: true,
    generation: 6,
    recovery: "fully_recovered",
    data: "healthy",
    minReplicas: 3,
    tolerance: [2, 2],
  });
  const set = status.cluster?.logs?.[0];
  assert.deepEqual(
    [set?.log_interfaces?.length, set?.log_replication_factor, set?.log_fault_tolerance],
    [4, 4, 3],
  );
  for (const shard of sample.fdb.truth.replicas()) {
    assert.equal(new Set(shard.replicas.map((replica) => replica.localities["data_hall"])).size, 3);
  }
});

test("[FDB11] [FDB30] a lost hall: called healthy for seventy seconds, never fully recovered", async () => {
  const sample = await hallSample();
  stop(sample, /h3z/);
  await sample.pass(42);
  const early = await look(sample);
  assert.deepEqual(early, {
    available: true,
    healthy: true,
    generation: 8,
    recovery: "all_logs_recruited",
    data: "healthy",
    minReplicas: 3,
    tolerance: [1, 1],
  });
  await sample.pass(35);
  const late = await sample.status();
  assert.deepEqual(summarize(late).data, "healing");
  assert.equal(late.cluster?.data?.state?.description, "Only two replicas remain of some data");
  assert.equal(late.cluster?.full_replication, true);
  assert.equal(summarize(late).recovery, "all_logs_recruited");
  await sample.call(sample.admin.configure("three_data_hall_fallback", 60_000));
  await sample.pass(38);
  const fallback = await look(sample);
  assert.deepEqual(
    [fallback.healthy, fallback.data, fallback.minReplicas, fallback.recovery, fallback.tolerance],
    [true, "healthy", 2, "all_logs_recruited", [1, 1]],
  );
  restart(sample, /h3z/);
  await sample.pass(3);
  const back = await look(sample);
  assert.deepEqual([back.recovery, back.generation], ["fully_recovered", 10]);
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});

test("[FDB26] a hall and one more zone down: still available, tolerance 0", async () => {
  const sample = await hallSample();
  stop(sample, /h3z/);
  await sample.pass(80);
  stop(sample, /h2z3/);
  await sample.pass(15);
  const line = await look(sample);
  assert.deepEqual([line.available, line.tolerance], [true, [0, 0]]);
  restart(sample, /h2z3/);
  await sample.pass(10);
  assert.deepEqual((await look(sample)).tolerance, [1, 1]);
});

test("[FDB18] [FDB30] the exclusion of a whole hall never ends while status looks healthy", async () => {
  const sample = await hallSample();
  const targets = ["locality_data_hall:hall3"];
  await sample.call(sample.admin.exclude(targets, { wait: false, timeoutMs: 10_000 }));
  await sample.pass(120);
  const line = await look(sample);
  assert.deepEqual([line.healthy, line.data, line.minReplicas], [true, "healthy", 3]);
  assert.ok((await sample.call(sample.admin.exclusionsInProgress(10_000))).length > 0);
  const status = await sample.status();
  assert.deepEqual(status.cluster?.configuration?.excluded_servers, [{ locality: targets[0] }]);
  await sample.call(sample.admin.configure("three_data_hall_fallback", 60_000));
  await sample.pass(60);
  assert.deepEqual(await sample.call(sample.admin.exclusionsInProgress(10_000)), []);
});

test("[FDB17] [FDB30] three_data_hall with two halls is taken and called healthy with three copies", async () => {
  const servers = hallServers(2);
  const coordinators = addressesOf(servers, ["log-h1z1", "log-h2z1", "log-h2z2"]);
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new triple ssd", 60_000));
  await sample.pass(60);
  await sample.call(sample.admin.configure("three_data_hall", 60_000));
  await sample.pass(60);
  const line = summarize(await sample.status());
  assert.deepEqual(
    [line.available, line.healthy, line.data, line.minReplicas, line.generation],
    [true, true, "healthy", 3, 4],
  );
  assert.deepEqual(line.roles, { ...(line.roles as object), storage: 12, log: 4 });
  const halls = sample.fdb.truth
    .replicas()
    .map((shard) => new Set(shard.replicas.map((replica) => replica.localities["data_hall"])).size);
  assert.ok(halls.every((count) => count < 3));
  await sample.call(sample.admin.configure("triple", 60_000));
  await sample.pass(60);
  const undone = summarize(await sample.status());
  assert.deepEqual(
    [undone.healthy, undone.roles],
    [true, { ...(undone.roles as object), storage: 6 }],
  );
});

test("[FDB24] three_data_hall without halls bricks the database; only halls free it", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  await assert.rejects(sample.call(sample.admin.configure("three_data_hall", 20_000)), {
    code: 1031,
  });
  const stuck = await sample.status();
  assert.deepEqual(
    [summarize(stuck).available, summarize(stuck).generation, summarize(stuck).recovery],
    [false, 3, "recruiting_transaction_servers"],
  );
  assert.equal(stuck.cluster?.configuration, undefined);
  assert.equal(stuck.cluster?.recovery_state?.seconds_since_last_recovered, -1);
  await assert.rejects(sample.call(sample.admin.configure("double", 30_000)), { code: 1031 });
  for (const name of sample.cluster.names()) {
    sample.cluster.restart(name, { localities: { data_hall: `hall${name.slice(-1)}` } });
  }
  await sample.pass(10);
  const freed = summarize(await sample.status());
  assert.deepEqual([freed.available, freed.generation, freed.mode], [true, 5, "three_data_hall"]);
  await sample.call(sample.admin.configure("double", 30_000));
  assert.deepEqual(summarize(await sample.status()).generation, 7);
});

test("[FDB26] [FDB30] three_datacenter with two zones each: the figures of a real one", async () => {
  const servers = datacenterServers();
  const coordinators = addressesOf(servers, ["dc1-log-1", "dc2-log-1", "dc3-log-1"]);
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new triple ssd", 60_000));
  await sample.pass(60);
  await sample.call(sample.admin.configure("three_datacenter", 60_000));
  const first = await look(sample);
  assert.deepEqual([first.generation, first.minReplicas, first.tolerance], [4, 6, [1, 0]]);
  await sample.pass(60);
  const nine = [1, 2, 3].flatMap((dc) => [`dc${dc}-log-1`, `dc${dc}-log-2`, `dc${dc}-storage-1`]);
  await sample.call(sample.admin.changeCoordinators(addressesOf(servers, nine), 60_000));
  const stayed = await look(sample);
  assert.deepEqual([stayed.data, stayed.tolerance], ["healthy", [2, 0]]);
  await sample.pass(30);
  stop(sample, /^dc3/);
  await sample.pass(85);
  assert.deepEqual(await look(sample), {
    available: true,
    healthy: true,
    generation: 8,
    recovery: "all_logs_recruited",
    data: "healthy",
    minReplicas: 6,
    tolerance: [1, -1],
  });
  stop(sample, /^dc2.*-2$/);
  await sample.pass(10);
  const stuck = await look(sample);
  assert.deepEqual([stuck.available, stuck.generation], [false, 9]);
  restart(sample, /^dc2.*-2$/);
  await sample.pass(10);
  const freed = await look(sample);
  assert.deepEqual([freed.available, freed.generation, freed.tolerance], [true, 10, [1, -1]]);
  restart(sample, /^dc3/);
  await sample.pass(30);
  const back = await look(sample);
  assert.deepEqual(
    [back.recovery, back.generation, back.tolerance],
    ["fully_recovered", 10, [2, 0]],
  );
  await sample.call(sample.admin.configure("three_datacenter_fallback", 60_000));
  const fallback = await look(sample);
  assert.deepEqual(
    [fallback.generation, fallback.minReplicas, fallback.tolerance],
    [12, 4, [2, 2]],
  );
});
