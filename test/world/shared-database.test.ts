// Several resources that are one database: data halls, and two regions with satellites. Rules: spec/world.md [W18], [W19],
// spec/restart.md [T17], spec/plan.md [P106].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { ObjectMeta } from "../../src/kube/object.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

/** The first resource chooses the coordinators; the others join through its connection string. */
async function createTogether(
  world: TestWorld,
  specs: readonly (readonly [name: string, spec: Partial<ClusterSpec>])[],
): Promise<void> {
  let seedConnectionString: string | undefined;
  for (const [name, spec] of specs) {
    const seed = seedConnectionString === undefined ? {} : { seedConnectionString };
    await world.createCluster({ ...spec, ...seed, processGroupIDPrefix: name }, { name });
    if (seedConnectionString !== undefined) continue;
    const chosen = async (): Promise<boolean> => {
      seedConnectionString = (await world.cluster({ name })).status?.connectionString;
      return seedConnectionString !== undefined;
    };
    await world.until(chosen, "coordinators are chosen", 2 * minuteMs, { name });
  }
}

/** Moving coordinators is all that is left to do. */
async function untilOnlyCoordinatorsAreWrong(world: TestWorld, names: string[]): Promise<void> {
  for (const name of names) {
    const isSo = async (): Promise<boolean> => {
      const { status } = await world.cluster({ name });
      const reasons = status?.blockedBy?.map(({ reason }) => reason) ?? [];
      return status?.health?.available === true && reasons.join() === "CoordinatorsUnfit";
    };
    await world.until(isSo, "only the coordinators are wrong", 15 * minuteMs, { name });
  }
}

test("[W18] three data halls become one database when the third hall is there, not before (long)", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    const spec = (dataHall: string): Partial<ClusterSpec> => ({
      dataHall,
      databaseConfiguration: { redundancy_mode: "three_data_hall" },
      processCounts: { storage: 3, log: 3, stateless: 3 },
    });
    await createTogether(world, [
      ["az1", spec("az1")],
      ["az2", spec("az2")],
    ]);
    await world.clock.advance(5 * minuteMs);
    const { status } = await world.cluster({ name: "az1" });
    const wait = status?.blockedBy?.find(({ reason }) => reason === "ConfigurationUnsafe");
    assert.match(wait?.message ?? "", /three_data_hall needs .* 3 values of data_hall/);
    const seedConnectionString = status?.connectionString ?? "";
    const third = { ...spec("az3"), processGroupIDPrefix: "az3", seedConnectionString };
    await world.createCluster(third, { name: "az3" });
    await untilOnlyCoordinatorsAreWrong(world, ["az1", "az2", "az3"]);
    await world.clock.advance(2 * minuteMs);
    world.assertDataSafe(1);
    for (const shard of world.world.fdb.truth.replicas()) {
      const halls = shard.replicas.map(({ localities }) => localities["data_hall"]);
      assert.deepEqual([...new Set(halls)].sort(), ["az1", "az2", "az3"]);
    }
  });
});

test("[W19] a database goes from one region to two, step by step and without a loss (long)", async () => {
  await TestWorld.run({ nodes: 12, zones: 4 }, async (world) => {
    const satellite_redundancy_mode = "one_satellite_single" as const;
    const region = (id: string, priority: number) => ({
      datacenters: [
        { id: `dc${id}`, priority },
        { id: `sat${id}`, priority: 1, satellite: 1 },
      ],
      ...{ satellite_logs: 3, satellite_redundancy_mode },
    });
    const one = { usable_regions: 1, regions: [{ datacenters: [{ id: "dc1", priority: 1 }] }] };
    const two = { usable_regions: 2, regions: [region("1", 1), region("2", 0)] };
    const names = ["dc1", "dc2", "sat1", "sat2"];
    const specOf = (dataCenter: string): Partial<ClusterSpec> => ({
      dataCenter,
      databaseConfiguration: { redundancy_mode: "double", ...one },
      processCounts: dataCenter.startsWith("sat")
        ? { storage: -1, stateless: -1, log: 3 }
        : { storage: 3, log: 3, stateless: 6 },
    });
    await createTogether(
      world,
      names.map((name) => [name, specOf(name)] as const),
    );
    for (const name of names) await world.untilReconciled(3 * minuteMs, { name });
    await world.clock.advance(2 * minuteMs);
    for (const name of names) await world.changeSpec({ databaseConfiguration: two }, { name });
    await untilOnlyCoordinatorsAreWrong(world, names);
    // The last configuration costs a recovery.
    await world.clock.advance(10_000);
    world.assertDataSafe(1);
    const { status } = await world.cluster({ name: "dc1" });
    assert.equal(status?.databaseConfiguration?.usable_regions, 2);
    const commands = world.activities.filter(
      (activity) => activity.type === "action" && activity.action.type === "configureDatabase",
    );
    assert.ok(commands.length <= 1 + 4 * names.length, `${commands.length} commands`);
    for (const shard of world.world.fdb.truth.replicas()) {
      const centers = shard.replicas.map(({ localities }) => localities["dcid"]);
      assert.deepEqual([...new Set(centers)].sort(), ["dc1", "dc2"]);
    }
  });
});

test("[T17] two resources that want different redundancy do not fight over the coordinators (long)", async () => {
  await TestWorld.run({ nodes: 8, zones: 8 }, async (world) => {
    const spec = (redundancy_mode: "double" | "triple"): Partial<ClusterSpec> => ({
      databaseConfiguration: { redundancy_mode },
      processCounts: { storage: 3, log: 3, stateless: 2 },
      lockOptions: { disableLocks: false },
    });
    await createTogether(world, [["one", spec("double")]]);
    await world.untilReconciled(5 * minuteMs, { name: "one" });
    const { status } = await world.cluster({ name: "one" });
    const seedConnectionString = status?.connectionString ?? "";
    const other = { ...spec("triple"), processGroupIDPrefix: "two", seedConnectionString };
    await world.createCluster(other, { name: "two" });
    await world.clock.advance(15 * minuteMs);
    const choices = (): number =>
      world.activities.filter(
        (activity) => activity.type === "action" && activity.action.type === "changeCoordinators",
      ).length;
    assert.ok(choices() <= 1, `${choices()} changes`);
    const before = choices();
    await world.clock.advance(15 * minuteMs);
    assert.equal(choices(), before);
    const live = (await world.cluster({ name: "one" })).status;
    const mode = live?.databaseConfiguration?.redundancy_mode;
    const coordinators = (live?.connectionString ?? "").split(",").length;
    assert.equal(coordinators, mode === "triple" ? 5 : 3);
    world.assertDataSafe(1);
  });
});

test("[P106] coordinators that changed while a resource was paused: the way back is said, and leads back (long)", async () => {
  const member = (processGroupIDPrefix: string): Partial<ClusterSpec> => ({
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 3, log: 3, stateless: 2 },
    lockOptions: { disableLocks: false },
    processGroupIDPrefix,
  });
  const [one, two] = [{ name: "one" }, { name: "two" }];
  await TestWorld.run({ nodes: 14 }, async (world) => {
    await world.createCluster(member("dc1"), one);
    await world.untilReconciled(5 * minuteMs, one);
    const seedConnectionString = (await world.cluster(one)).status?.connectionString ?? "";
    await world.createCluster({ ...member("dc2"), seedConnectionString }, two);
    await world.untilReconciled(10 * minuteMs, two);
    await world.changeSpec({ skip: true }, two);
    await world.clock.advance(5_000);
    const { status } = await world.cluster(one);
    const logs = (status?.processGroups ?? []).filter(({ processClass }) => processClass === "log");
    const processGroupsToRemove = logs.map(({ processGroupID }) => processGroupID);
    await world.changeSpec({ processGroupsToRemove }, one);
    await world.untilReconciled(30 * minuteMs, one);
    await world.until(
      async () => (await world.pods("log")).every((pod) => !isOf(pod, processGroupsToRemove)),
      "the old coordinators are gone",
      10 * minuteMs,
    );
    await world.changeSpec({ skip: false }, two);
    await world.clock.advance(5 * minuteMs);
    const [blocked] = (await world.cluster(two)).status?.blockedBy ?? [];
    assert.equal(blocked?.reason, "DatabaseUnavailable");
    assert.match(blocked?.remedy ?? "", /fdb\.cluster of one of its pods/);
    const { connectionString } = (await world.cluster(one)).status ?? {};
    const key = { namespace: "default", name: "two" };
    const options = { type: "merge", subresource: "status" } as const;
    await world.client.patch(foundationDbClusters, key, { status: { connectionString } }, options);
    await world.untilReconciled(10 * minuteMs, two);
    world.assertDataSafe();
  });
});

function isOf({ metadata }: { metadata: ObjectMeta }, ids: readonly string[]): boolean {
  return ids.includes(metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "");
}
