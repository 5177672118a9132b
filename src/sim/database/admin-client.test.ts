// The commands of an operator and their answers, as fdbcli and the client library give them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfBinary, bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import type { TransactionOptions } from "../../fdb/admin.ts";
import { startPlain, summarize } from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

async function ready(): Promise<Sample> {
  const sample = await startPlain();
  await sample.pass(40);
  return sample;
}

test("[FDB25] bad, doubled and unreachable coordinators are refused; the same ones change nothing", async () => {
  const sample = await ready();
  const change = (addresses: string[]): Promise<string> =>
    sample.call(sample.admin.changeCoordinators(addresses, 60_000));
  await assert.rejects(change(["foo"]), {
    message: "ERROR: 'foo' is not a valid network endpoint address",
  });
  await assert.rejects(change(["10.1.0.11:4501", "10.1.0.11:4501"]), {
    message: "ERROR: passed redundant coordinators: `10.1.0.11:4501'",
  });
  const startedMs = sample.clock.nowMs();
  await assert.rejects(change(["10.1.0.11:4501", "10.1.0.12:4501", "10.1.0.77:4501"]), {
    message: "ERROR: One of the specified coordinators is unreachable",
  });
  assert.ok(sample.clock.nowMs() - startedMs >= 5_000);
  await assert.rejects(change(["10.1.0.11:4501:tls"]), { message: /unreachable/ });
  const same = await change(["10.1.0.13:4501", "10.1.0.12:4501", "10.1.0.11:4501"]);
  assert.equal(same, sample.connectionString);
  assert.equal(summarize(await sample.status()).generation, 2);
});

test("[FDB25] new coordinators give a new connection string and one recovery", async () => {
  const sample = await ready();
  const text = await sample.call(
    sample.admin.changeCoordinators(["10.1.0.1:4501", "10.1.0.2:4501", "10.1.0.3:4501"], 60_000),
  );
  const status = await sample.status();
  assert.equal(status.cluster?.connection_string, text);
  assert.equal(status.cluster?.generation, 4);
  const coordinators = Object.values(status.cluster?.processes ?? {})
    .filter((process) => process.roles?.some(({ role }) => role === "coordinator"))
    .map((process) => process.class_type);
  assert.deepEqual(coordinators, ["storage", "storage", "storage"]);
});

test("[FDB33] kill names what it does not know and then kills nothing", async () => {
  const sample = await ready();
  const kill = (addresses: string[]): Promise<void> =>
    sample.call(sample.admin.kill(addresses, 10_000));
  await assert.rejects(kill(["10.1.0.1:4501", "10.9.9.9:4501"]), {
    code: 0,
    message: "ERROR: process `10.9.9.9:4501' not recognized.",
  });
  await assert.rejects(kill(["10.1.0.1:4501:tls"]), { message: /not recognized/ });
  assert.ok(!sample.trace.some((line) => line.includes("killed")));
  const startedMs = sample.clock.nowMs();
  await kill(["10.1.0.1:4501"]);
  assert.equal(sample.clock.nowMs() - startedMs, 3_100);
  assert.equal(sample.cluster.lastExit("storage-1")?.code, 0);
});

test("[FDB18] malformed targets of exclude and include are refused whole", async () => {
  const sample = await ready();
  const exclude = (targets: string[]): Promise<void> =>
    sample.call(sample.admin.exclude(targets, { wait: false, timeoutMs: 10_000 }));
  await assert.rejects(exclude(["10.1.0.1", "storage-1"]), {
    message: "ERROR: 'storage-1' is neither a valid network endpoint address nor a locality",
  });
  await assert.rejects(exclude(["10.1.0.1:4501:tls"]), {
    message: /Do not include the `:tls' suffix/,
  });
  await assert.rejects(exclude([]), { message: /At least one valid network endpoint/ });
  await assert.rejects(sample.call(sample.admin.include(["x"], 10_000)), {
    message: /neither a valid/,
  });
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), []);
});

test("[FDB33] a connection string that cannot be read is 2104, a closed client is a mistake", async () => {
  const sample = await ready();
  const broken = sample.fdb.admin.open({
    name: "x",
    connectionString: "nonsense",
    version: "7.3.79",
  });
  await assert.rejects(sample.call(broken.status(10_000)), { code: 2104 });
  sample.admin.close();
  await assert.rejects(sample.status(), /closed/);
});

test("[FDB32] clients are listed with versions and log groups, the operator's own too", async () => {
  const sample = await ready();
  const client = { address: "10.9.0.1:1234", logGroup: "app", versions: ["7.1.67", "7.3.79"] };
  sample.fdb.addClient(sample.connectionString, client);
  const { cluster } = await sample.status();
  assert.equal(cluster?.clients?.count, 2);
  const [old, current] = cluster?.clients?.supported_versions ?? [];
  assert.deepEqual(
    [old?.client_version, old?.count, old?.max_protocol_count, old?.protocol_version],
    ["7.1.67", 1, 0, "fdb00b071000000"],
  );
  assert.deepEqual(
    current?.max_protocol_clients?.map((entry) => entry.log_group),
    ["fdb-kubernetes-operator", "app"],
  );
  sample.fdb.removeClient(sample.connectionString, client.address);
  assert.equal((await sample.status()).cluster?.clients?.count, 1);
});

test("[FDB27] a lock shows in status; management goes on", async () => {
  const sample = await ready();
  const uid = sample.fdb.lock(sample.connectionString);
  assert.deepEqual((await sample.status()).cluster?.database_lock_state, {
    lock_uid: uid,
    locked: true,
  });
  await sample.call(sample.admin.exclude(["10.1.0.1"], { wait: false, timeoutMs: 10_000 }));
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), ["10.1.0.1"]);
  const read = (options: Partial<TransactionOptions>): Promise<unknown> =>
    sample.call(
      sample.admin.transact((transaction) => transaction.get(bytesOfText("a")), {
        timeoutMs: 5_000,
        ...options,
      }),
    );
  await assert.rejects(read({}), { code: 1038 });
  assert.equal(await read({ lockAware: true }), undefined);
});

test("[FDB31] a process shows command line, class, version, uptime and machine", async () => {
  const sample = await ready();
  const { cluster } = await sample.status();
  const process = Object.values(cluster?.processes ?? {}).find(
    ({ address }) => address === "10.1.0.1:4501",
  );
  assert.match(
    process?.command_line ?? "",
    /^\/usr\/bin\/fdbserver --cluster_file=.* --class=storage /,
  );
  assert.deepEqual(
    [process?.class_type, process?.class_source, process?.version, process?.excluded],
    ["storage", "command_line", "7.3.79", false],
  );
  assert.equal(process?.uptime_seconds, (sample.clock.nowMs() - sample.startedMs) / 1000);
  assert.equal(process?.locality?.["instance_id"], "storage-1");
  assert.equal(process?.fault_domain, "zone-storage-1");
  assert.equal(cluster?.machines?.["node-storage-1"]?.contributing_workers, 1);
});

test("[FDB28] a process that just came back has no locality, and status is incomplete", async () => {
  const sample = await ready();
  await sample.call(sample.admin.kill(["10.1.0.1:4501"], 10_000));
  const find = async (): Promise<unknown[]> => {
    const status = await sample.status();
    const process = Object.values(status.cluster?.processes ?? {}).find(
      ({ address }) => address === "10.1.0.1:4501",
    );
    return [process?.locality !== undefined, summarize(status).messages, summarize(status).healthy];
  };
  assert.deepEqual(await find(), [false, ["status_incomplete"], false]);
  await sample.pass(5);
  assert.deepEqual(await find(), [true, [], true]);
});

const management = { timeoutMs: 30_000, specialKeySpaceEnableWrites: true, lockAware: true };

async function special(sample: Sample, key: string): Promise<string | undefined> {
  const read = sample.admin.transact((transaction) => transaction.get(bytesOfBinary(key)), {
    timeoutMs: 10_000,
    lockAware: true,
  });
  const value = await sample.call(read);
  return value && textOfBytes(value);
}

async function put(sample: Sample, key: string, value: string): Promise<void> {
  await sample.call(
    sample.admin.transact(async (transaction) => {
      transaction.set(bytesOfBinary(key), bytesOfText(value));
    }, management),
  );
}

test("[FDB37] the special keys show status, connection string and classes", async () => {
  const sample = await ready();
  const status: unknown = JSON.parse((await special(sample, "\xff\xff/status/json")) ?? "");
  assert.ok(typeof status === "object" && status !== null && "cluster" in status);
  assert.equal(await special(sample, "\xff\xff/connection_string"), sample.connectionString);
  const key = "\xff\xff/configuration/process/class_type/10.1.0.1:4501";
  assert.equal(await special(sample, key), "storage");
  await put(sample, key, "stateless");
  await sample.pass(5);
  const { cluster } = await sample.status();
  const changed = Object.values(cluster?.processes ?? {}).find(
    ({ address }) => address === "10.1.0.1:4501",
  );
  assert.deepEqual([changed?.class_type, changed?.class_source], ["stateless", "set_class"]);
});

test("[FDB37] exclusions, maintenance and lock can be written as keys", async () => {
  const sample = await ready();
  await put(sample, "\xff\xff/management/excluded/10.1.0.1:4501", "");
  await put(sample, "\xff\xff/management/excluded_locality/locality_zoneid:x", "");
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), [
    "10.1.0.1:4501",
    "locality_zoneid:x",
  ]);
  assert.equal(
    await special(sample, "\xff\xff/management/in_progress_exclusion/10.1.0.1:4501"),
    "",
  );
  await put(sample, "\xff\xff/management/maintenance/zone-storage-1", "600.0");
  assert.equal((await sample.status()).cluster?.maintenance_zone, "zone-storage-1");
  await sample.call(
    sample.admin.transact(async (transaction) => {
      const prefix = "\xff\xff/management/";
      transaction.clearRange(
        bytesOfBinary(`${prefix}excluded/`),
        bytesOfBinary(`${prefix}excluded0`),
      );
      transaction.clearRange(
        bytesOfBinary(`${prefix}maintenance/`),
        bytesOfBinary(`${prefix}maintenance0`),
      );
      transaction.set(bytesOfBinary(`${prefix}db_locked`), bytesOfText("ab12"));
    }, management),
  );
  const { cluster } = await sample.status();
  assert.deepEqual(cluster?.configuration?.excluded_servers, [{ locality: "locality_zoneid:x" }]);
  assert.equal(cluster?.maintenance_zone, undefined);
  assert.equal(cluster?.database_lock_state?.lock_uid, "ab12");
});

test("[FDB37] what makes no sense is 2117, with the reason in error_message", async () => {
  const sample = await ready();
  const refused: [string, string, RegExp][] = [
    ["\xff\xff/management/excluded/storage-1", "", /neither a valid network endpoint address/],
    ["\xff\xff/configuration/coordinators/processes", "10.1.0.11:4501,10.1.0.11:4501", /redundant/],
    ["\xff\xff/configuration/coordinators/processes", "10.1.0.99:4501", /unreachable/],
    ["\xff\xff/management/maintenance/z", "soon", /seconds/],
  ];
  for (const [key, value, reason] of refused) {
    await assert.rejects(put(sample, key, value), { code: 2117 });
    assert.match((await special(sample, "\xff\xff/error_message")) ?? "", reason);
  }
  const same = "10.1.0.11:4501,10.1.0.12:4501,10.1.0.13:4501";
  const key = "\xff\xff/configuration/coordinators/processes";
  await assert.rejects(put(sample, key, same), { code: 2117 });
  await put(sample, key, "10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501");
  await sample.pass(5);
  assert.match((await sample.status()).cluster?.connection_string ?? "", /@10\.1\.0\.1:4501,/);
});
