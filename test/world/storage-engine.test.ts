// Storage servers that change to another engine: progress, pause, a wish that is taken back, and what is in the way.
// Rules: spec/migration.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { StorageEngineMigration } from "../../src/api/storage-engine-migration.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { exampleCluster } from "./example.ts";
import { groups, person } from "./removal-harness.ts";
import { pageOf } from "./stuck-case.ts";
import { frugalProcesses, hourMs, minuteMs, TestWorld } from "./world-harness.ts";

const redwood = {
  storage_engine: "ssd-redwood-1",
  storage_migration_type: "gradual",
  perpetual_storage_wiggle: 1,
} as const;

/** A cluster at rest whose data takes some minutes to move. */
async function withData(
  body: (world: TestWorld) => Promise<void>,
  spec: Partial<ClusterSpec> = {},
): Promise<void> {
  const options = {
    nodes: 9,
    database: { initialBytes: 3_000_000_000 },
    spec: {
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 4, log: 3, stateless: 2 },
      automationOptions: { waitBetweenRemovalsSeconds: 0 },
      ...spec,
    },
  } as const;
  await TestWorld.runWithCluster(options, async (world) => {
    await body(world);
    world.assertDataSafe();
  });
}

function wish(world: TestWorld, databaseConfiguration: object): Promise<unknown> {
  return world.changeSpec({ databaseConfiguration });
}

async function migration(world: TestWorld): Promise<StorageEngineMigration | undefined> {
  return (await world.cluster()).status?.storageEngineMigration;
}

async function waitOf(world: TestWorld, reason: string): Promise<string | undefined> {
  const { status } = await world.cluster();
  return status?.blockedBy?.find((wait) => wait.reason === reason)?.message;
}

/** The engines of the servers, as the database itself tells. */
/** Of all four storage servers. */
async function assertEngines(world: TestWorld, engine: string): Promise<void> {
  assert.deepEqual(
    await engines(world),
    Array.from({ length: 4 }, () => engine),
  );
}

async function engines(world: TestWorld): Promise<string[]> {
  const { cluster } = await person(world, (client) => client.status(30_000));
  return Object.values(cluster?.processes ?? {})
    .flatMap(({ roles = [] }) => roles.filter(({ role }) => role === "storage"))
    .map((role) => String(Reflect.get(Object(role["storage_metadata"]), "storage_engine")))
    .sort();
}

async function untilLeft(world: TestWorld, left: number): Promise<void> {
  const isSo = async () => (await migration(world))?.serversLeft === left;
  await world.until(isSo, `${left} servers are left`, 2 * hourMs);
}

async function restartOperator(world: TestWorld): Promise<void> {
  await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
  await world.clock.advance(minuteMs);
  world.world.startOperator();
}

test("[MIG2] [MIG3] [MIG4] [MIG10] ssd-2 becomes ssd-redwood-1 with progress, a pause and operators that restart (long)", async () => {
  await withData(async (world) => {
    await wish(world, redwood);
    await untilLeft(world, 3);
    const begun = await migration(world);
    assert.deepEqual([begun?.from, begun?.to, begun?.servers], ["ssd-2", "ssd-redwood-1", 4]);
    assert.equal(conditionIn((await world.cluster()).status, "Reconciled")?.status, "False");
    const message = await waitOf(world, "StorageEngineMigrating");
    assert.match(message ?? "", /3 of 4 storage servers still run ssd-2 .*storage-\d.*GB left/);
    assert.match(
      await pageOf(world),
      /Engine ssd-2 to ssd-redwood-1 since \S+: 1 of 4 servers, .* \(\d+% done\); at the speed so far/,
    );
    await restartOperator(world);
    await wish(world, { perpetual_storage_wiggle: 0 });
    const isPaused = async () => (await migration(world))?.paused !== undefined;
    await world.until(isPaused, "it is paused");
    assert.match(
      (await waitOf(world, "StorageEngineMigrationPaused")) ?? "",
      /None is being changed: perpetual_storage_wiggle is 0/,
    );
    // What is on its way arrives; then nothing moves, and nothing is written.
    await world.clock.advance(20 * minuteMs);
    const [paused, mark] = [await migration(world), world.requests.length];
    await world.clock.advance(hourMs);
    assert.deepEqual(await migration(world), paused);
    assert.equal(paused?.since, begun?.since);
    const writes = world.writesSince(mark).filter((write) => !write.includes("leases"));
    assert.ok(writes.length <= 4, writes.join(", "));
    await restartOperator(world);
    await wish(world, { perpetual_storage_wiggle: 1 });
    await world.untilReconciled(3 * hourMs);
    assert.equal(await migration(world), undefined);
    await assertEngines(world, "ssd-redwood-1");
  });
});

test("[MIG3] the status is written rarely, however often the database is looked at", async () => {
  await withData(async (world) => {
    await wish(world, redwood);
    await untilLeft(world, 4);
    const mark = world.requests.length;
    const tookMs = await world.untilReconciled(3 * hourMs);
    const writes = world.writesSince(mark).filter((write) => write.includes("/status"));
    assert.ok(tookMs > 10 * minuteMs, `${tookMs}`);
    assert.ok(writes.length <= 40, `${writes.length} writes`);
  });
});

test("[MIG8] a wish that is taken back half-way leads back, and moves only what has changed", async () => {
  await withData(async (world) => {
    await wish(world, redwood);
    await untilLeft(world, 2);
    const { since } = (await migration(world)) ?? {};
    await wish(world, { storage_engine: "ssd-2" });
    const isBack = async () => (await migration(world))?.to === "ssd-2";
    await world.until(isBack, "it goes back");
    const back = await migration(world);
    assert.deepEqual([back?.from, back?.serversLeft], ["ssd-redwood-1", 2]);
    assert.notEqual(back?.since, since);
    await world.untilReconciled(3 * hourMs);
    await assertEngines(world, "ssd-2");
  });
});

test("[MIG1] without a migration type the engine stays, and the rest is brought about", async () => {
  await withData(async (world) => {
    await wish(world, { storage_engine: "ssd-redwood-1", resolvers: 2 });
    await world.clock.advance(3 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.databaseConfiguration?.storage_engine, "ssd-2");
    assert.equal(status?.databaseConfiguration?.resolvers, 2);
    assert.match(
      (await waitOf(world, "StorageMigrationDisabled")) ?? "",
      /stays ssd-2, not ssd-redwood-1/,
    );
    assert.equal(await world.events("FailedConfigureDatabase").then((all) => all.length), 0);
    assert.match(await pageOf(world), /storage_migration_type to gradual/);
    await wish(world, { storage_migration_type: "aggressive" });
    await world.untilReconciled(3 * hourMs);
    await assertEngines(world, "ssd-redwood-1");
  });
});

test("[MIG2] [MIG9] a process group that is removed in the middle goes with its server", async () => {
  await withData(async (world) => {
    await wish(world, redwood);
    await untilLeft(world, 3);
    const [first] = await groups(world, "storage");
    const id = first?.processGroupID ?? "";
    await world.changeSpec({ processGroupsToRemove: [id] });
    await world.untilReconciled(3 * hourMs);
    const left = (await groups(world, "storage")).map(({ processGroupID }) => processGroupID);
    assert.ok(!left.includes(id));
    await assertEngines(world, "ssd-redwood-1");
  });
});

test("[MIG2] [MIG4] with the wiggle off, process groups that a person replaces bring the engine", async () => {
  await withData(async (world) => {
    await wish(world, { ...redwood, perpetual_storage_wiggle: 0 });
    await untilLeft(world, 4);
    const old = (await groups(world, "storage")).map(({ processGroupID }) => processGroupID);
    await world.changeSpec({ processGroupsToRemove: old });
    await world.untilReconciled(3 * hourMs);
    await assertEngines(world, "ssd-redwood-1");
  });
});

test("[MIG5] without a fault domain to spare it is said at once, and one more storage process helps", async () => {
  await withData(
    async (world) => {
      await wish(world, redwood);
      const isTold = async () =>
        (await waitOf(world, "StorageEngineMigrationStuck"))?.includes(
          "in 2 fault domains, and 2 copies of the data need all of them",
        ) === true;
      await world.until(isTold, "the cause is told");
      await world.changeSpec({ processCounts: { storage: 3 } });
      await world.untilReconciled(3 * hourMs);
      assert.deepEqual(
        await engines(world),
        Array.from({ length: 3 }, () => "ssd-redwood-1"),
      );
    },
    { processCounts: { storage: 2, log: 3, stateless: 2 } },
  );
});

test("[MIG6] a version that does not tell engines is reconciled with its configuration", async () => {
  await withData(
    async (world) => {
      await wish(world, { ...redwood, storage_engine: "ssd-rocksdb-v1" });
      await world.untilReconciled();
      assert.equal(await migration(world), undefined);
    },
    { version: "7.1.57" },
  );
});

test("[MIG2] the example changes the engine of a cluster that has another one", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    const { spec, ...head } = exampleCluster("storage-engine.yaml");
    const { databaseConfiguration, ...rest } = { ...spec, processes: frugalProcesses };
    const before = { redundancy_mode: "double", storage_engine: "ssd-2" } as const;
    await world.client.create(foundationDbClusters, {
      ...head,
      spec: { ...rest, databaseConfiguration: before },
    });
    await world.untilReconciled();
    await world.changeSpec({ databaseConfiguration });
    await world.untilReconciled(hourMs);
    assert.deepEqual(
      await engines(world),
      Array.from({ length: 3 }, () => "ssd-redwood-1"),
    );
  });
});

test("[MIG9] a database falls asleep in the middle, and goes on when it wakes", async () => {
  await withData(async (world) => {
    await wish(world, redwood);
    await untilLeft(world, 2);
    await world.changeSpec({ hibernate: true });
    const isAsleep = async () =>
      conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
    await world.until(isAsleep, "it sleeps", hourMs);
    assert.equal((await migration(world))?.to, "ssd-redwood-1");
    await world.clock.advance(hourMs);
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(3 * hourMs);
    await assertEngines(world, "ssd-redwood-1");
  });
});

test("[MIG13] where it is asked for, process groups are replaced one after the other, and nobody twice (long)", async () => {
  const automationOptions = {
    waitBetweenRemovalsSeconds: 0,
    maxConcurrentReplacements: 1,
    storageEngineChange: "Replace",
  } as const;
  await withData(
    async (world) => {
      const ids = async () =>
        (await groups(world, "storage")).map(({ processGroupID }) => processGroupID);
      const old = await ids();
      await wish(world, { ...redwood, perpetual_storage_wiggle: 0 });
      await restartOperator(world);
      const wait = async () => waitOf(world, "StorageEngineMigrating");
      await world.until(async () => (await wait()) !== undefined, "it is told");
      const told = await Promise.all(
        ["Paused", "Stuck"].map((end) => waitOf(world, `StorageEngineMigration${end}`)),
      );
      assert.deepEqual(told, [undefined, undefined], "it goes on, whatever the wiggle is");
      assert.equal((await migration(world))?.paused, undefined);
      await world.untilReconciled(3 * hourMs);
      const now = await ids();
      assert.deepEqual([now.length, now.filter((id) => old.includes(id))], [4, []]);
      await assertEngines(world, "ssd-redwood-1");
      await world.clock.advance(hourMs);
      assert.deepEqual(await ids(), now);
    },
    { automationOptions },
  );
});

test("[MIG13] a wish that is taken back, and cannot be asked for yet, replaces nobody for the engine in force (long)", async () => {
  const automationOptions = {
    waitBetweenRemovalsSeconds: 0,
    maxConcurrentReplacements: 1,
    storageEngineChange: "Replace",
  } as const;
  await withData(
    async (world) => {
      await wish(world, { ...redwood, perpetual_storage_wiggle: 0 });
      await untilLeft(world, 3);
      await wish(world, { storage_engine: "ssd-2", storage_migration_type: "disabled" });
      // Who was about to leave leaves.
      await world.clock.advance(20 * minuteMs);
      const left = (await migration(world))?.serversLeft ?? 0;
      assert.ok(left >= 2, `${left} servers`);
      await world.clock.advance(2 * hourMs);
      assert.equal((await migration(world))?.serversLeft, left);
      assert.match((await waitOf(world, "StorageMigrationDisabled")) ?? "", /stays ssd-redwood-1/);
      assert.match((await waitOf(world, "StorageEngineMigrationPaused")) ?? "", /is disabled/);
      await wish(world, { storage_migration_type: "gradual" });
      await world.untilReconciled(3 * hourMs);
      assert.deepEqual([...new Set(await engines(world))], ["ssd-2"]);
    },
    { automationOptions },
  );
});
