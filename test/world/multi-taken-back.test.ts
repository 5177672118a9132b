// One of several clusters takes its version back while the others upgrade the database that they share: whichever wins,
// the database serves, and every operator knows what runs. Rules: spec/multi.md [MU34], [MU35], spec/upgrade.md [U39], [U59].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient, AdminClientFactory, FdbTransaction } from "../../src/fdb/admin.ts";
import { FdbError } from "../../src/fdb/error.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { knobs } from "./restart-harness.ts";
import { newVersion, oldVersion } from "./upgrade-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

const { names } = threeClusters;
const processes = 24;

function together(body: (world: MultiTestWorld) => Promise<void>): Promise<void> {
  return MultiTestWorld.run({ names }, async (world) => {
    await createRegions(world, threeClusters, { version: oldVersion });
    await world.clock.advance(2 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}

async function reasonsOf(world: MultiTestWorld, name: string): Promise<string> {
  const { status } = await world.cluster(name);
  return (status?.blockedBy ?? []).map(({ reason, message }) => `${reason}: ${message}`).join("\n");
}

async function untilReason(world: MultiTestWorld, name: string, reason: string): Promise<void> {
  await world
    .at(name)
    .until(
      async () => (await reasonsOf(world, name)).includes(`${reason}: `),
      `${name} is blocked by ${reason}`,
      5 * minuteMs,
      { name },
    );
}

/** Of the storage processes of one cluster. */
async function addressesOf(world: MultiTestWorld, name: string): Promise<string[]> {
  const { status } = await world.cluster(name);
  return (status?.processGroups ?? [])
    .filter(({ processClass }) => processClass === "storage")
    .flatMap(({ addresses = [] }) => addresses.slice(-1).map((host) => `${host}:4501`));
}

async function assertServing(world: MultiTestWorld, version: string): Promise<void> {
  const { connectionString } = world.database;
  const admin = world.multi.ground.fdb.admin.open({ name: "test", connectionString, version });
  const status = await world.first.during(admin.status(20_000), minuteMs, "a status");
  admin.close();
  assert.equal(status.client?.database_status?.available, true);
  const versions = Object.values(status.cluster?.processes ?? {}).map((each) => each.version);
  assert.ok(versions.length >= processes, `${versions.length} processes`);
  assert.deepEqual([...new Set(versions)], [version]);
}

test("[MU34][U39] a cluster whose operator is away takes its version back, and the others upgrade it all the same (long)", async () => {
  await together(async (world) => {
    const [first = "", ...others] = names;
    await world.at(first).changeSpec({ version: newVersion }, { name: first });
    await untilReason(world, first, "UpgradePending");
    await world.crashOperator(first);
    await world.at(first).changeSpec({ version: oldVersion }, { name: first });
    for (const name of others) await world.at(name).changeSpec({ version: newVersion }, { name });
    await world.clock.advance(3 * minuteMs);
    await assertServing(world, newVersion);
    world.startOperator(first);
    await untilReason(world, first, "VersionChangeRefused");
    await world.clock.advance(5 * minuteMs);
    await assertServing(world, newVersion);
    assert.match(await reasonsOf(world, first), /Version 7\.3\.63 cannot be changed to 7\.1\.57/);
    for (const address of await addressesOf(world, first)) {
      world.multi.ground.fdb.faults.crashProcess(address);
    }
    await world.clock.advance(minuteMs);
    await assertServing(world, newVersion);
    await world.at(first).changeSpec({ version: newVersion }, { name: first });
    await world.untilAllReconciled(2 * hourMs);
    assert.equal(world.acts("killProcesses").length, 1);
    await assertServing(world, newVersion);
  });
});

/** From the change of the last version to the restart; the same history every time. */
async function timeOfRestart(): Promise<number> {
  let tookMs = 0;
  await together(async (world) => {
    const startMs = world.clock.nowMs();
    await world.changeAll({ version: newVersion });
    const seen = (): boolean =>
      world.trace.lines().some((line) => line.includes("killed by a client's request"));
    while (!seen()) await world.clock.advance(50);
    tookMs = world.clock.nowMs() - startMs;
    await world.clock.advance(minuteMs);
  });
  return tookMs;
}

test("[MU34][U37] a cluster takes its version back around the restart by another one (long)", async (context) => {
  const restartMs = await timeOfRestart();
  for (const offsetMs of [-3_000, -300, 100, 600]) {
    await context.test(`${offsetMs} ms after it`, async () => {
      await together(async (world) => {
        const [first = ""] = names;
        await world.changeAll({ version: newVersion });
        await world.clock.advance(restartMs + offsetMs);
        await world.at(first).changeSpec({ version: oldVersion }, { name: first });
        await world.clock.advance(2 * minuteMs);
        const running = (await world.cluster(first)).status?.runningVersion ?? "";
        await assertServing(world, running);
        if (running === newVersion) {
          assert.match(await reasonsOf(world, first), /VersionChangeRefused/);
        } else {
          assert.match(await reasonsOf(world, "remote"), /UpgradePending: .*main-/);
        }
      });
    });
  }
});

/** Writes to the restart sets fail while it says so; everything else works. */
function brokenSets(isBroken: () => boolean): (admin: AdminClientFactory) => AdminClientFactory {
  const refuse = (key: Uint8Array): void => {
    if (isBroken() && Buffer.from(key).includes("ForRestart")) throw new FdbError(1031, "a test");
  };
  const wrapped = (transaction: FdbTransaction): FdbTransaction => ({
    get: (key) => transaction.get(key),
    getRange: (begin, end, options) => transaction.getRange(begin, end, options),
    estimatedBytes: (begin, end) => transaction.estimatedBytes(begin, end),
    set: (key, value) => {
      refuse(key);
      transaction.set(key, value);
    },
    clear: (key) => {
      refuse(key);
      transaction.clear(key);
    },
    clearRange: (begin, end) => transaction.clearRange(begin, end),
  });
  return (admin) => ({
    isVersionSupported: (version) => admin.isVersionSupported(version),
    installedVersions: () => admin.installedVersions(),
    open: (options) => {
      const client = admin.open(options);
      const transact: AdminClient["transact"] = (body, how) =>
        client.transact((transaction) => body(wrapped(transaction)), how);
      return { ...client, transact };
    },
  });
}

test("[MU35][U59] a cluster that cannot take its restart entries out prepares no upgrade until another one's restart is over (long)", async () => {
  let isBroken = false;
  const siteOf = (name: string) =>
    name === "main" ? { wrapAdmin: brokenSets(() => isBroken) } : {};
  await MultiTestWorld.run({ names, siteOf }, async (world) => {
    const synchronizationMode = "global" as const;
    const more = { version: oldVersion, automationOptions: { synchronizationMode } };
    await createRegions(world, threeClusters, more);
    const first = "main";
    await world.changeAll((name) => ({
      ...knobs("knob_max_trace_lines=1001"),
      minimumUptimeSecondsForBounce: name === first ? 30 : 600,
    }));
    const isReady = async (): Promise<boolean> =>
      (await world.entries()).some((entry) => entry.startsWith("readyForRestart/main-"));
    while (!(await isReady())) await world.clock.advance(1_000);
    isBroken = true;
    await world.at(first).changeSpec({ version: newVersion }, { name: first });
    await untilReason(world, first, "CoordinationSettling");
    const killed = (): boolean => world.acts("killProcesses").length > 0;
    while (!killed()) await world.clock.advance(5_000);
    await world.clock.advance(minuteMs);
    await assertServing(world, oldVersion);
    assert.notEqual(world.acts("killProcesses")[0]?.name, first);
    isBroken = false;
    await untilReason(world, first, "UpgradePending");
    await assertServing(world, oldVersion);
    world.assertDataSafe();
  });
});
