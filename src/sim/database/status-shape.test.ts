// Compares the simulated status with captures of a real one: the same fields of the same types in
// the same states.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  addressesOf,
  datacenterServers,
  hallServers,
  plainServers,
  regionServers,
  regionsWord,
  startPlain,
  startSample,
} from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

const folder = new URL("../../../test/data/fdb/status/", import.meta.url);

function capture(name: string): DatabaseStatus {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as DatabaseStatus;
}

/** Every path with its type; process and machine ids, and positions in lists, do not count. */
function shapeOf(value: unknown, path = "", into = new Set<string>()): Set<string> {
  if (Array.isArray(value)) {
    into.add(`${path}: array`);
    for (const item of value) shapeOf(item, `${path}[${labelOf(path, item)}]`, into);
  } else if (typeof value === "object" && value !== null) {
    into.add(`${path}: object`);
    const isKeyed = path === ".cluster.processes" || path === ".cluster.machines";
    for (const [key, item] of Object.entries(value))
      shapeOf(item, `${path}.${isKeyed ? "*" : key}`, into);
  } else {
    into.add(`${path}: ${value === null ? "null" : typeof value}`);
  }
  return into;
}

/** Roles and messages of different kinds have different fields. */
function labelOf(path: string, item: unknown): string {
  const record = item as { role?: string; name?: string };
  if (path.endsWith(".roles")) return record.role ?? "";
  return path.endsWith("messages") ? (record.name ?? "") : "";
}

/** Fields of captures that the simulation leaves out, and why. */
const omissions: readonly [RegExp, string][] = [
  [/latency_statistics|commit_batching_window_size/, "appear only in roles older than a minute"],
  [/^\.cluster\.processes\.\*\.messages\[storage_server_lagging\]/, "load of the captured machine"],
];

/** Fields that the simulation has and none of the copied captures, and why. */
const additions: readonly [RegExp, string][] = [
  [
    /messages\[unreachable_processes\]/,
    "seen in the timelines of real runs, in no captured status",
  ],
];

const allShapes = new Set<string>();
for (const file of readdirSync(folder)) {
  for (const line of shapeOf(capture(file.replace(".json", "")))) allShapes.add(line);
}

function compare(simulated: DatabaseStatus, name: string): void {
  // What travels over the network is JSON, so the comparison is made behind it.
  const own = shapeOf(JSON.parse(JSON.stringify(simulated)));
  const missing = [...shapeOf(capture(name))].filter(
    (line) => !own.has(line) && !omissions.some(([pattern]) => pattern.test(line)),
  );
  const extra = [...own].filter(
    (line) => !allShapes.has(line) && !additions.some(([pattern]) => pattern.test(line)),
  );
  assert.deepEqual({ missing, extra }, { missing: [], extra: [] }, name);
}

test("[FDB29] status before and just after configure new has the captured fields", async () => {
  const sample = await startSample({
    servers: plainServers(),
    coordinators: ["10.1.0.11:4501", "10.1.0.12:4501", "10.1.0.13:4501"],
  });
  compare(await sample.status(), "01-no-database");
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  compare(await sample.status(), "02-just-configured");
  await sample.pass(40);
  const healthy = await sample.status();
  compare(healthy, "03-healthy-double");
  const real = capture("03-healthy-double");
  assert.deepEqual(healthy.cluster?.configuration, real.cluster?.configuration);
  assert.deepEqual(healthy.cluster?.data?.state, real.cluster?.data?.state);
  assert.deepEqual(healthy.cluster?.fault_tolerance, real.cluster?.fault_tolerance);
  assert.deepEqual(healthy.client?.database_status, real.client?.database_status);
  await sample.call(sample.admin.configure("logs=4", 60_000));
  compare(await sample.status(), "04-after-configure-logs3");
});

test("[FDB29] status under maintenance, lock and exclusion has the captured fields", async () => {
  const sample = await startPlain();
  await sample.pass(60);
  await sample.call(sample.admin.setMaintenanceZone("zone-storage-1", 600, 10_000));
  await sample.call(sample.admin.configure("logs=4", 10_000));
  compare(await sample.status(), "10-maintenance-on");
  await sample.pass(60);
  await sample.call(sample.admin.resetMaintenanceZone(10_000));
  sample.fdb.lock(sample.connectionString);
  compare(await sample.status(), "40-locked");
  sample.fdb.unlock(sample.connectionString);
  await sample.call(sample.admin.exclude(["10.1.0.1:4501"], { wait: false, timeoutMs: 10_000 }));
  compare(await sample.status(), "20-excluding-address-storage-1");
  await sample.pass(6);
  compare(await sample.status(), "25-data-movement");
  compare(await sample.status(), "21-excluded-address-storage-1");
  await sample.pass(20);
  await sample.call(sample.admin.include(["all"], 10_000));
  const targets = ["locality_instance_id:storage-1"];
  await sample.call(sample.admin.exclude(targets, { wait: false, timeoutMs: 10_000 }));
  compare(await sample.status(), "23-excluded-locality-storage-1");
});

test("[FDB29] status with storages and coordinators down has the captured fields", async () => {
  const sample = await startPlain();
  await sample.pass(60);
  sample.cluster.stop("storage-2");
  await sample.pass(9);
  compare(await sample.status(), "30-storage-2-down");
  await sample.pass(64);
  compare(await sample.status(), "37-storage-2-down-healing");
  await sample.call(sample.admin.kill([sample.cluster.address("stateless-2")], 10_000));
  sample.cluster.restart("storage-2");
  await sample.pass(2);
  compare(await sample.status(), "36-healthy-again");
  sample.cluster.stop("log-3");
  await sample.pass(10);
  compare(await sample.status(), "32-coordinator-log-3-down");
  sample.cluster.stop("log-2");
  compare(await sample.status(), "34-two-of-three-coordinators-down");
  sample.cluster.restart("log-2");
  sample.cluster.restart("log-3");
  await sample.pass(30);
  for (const name of ["storage-1", "storage-2", "storage-3"]) sample.cluster.stop(name);
  await sample.pass(10);
  compare(await sample.status(), "39-all-storages-down");
});

test("[FDB24] [FDB29] status of a stuck recovery has the captured fields", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const call = sample.call(sample.admin.configure("three_datacenter", 15_000));
  await assert.rejects(call, { code: 1031 });
  compare(await sample.status(), "05-stuck-after-configure-three_datacenter");
});

test("[FDB29] status with TLS has the captured fields, with suffixes where they belong", async () => {
  const servers = plainServers(":tls").filter((server) => server.name !== "stateless-2");
  const sample = await startSample({
    servers: servers.map(({ localities: _unused, ...server }) => server),
    coordinators: addressesOf(servers, ["log-1", "log-2", "log-3"]),
  });
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  await sample.pass(40);
  const status = await sample.status();
  compare(status, "tls-01-healthy");
  const { cluster, client } = status;
  assert.match(cluster?.connection_string ?? "", /@10\.1\.0\.11:4501:tls,/);
  assert.equal(client?.coordinators?.coordinators?.[0]?.address, "10.1.0.11:4501:tls");
  assert.ok(
    Object.values(cluster?.processes ?? {}).every((process) => process.address?.endsWith(":tls")),
  );
  assert.ok(cluster?.logs?.[0]?.log_interfaces?.every((log) => log.address?.endsWith(":tls")));
  assert.equal(cluster?.machines?.["node-log-1"]?.address, "10.1.0.11");
  await sample.call(sample.admin.exclude(["10.1.0.1:4501"], { wait: false, timeoutMs: 10_000 }));
  const excluding = await sample.status();
  compare(excluding, "tls-02-excluding-storage-1");
  assert.deepEqual(excluding.cluster?.configuration?.excluded_servers, [
    { address: "10.1.0.1:4501" },
  ]);
});

test("[FDB29] status with halls, datacenters and regions has the captured fields", async () => {
  const halls = hallServers(3);
  const hallSample = await startSample({
    servers: halls,
    coordinators: addressesOf(halls, ["log-h1z1", "log-h2z1", "log-h3z1"]),
  });
  await runTo(hallSample, ["new triple ssd", "three_data_hall"]);
  compare(await hallSample.status(), "tdh-05-tdh-9coord-healthy");
  for (const name of hallSample.cluster.names()) {
    if (name.includes("h3z")) hallSample.cluster.stop(name);
  }
  await hallSample.pass(75);
  compare(await hallSample.status(), "tdh-11-hall3-down-75s");

  const datacenters = datacenterServers();
  const datacenterSample = await startSample({
    servers: datacenters,
    coordinators: addressesOf(datacenters, ["dc1-log-1", "dc2-log-1", "dc3-log-1"]),
  });
  await runTo(datacenterSample, ["new triple ssd", "three_datacenter"]);
  for (const name of datacenterSample.cluster.names()) {
    if (name.startsWith("dc3")) datacenterSample.cluster.stop(name);
  }
  await datacenterSample.pass(80);
  compare(await datacenterSample.status(), "tdc-06-dc3-down-80s");

  const regions = regionServers();
  const regionSample = await startSample({
    servers: regions,
    coordinators: addressesOf(regions, ["dc1-log-1", "dc2-log-1", "dc3-log-1"]),
  });
  await runTo(regionSample, ["new double ssd", regionsWord(-1), "usable_regions=2"]);
  compare(await regionSample.status(), "regions-07-usable2-healthy");
});

async function runTo(sample: Sample, steps: readonly string[]): Promise<void> {
  for (const step of steps) {
    await sample.call(sample.admin.configure(step, 60_000));
    await sample.pass(60);
  }
}
