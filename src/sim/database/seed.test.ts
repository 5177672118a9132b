// A simulated database made of the status of a real one: it says of itself what the real one said, and rests.
// Rules FDB70 and FDB71.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { capturedStatus } from "../../../test/fixtures/captured-status.ts";
import { createLocalCluster } from "./local-cluster.ts";
import type { LocalCluster } from "./local-cluster.ts";
import { createSimulatedFdb } from "./simulated-fdb.ts";
import type { SimulatedFdb, SimulatedFdbOptions } from "./simulated-fdb.ts";

const takenMs = Date.parse("2026-11-15T12:00:00Z");

interface Woken {
  clock: VirtualClock;
  fdb: SimulatedFdb;
  cluster: LocalCluster;
  status: () => Promise<DatabaseStatus>;
}

async function wake(
  captured: DatabaseStatus,
  options: Pick<SimulatedFdbOptions, "newcomersFirst"> = {},
  seed = 1,
): Promise<Woken> {
  const clock = new VirtualClock(takenMs);
  const resolver = { resolve: () => undefined };
  const fdb = createSimulatedFdb({ clock, random: seededRandom(seed), resolver, ...options });
  assert.deepEqual(fdb.wake(captured).problems, []);
  const connectionString = captured.cluster?.connection_string ?? "";
  const cluster = createLocalCluster(clock, fdb, connectionString);
  for (const { processId, processClass, address, localities, version } of fdb.awaited()) {
    const { processid: _own, ...given } = localities;
    cluster.start({ name: processId, processClass, address, localities: given, version });
  }
  await clock.advance(10_000);
  assert.deepEqual(fdb.awaited(), []);
  const admin = fdb.admin.open({ name: "test", connectionString, version: "7.3.79" });
  return {
    ...{ clock, fdb, cluster },
    status: async () => {
      const asked = admin.status(30_000);
      await clock.advance(10_000);
      return await asked;
    },
  };
}

/** What an operator decides by. */
function facts({ client, cluster = {} }: DatabaseStatus): unknown {
  const { configuration, connection_string, fault_tolerance, full_replication, generation } =
    cluster;
  const processes = Object.entries(cluster.processes ?? {}).map(([id, process]) => ({
    ...{ id, address: process.address, class: process.class_type, locality: process.locality },
    ...{ excluded: process.excluded, version: process.version, zone: process.fault_domain },
    roles: (process.roles ?? [])
      .map(({ role, id: roleId }) => `${role} ${roleId ?? ""}`)
      .toSorted(),
  }));
  const logs = (cluster.logs ?? []).map((set) => ({
    ...{ tolerance: set.log_fault_tolerance, replication: set.log_replication_factor },
    ...{ satellite: set.satellite_log_replication_factor },
    ids: (set.log_interfaces ?? []).map(({ id }) => id).toSorted(),
  }));
  return {
    ...{ configuration, connection_string, fault_tolerance, full_replication, generation, logs },
    ...{ dataState: cluster.data?.state, recovery: cluster.recovery_state?.name },
    ...{ lock: cluster.database_lock_state, primary: cluster.active_primary_dc },
    available: client?.database_status?.available,
    coordinators: client?.coordinators?.coordinators?.map(({ address }) => address).toSorted(),
    processes: processes.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
  };
}

const resting = [
  "03-healthy-double",
  "40-locked",
  "regions-07-usable2-healthy",
  "tdh-05-tdh-9coord-healthy",
  "tls-01-healthy",
];

for (const name of resting) {
  test(`[FDB70] a database made of the status ${name} says what the real one said, and rests`, async () => {
    const captured = capturedStatus(name);
    const { clock, fdb, status } = await wake(captured);
    assert.deepEqual(facts(await status()), facts(captured));
    await clock.advance(600_000);
    assert.deepEqual(facts(await status()), facts(captured), "ten minutes later");
    const [truth] = fdb.truth.databases();
    assert.equal(truth?.recoveries.length, 1);
    assert.deepEqual(fdb.truth.dataLost(), []);
  });
}

test("[FDB70] its processes have the age that they had, and its storage servers the data", async () => {
  const captured = capturedStatus("25-data-movement");
  const { status } = await wake(captured);
  const woken = await status();
  for (const [id, process] of Object.entries(captured.cluster?.processes ?? {})) {
    const age =
      (woken.cluster?.processes?.[id]?.uptime_seconds ?? 0) - (process.uptime_seconds ?? 0);
    assert.ok(age >= 10 && age <= 21, `${process.address} is ${age} s older`);
  }
  const stored = (of: DatabaseStatus): number =>
    Object.values(of.cluster?.processes ?? {})
      .flatMap(({ roles = [] }) => roles)
      .reduce((sum, role) => sum + Number(role["stored_bytes"] ?? 0), 0);
  assert.ok(stored(captured) > 0);
  assert.ok(Math.abs(stored(woken) / stored(captured) - 1) < 0.01, `${stored(woken)}`);
});

test("[FDB70] it lives on: the loss of a log is one recovery, and the data survives a storage server", async () => {
  const captured = capturedStatus("03-healthy-double");
  const { clock, fdb, cluster, status } = await wake(captured);
  const ofRole = (role: string): string =>
    Object.entries(captured.cluster?.processes ?? {}).find(([, { roles = [] }]) =>
      roles.some((one) => one.role === role),
    )?.[0] ?? "";
  cluster.restart(ofRole("log"));
  await clock.advance(60_000);
  assert.equal((await status()).cluster?.generation, (captured.cluster?.generation ?? 0) + 2);
  cluster.stop(ofRole("storage"));
  await clock.advance(300_000);
  const healed = await status();
  assert.equal(healed.cluster?.data?.state?.healthy, true);
  assert.deepEqual(fdb.truth.dataLost(), []);
});

for (const newcomersFirst of [true, false]) {
  const when = newcomersFirst ? "before" : "after";
  test(`[FDB73] an equal process that comes later gets a role ${when} the others`, async () => {
    const captured = capturedStatus("03-healthy-double");
    const { clock, cluster, status } = await wake(captured, { newcomersFirst });
    const logs = Object.entries(captured.cluster?.processes ?? {}).filter(
      ([, process]) => process.class_type === "log",
    );
    const [id = "", log] = logs[0] ?? [];
    assert.ok(log);
    for (const [index, address] of ["10.0.0.1:4500", "99.0.0.1:4500"].entries()) {
      const { processid: _own, ...locality } = log.locality ?? {};
      const localities = { ...locality, zoneid: `zone-${index}`, machineid: `zone-${index}` };
      const version = log.version ?? "";
      cluster.start({ name: `new-${index}`, processClass: "log", address, localities, version });
    }
    await clock.advance(30_000);
    cluster.restart(id);
    await clock.advance(60_000);
    const holders = Object.values((await status()).cluster?.processes ?? {})
      .filter(({ roles = [] }) => roles.some(({ role }) => role === "log"))
      .map(({ address = "" }) => address);
    const hasRole = (address: string): boolean => holders.includes(address);
    const isNew = hasRole("10.0.0.1:4500") && hasRole("99.0.0.1:4500");
    assert.equal(isNew, newcomersFirst, holders.join(" "));
    if (!newcomersFirst) assert.ok(!hasRole("10.0.0.1:4500") && !hasRole("99.0.0.1:4500"));
  });
}

test("[FDB71] what is not simulated, and a database that does not serve, is said and not guessed", () => {
  const clock = new VirtualClock(takenMs);
  const open = (): SimulatedFdb =>
    createSimulatedFdb({
      clock,
      random: seededRandom(1),
      resolver: { resolve: () => undefined },
    });
  assert.deepEqual(open().wake(capturedStatus("39-all-storages-down")).problems, [
    {
      field: "databaseStatus.cluster.database_available",
      value: "missing",
      remedy: "take the status while the database is available",
    },
  ]);
  const healthy = capturedStatus("03-healthy-double");
  const bare: DatabaseStatus = { cluster: { ...healthy.cluster, processes: {} } };
  assert.deepEqual(open().wake(bare).problems, [
    {
      field: "databaseStatus.cluster.processes",
      value: "empty",
      remedy: "take the status again, with all processes: a database that serves has some",
    },
  ]);
  const [id = "", process] = Object.entries(healthy.cluster?.processes ?? {})[0] ?? [];
  const strange: DatabaseStatus = {
    cluster: {
      ...healthy.cluster,
      configuration: { ...healthy.cluster?.configuration, redundancy_mode: "quintuple" },
      processes: { [id]: { ...process, roles: [{ role: "blob_manager", id: "1" }] } },
    },
  };
  assert.deepEqual(open().wake(strange).problems, [
    {
      field: "databaseStatus.cluster.configuration.redundancy_mode",
      value: "quintuple",
      remedy:
        "only single, double, triple, three_data_hall, three_data_hall_fallback, three_datacenter, three_datacenter_fallback are simulated",
    },
    {
      field: `databaseStatus.cluster.processes[${id}].roles`,
      value: "blob_manager",
      remedy: "this role is not simulated, so nothing can be said about this database",
    },
  ]);
  const moving = open().wake(capturedStatus("37-storage-2-down-healing"));
  assert.deepEqual(moving, {
    problems: [],
    notes: ["its data was in state healing; the copy begins with every replica in place"],
  });
});

test("[FDB72] its figures tell recoveries, the fault tolerance of status, and bytes for each server that received them", async () => {
  const captured = capturedStatus("03-healthy-double");
  const stored = 1e9;
  for (const { roles = [] } of Object.values(captured.cluster?.processes ?? {})) {
    for (const role of roles) if (role.role === "storage") role["stored_bytes"] = stored;
  }
  const { clock, fdb, cluster, status } = await wake(captured);
  const [before] = fdb.measures();
  assert.ok(before?.isServing && !before.isMoving);
  assert.equal(before.copiedBytes, 0);
  const [id = ""] =
    Object.entries(captured.cluster?.processes ?? {}).find(([, { roles = [] }]) =>
      roles.some(({ role }) => role === "storage"),
    ) ?? [];
  cluster.stop(id);
  await clock.advance(300_000);
  const { fault_tolerance: told } = (await status()).cluster ?? {};
  const [after] = fdb.measures();
  assert.equal(after?.isDataMissing(), false);
  assert.deepEqual(after?.faultTolerance, {
    data: told?.max_zone_failures_without_losing_data,
    availability: told?.max_zone_failures_without_losing_availability,
  });
  assert.ok(Math.abs(after.copiedBytes / stored - 1) < 0.2, `${after.copiedBytes} of ${stored}`);
  for (const name of cluster.names()) cluster.stop(name);
  await clock.advance(60_000);
  assert.equal(fdb.measures()[0]?.isDataMissing(), true);
});

test("[FDB70] which servers share data is no figure of a status: it is another with each seed, and evenly spread with all", async () => {
  const layouts = new Set<string>();
  for (const seed of [1, 2, 3]) {
    const { fdb } = await wake(capturedStatus("tdh-05-tdh-9coord-healthy"), {}, seed);
    const teams = fdb.truth
      .replicas()
      .map(({ replicas }) => replicas.map(({ address }) => address));
    layouts.add(JSON.stringify(teams.map((team) => team.toSorted()).toSorted()));
  }
  assert.ok(layouts.size > 1);
});
