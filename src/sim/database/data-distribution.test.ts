// Data distribution: the timelines of exclusion and storage loss of a real cluster, and what status
// makes of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlain, summarize } from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

async function ready(): Promise<Sample> {
  const sample = await startPlain();
  await sample.pass(40);
  return sample;
}

function storageAddresses(sample: Sample): string[] {
  const replicas = sample.fdb.truth.replicas().flatMap((shard) => shard.replicas);
  return [...new Set(replicas.map((replica) => replica.address))].toSorted();
}

test("[FDB15] every shard has a copy in as many zones as the mode asks for", async () => {
  const sample = await ready();
  for (const shard of sample.fdb.truth.replicas()) {
    assert.equal(new Set(shard.replicas.map((replica) => replica.zone)).size, 2);
  }
});

test("[FDB18] [FDB30] exclusion: healthy for four seconds, then healing, then gone", async () => {
  const sample = await ready();
  const [address] = [sample.cluster.address("storage-1")];
  await sample.call(sample.admin.exclude([address], { wait: false, timeoutMs: 10_000 }));
  const first = await sample.status();
  assert.equal(summarize(first).data, "healthy");
  assert.equal(first.cluster?.data?.moving_data?.in_flight_bytes, 0);
  const own = Object.values(first.cluster?.processes ?? {}).find(
    (process) => process.address === address,
  );
  assert.equal(own?.excluded, true);
  assert.deepEqual(await sample.call(sample.admin.exclusionsInProgress(10_000)), [address]);
  await sample.pass(4);
  const second = await sample.status();
  assert.equal(summarize(second).data, "healing");
  assert.equal(second.cluster?.data?.state?.min_replicas_remaining, 2);
  assert.equal(second.cluster?.data?.moving_data?.highest_priority, 700);
  assert.equal(second.client?.database_status?.healthy, false);
  await sample.pass(15);
  assert.deepEqual(await sample.call(sample.admin.exclusionsInProgress(10_000)), []);
  assert.equal(summarize(await sample.status()).generation, 2);
  assert.ok(!storageAddresses(sample).includes(address));
});

test("[FDB18] a waiting exclusion returns when the data has left, or fails at its time limit", async () => {
  const sample = await ready();
  const targets = ["locality_instance_id:storage-1"];
  const early = sample.call(sample.admin.exclude(targets, { wait: true, timeoutMs: 5_000 }));
  await assert.rejects(early, { code: 1031 });
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), targets);
  assert.deepEqual(await sample.call(sample.admin.exclusionsInProgress(10_000)), ["10.1.0.1:4501"]);
  await sample.call(sample.admin.exclude(targets, { wait: true, timeoutMs: 100_000 }));
  assert.ok(!storageAddresses(sample).includes("10.1.0.1:4501"));
});

test("[FDB18] excluding a log costs one recovery and waits for the old generation", async () => {
  const sample = await ready();
  await sample.call(sample.admin.configure("logs=2", 10_000));
  await sample.pass(60);
  const log = (await sample.status()).cluster?.logs?.[0]?.log_interfaces?.[0]?.address ?? "";
  const startedMs = sample.clock.nowMs();
  await sample.call(sample.admin.exclude([log], { wait: true, timeoutMs: 60_000 }));
  const seconds = (sample.clock.nowMs() - startedMs) / 1000;
  assert.ok(seconds > 9 && seconds < 15, `${seconds}`);
  const after = summarize(await sample.status());
  assert.equal(after.generation, 6);
  await sample.call(sample.admin.include([log], 10_000));
  await sample.pass(5);
  assert.equal(summarize(await sample.status()).generation, 6);
});

test("[FDB18] excluding a stateless process returns before its roles have moved", async () => {
  const sample = await ready();
  const startedMs = sample.clock.nowMs();
  const address = sample.cluster.address("stateless-1");
  await sample.call(sample.admin.exclude([address], { wait: true, timeoutMs: 60_000 }));
  assert.ok(sample.clock.nowMs() - startedMs < 1_000);
  await sample.pass(10);
  const status = await sample.status();
  const own = Object.values(status.cluster?.processes ?? {}).find(
    (process) => process.address === address,
  );
  assert.deepEqual(own?.roles, []);
  assert.equal(summarize(status).generation, 4);
});

test("[FDB18] a waiting exclusion waits for its own targets only", async () => {
  const sample = await ready();
  await sample.call(sample.admin.exclude(["10.1.0.1"], { wait: false, timeoutMs: 10_000 }));
  const targets = ["locality_instance_id:stateless-2"];
  await sample.call(sample.admin.exclude(targets, { wait: true, timeoutMs: 2_000 }));
  assert.deepEqual(await sample.call(sample.admin.exclusionsInProgress(10_000)), ["10.1.0.1:4501"]);
});

test("[FDB18] an unknown address is excluded too", async () => {
  const sample = await ready();
  await sample.call(sample.admin.exclude(["10.9.9.9:4501"], { wait: true, timeoutMs: 10_000 }));
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), ["10.9.9.9:4501"]);
  await sample.call(sample.admin.include(["all"], 10_000));
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), []);
});

test("[FDB18] a whole IP address excludes all its processes", async () => {
  const sample = await ready();
  await sample.call(sample.admin.exclude(["10.1.0.1"], { wait: false, timeoutMs: 10_000 }));
  assert.deepEqual(await sample.call(sample.admin.exclusionsInProgress(10_000)), ["10.1.0.1:4501"]);
});

test("[FDB19] [FDB28] [FDB30] the days of a dead storage server, as seen in status", async () => {
  const sample = await ready();
  sample.cluster.stop("storage-2");
  const seen: Record<string, unknown>[] = [];
  const startedMs = sample.clock.nowMs();
  for (const second of [4, 10, 30, 60, 70, 76, 96]) {
    await sample.pass((startedMs + second * 1000 - sample.clock.nowMs()) / 1000);
    const line = summarize(await sample.status());
    seen.push({
      second,
      data: line.data,
      healthy: line.healthy,
      full: line.fullReplication,
      min: line.minReplicas,
      tolerance: line.tolerance,
      processes: line.processes,
    });
  }
  const healthy = {
    data: "healthy",
    healthy: true,
    full: true,
    min: 2,
    tolerance: [1, 1],
    processes: 7,
  };
  assert.deepEqual(seen, [
    { second: 4, ...healthy, healthy: false, processes: 8 },
    { second: 10, ...healthy },
    { second: 30, ...healthy },
    { second: 60, ...healthy },
    { second: 70, ...healthy },
    {
      second: 76,
      data: "healing",
      healthy: false,
      full: true,
      min: 1,
      tolerance: [0, 0],
      processes: 7,
    },
    { second: 96, ...healthy },
  ]);
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});

test("[FDB19] a storage server that returns in time moves nothing", async () => {
  const sample = await ready();
  const before = storageAddresses(sample);
  sample.cluster.stop("storage-2");
  await sample.pass(50);
  sample.cluster.restart("storage-2");
  await sample.pass(60);
  assert.deepEqual(storageAddresses(sample), before);
  assert.ok(!sample.trace.some((line) => line.includes(" moves to ")));
});

test("[FDB19] a zone under maintenance is spared", async () => {
  const sample = await ready();
  await sample.call(sample.admin.setMaintenanceZone("zone-storage-2", 200, 10_000));
  sample.cluster.stop("storage-2");
  await sample.pass(150);
  const during = await sample.status();
  assert.equal(summarize(during).data, "healthy");
  assert.equal(during.cluster?.maintenance_zone, "zone-storage-2");
  assert.deepEqual(summarize(during).tolerance, [0, 0]);
  await sample.pass(52);
  assert.equal(summarize(await sample.status()).data, "healing");
});

test("[FDB19] the failure of another zone ends a maintenance", async () => {
  const sample = await ready();
  await sample.call(sample.admin.setMaintenanceZone("zone-storage-2", 600, 10_000));
  sample.cluster.stop("storage-3");
  await sample.pass(80);
  assert.equal((await sample.status()).cluster?.maintenance_zone, undefined);
});

test("[FDB20] a changed configuration makes data distribution start over", async () => {
  const sample = await ready();
  await sample.call(sample.admin.configure("logs=2", 10_000));
  const seen: unknown[] = [];
  for (const seconds of [0, 3, 3, 25, 5]) {
    await sample.pass(seconds);
    const line = summarize(await sample.status());
    seen.push([line.data, line.healthy, line.messages]);
  }
  assert.deepEqual(seen, [
    ["healthy", true, []],
    [undefined, false, ["status_incomplete"]],
    ["initializing", true, []],
    ["initializing", true, []],
    ["healthy", true, []],
  ]);
});

test("[FDB20] a distributor that stays put shows no interruption", async () => {
  const sample = await ready();
  await sample.call(sample.admin.kill([sample.cluster.address("log-1")], 10_000));
  await sample.pass(5);
  const line = summarize(await sample.status());
  assert.deepEqual([line.generation, line.data], [4, "healthy"]);
});

test("[FDB17] more copies than storage zones are spread over log processes for half a minute", async () => {
  const sample = await ready();
  await sample.call(sample.admin.configure("triple", 10_000));
  await sample.pass(5);
  const during = summarize(await sample.status());
  assert.deepEqual(
    [during.data, during.roles],
    ["initializing", { ...(during.roles as object), storage: 6 }],
  );
  await sample.pass(60);
  const after = summarize(await sample.status());
  assert.deepEqual([after.data, after.minReplicas], ["healthy", 3]);
  assert.deepEqual(after.roles, { ...(after.roles as object), storage: 3 });
  for (const shard of sample.fdb.truth.replicas()) assert.equal(shard.replicas.length, 3);
});

test("[FDB17] with one storage process left for double, a log process takes the second copy", async () => {
  const sample = await ready();
  const targets = ["10.1.0.1:4501", "10.1.0.2:4501"];
  await sample.call(sample.admin.exclude(targets, { wait: true, timeoutMs: 120_000 }));
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
  for (const shard of sample.fdb.truth.replicas()) {
    assert.equal(new Set(shard.replicas.map((replica) => replica.zone)).size, 2);
    assert.ok(!shard.replicas.some((replica) => targets.includes(replica.address)));
  }
});

test("[FDB21] a new storage process gets its share, and then nothing moves and no timer is left", async () => {
  const sample = await ready();
  sample.cluster.start({ name: "storage-4", processClass: "storage", address: "10.1.0.4:4501" });
  await sample.pass(200);
  assert.ok(storageAddresses(sample).includes("10.1.0.4:4501"));
  assert.equal(summarize(await sample.status()).data, "healthy");
  assert.equal(sample.clock.pendingTimers, 0);
});

test("[FDB15] a team member restarted into its mate's zone breaks the distributor, and the data moves", async () => {
  const sample = await ready();
  sample.cluster.restart("storage-1", { localities: { zoneid: "zone-storage-2" } });
  await sample.pass(10);
  const broken = await sample.status();
  const messages = Object.values(broken.cluster?.processes ?? {}).flatMap(
    (process) => process.messages ?? [],
  );
  assert.deepEqual(
    messages.map((message) => message.name),
    ["internal_error"],
  );
  assert.equal(broken.client?.database_status?.healthy, false);
  assert.equal(summarize(broken).generation, 2);
  await sample.pass(100);
  for (const shard of sample.fdb.truth.replicas()) {
    assert.equal(new Set(shard.replicas.map((replica) => replica.zone)).size, 2);
  }
});
