// Several resources of one database in global mode, looked after by one operator: one kill, one exclusion, one inclusion
// for all of them. Rules: spec/coordination.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { AdminClient, AdminClientFactory, FdbTransaction } from "../../src/fdb/admin.ts";
import { readSets } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets, operatorKeys } from "../../src/fdb/keys.ts";
import { acts, knobs, recoveries } from "./restart-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const names = ["dc1", "dc2", "dc3"];
const nodeCapacity = { cpu: "8", memory: "16Gi", pods: "60" };

function specOf(
  name: string,
  synchronizationMode: "global" | "local",
  more: Partial<ClusterSpec> = {},
): Partial<ClusterSpec> {
  return {
    processGroupIDPrefix: name,
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 2, log: 2, stateless: 2 },
    minimumUptimeSecondsForBounce: 60,
    automationOptions: { synchronizationMode, waitBetweenRemovalsSeconds: 0 },
    lockOptions: { disableLocks: false },
    ...more,
  };
}

/** The first resource makes the database, the others join it. */
async function createAll(world: TestWorld, mode: "global" | "local"): Promise<void> {
  await world.createCluster(specOf("dc1", mode), { name: "dc1" });
  await world.untilReconciled(5 * minuteMs, { name: "dc1" });
  const seedConnectionString = (await world.cluster({ name: "dc1" })).status?.connectionString;
  for (const name of names.slice(1)) {
    await world.createCluster(specOf(name, mode, { seedConnectionString }), { name });
  }
  await untilAll(world);
  await world.clock.advance(10 * minuteMs);
}

async function untilAll(world: TestWorld, limitMs = 20 * minuteMs): Promise<void> {
  for (const name of names) await world.untilReconciled(limitMs, { name });
}

/** Entries of the coordination sets that are left. */
async function leftEntries(world: TestWorld): Promise<string[]> {
  const { connectionString = "" } = (await world.cluster({ name: "dc1" })).status ?? {};
  const admin = world.world.fdb.admin.open({ name: "test", connectionString, version: "7.3.63" });
  const read = readSets({ admin, keys: operatorKeys() }, coordinationSets);
  const sets = await world.during(read, minuteMs, "reading the sets");
  admin.close();
  return coordinationSets.flatMap((set) =>
    sets[set].entries.map((entry) => `${set}/${entry.processGroupId}`),
  );
}

test("[CO41] a knob rolled out to three resources is one kill and one recovery (long)", async () => {
  await TestWorld.run({ nodes: 9, nodeCapacity }, async (world) => {
    await createAll(world, "global");
    const before = recoveries(world);
    for (const name of names) {
      await world.changeSpec(knobs("knob_max_trace_lines=12345"), { name });
      await world.clock.advance(5_000);
    }
    await untilAll(world);
    const kills = acts(world, "killProcesses");
    assert.equal(kills.length, 1);
    assert.equal(kills[0]?.processGroupIds.length, 18);
    await world.clock.advance(2 * minuteMs);
    assert.equal(recoveries(world) - before, 1);
    assert.deepEqual(await leftEntries(world), []);
  });
});

test("[CO27] all transaction processes of three resources are replaced by one exclusion and one inclusion (long)", async () => {
  await TestWorld.run({ nodes: 9, nodeCapacity }, async (world) => {
    await createAll(world, "global");
    for (const name of names) {
      const groups = (await world.cluster({ name })).status?.processGroups ?? [];
      const processGroupsToRemove = groups
        .filter(({ processClass }) => processClass !== "storage")
        .map(({ processGroupID }) => processGroupID);
      await world.changeSpec({ processGroupsToRemove }, { name });
    }
    await untilAll(world, 60 * minuteMs);
    await world.clock.advance(10 * minuteMs);
    const exclusions = acts(world, "excludeProcesses");
    assert.equal(exclusions.length, 1);
    assert.equal(exclusions[0]?.processGroupIds.length, 12);
    assert.ok(exclusions[0]?.coordinators !== undefined, "changed first, in the same act");
    assert.equal(acts(world, "changeCoordinators").length, 0);
    assert.equal(acts(world, "includeProcesses").length, 1);
    assert.deepEqual(await leftEntries(world), []);
    world.assertDataSafe();
  });
});

test("[CO1] in local mode no key of the sets is ever touched, and a knob costs a kill for each resource", async () => {
  const touched = new Set<string>();
  const wrapAdmin = (admin: AdminClientFactory): AdminClientFactory => ({
    ...admin,
    isVersionSupported: (version) => admin.isVersionSupported(version),
    installedVersions: () => admin.installedVersions(),
    open: (options) => watched(admin.open(options), touched),
  });
  await TestWorld.run({ nodes: 9, nodeCapacity, wrapAdmin }, async (world) => {
    await createAll(world, "local");
    for (const name of names) await world.changeSpec(knobs("knob_max_trace_lines=1"), { name });
    await untilAll(world, 60 * minuteMs);
    const kills = acts(world, "killProcesses").filter((kill) => kill.processGroupIds.length > 1);
    assert.equal(kills.length, 3, "beside those of the process groups that go first");
    assert.ok(touched.size > 0, "the lock is a key too");
    const ofSets = [...touched].filter((key) => coordinationSets.some((set) => key.includes(set)));
    assert.deepEqual(ofSets, []);
  });
});

/** Writes down every key that a transaction reads or writes, and where ranges begin. */
function watched(admin: AdminClient, touched: Set<string>): AdminClient {
  const note = (key: Uint8Array): void => void touched.add(Buffer.from(key).toString("latin1"));
  return new Proxy(admin, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "transact") return value.bind(target);
      const transact: AdminClient["transact"] = (body, options) =>
        target.transact((transaction) => body(noted(transaction, note)), options);
      return transact;
    },
  });
}

function noted(transaction: FdbTransaction, note: (key: Uint8Array) => void): FdbTransaction {
  return new Proxy(transaction, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (key: Uint8Array, ...rest: unknown[]): unknown => {
        note(key);
        return Reflect.apply(value, target, [key, ...rest]);
      };
    },
  });
}
