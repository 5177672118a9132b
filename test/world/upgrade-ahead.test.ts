// Processes that restart after their pod was prepared for an incompatible upgrade, and so speak the new protocol before the others do.
// Rules: spec/upgrade.md [U54]-[U56], [U89], [U91], [U92], [U95].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import {
  allowRestart,
  announceUpgrade,
  announced,
  assertAllOn,
  blockedBy,
  killsOf,
  newVersion,
  nine,
  oldVersion,
  statusOf,
  untilBlocked,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
  withAdmin,
} from "./upgrade-harness.ts";
import { keyOfObject, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

/** An incompatible upgrade that is announced to the pods, then what happens meanwhile, then the restart. */
async function announcedUpgrade(
  spec: Partial<ClusterSpec>,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await upgradeWorld({ spec }, async (world) => {
    await announceUpgrade(world);
    await body(world);
    await allowRestart(world);
    await untilRunning(world, newVersion);
    await world.untilReconciled(upgradeLimitMs);
    assert.ok(killsOf(world).length <= 1, "one restart for all");
    await assertAllOn(world, newVersion);
  });
}

async function deletePods(world: TestWorld, found: readonly { metadata: object }[]): Promise<void> {
  for (const pod of found) await world.client.delete(pods, keyOfObject(pod));
}

/** A storage and a stateless process come back with the new version. */
async function runTwoAhead(world: TestWorld): Promise<void> {
  const [storage] = await world.pods("storage");
  const [stateless] = await world.pods("stateless");
  assert.ok(storage && stateless);
  await deletePods(world, [storage, stateless]);
  await world.until(async () => {
    const { cluster } = await statusOf(world, oldVersion);
    return cluster?.incompatible_connections?.length === 2;
  }, "two processes run ahead");
}

/** What the remedy of the wait asks a person for. */
async function restartOthers(world: TestWorld): Promise<void> {
  const { cluster } = await statusOf(world, oldVersion);
  const addresses = Object.values(cluster?.processes ?? {}).map(({ address = "" }) => address);
  await withAdmin(world, oldVersion, (admin) => admin.kill(addresses, 10_000));
}

test("[U54] more zones that run ahead than the database can lose do not hold the restart (long)", async () => {
  await announcedUpgrade(
    { databaseConfiguration: { redundancy_mode: "double" } },
    async (world) => {
      await runTwoAhead(world);
    },
  );
});

test("[U95] successors that run ahead of an announced upgrade, and are replaced as soon as nobody waits for them, do not hold the restart (long)", async () => {
  const replacements = { enabled: true, failureDetectionTimeSeconds: 300 };
  const automationOptions = {
    ...nine.automationOptions,
    replacements,
    ignoreMissingProcessesSeconds: 300,
  };
  const databaseConfiguration = { redundancy_mode: "double" } as const;
  await announcedUpgrade({ databaseConfiguration, automationOptions }, async (world) => {
    const [stateless] = await world.pods("stateless");
    const id = stateless?.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    await world.changeSpec({ processGroupsToRemove: [id] });
    const isReplaced = async (): Promise<boolean> =>
      (await statusOf(world, oldVersion)).cluster?.incompatible_connections?.length === 1;
    await world.until(isReplaced, "the successor runs ahead", 10 * minuteMs);
  });
});

test("[U56] a database that needs what ran ahead says so, and goes on after a person's restart (long)", async () => {
  await announcedUpgrade(
    { databaseConfiguration: { redundancy_mode: "single" } },
    async (world) => {
      await runTwoAhead(world);
      await allowRestart(world);
      await world.clock.advance(8 * minuteMs);
      assert.match(await blockedBy(world), /It may need .*storage-.*, which run the new version/);
      assert.deepEqual(killsOf(world), []);
      await restartOthers(world);
    },
  );
});

test("[U56] coordinators that ran ahead take the rest with them (long)", async () => {
  await announcedUpgrade(
    { databaseConfiguration: { redundancy_mode: "single" } },
    async (world) => {
      await deletePods(world, await world.pods("log"));
    },
  );
});

test("[U91] data that ran ahead stays when the version is taken back, and takes part again when it is wished for once more (long)", async () => {
  await announcedUpgrade(
    { databaseConfiguration: { redundancy_mode: "double" } },
    async (world) => {
      await runTwoAhead(world);
      const before = new Set((await world.pods("storage")).map(({ metadata }) => metadata.uid));
      await world.changeSpec({ version: oldVersion });
      await untilBlocked(world, "NewerVersionStarted");
      await world.clock.advance(5 * minuteMs);
      const after = (await world.pods("storage")).map(({ metadata }) => metadata.uid);
      assert.deepEqual(new Set(after), before);
      const { cluster } = await statusOf(world, oldVersion);
      assert.equal(cluster?.incompatible_connections?.length, 1, "the stateless one came back");
      await world.changeSpec({ version: newVersion });
    },
  );
});

test("[U91] data that ran ahead of an upgrade that was taken back is made anew elsewhere (long)", async () => {
  await upgradeWorld(
    { spec: { databaseConfiguration: { redundancy_mode: "double" } }, nodes: 8 },
    async (world) => {
      await announceUpgrade(world);
      await runTwoAhead(world);
      await world.changeSpec({ version: oldVersion });
      await untilBlocked(world, "NewerVersionStarted");
      await world.untilReconciled(4 * 60 * minuteMs);
      await assertAllOn(world, oldVersion);
    },
  );
});

test("[U91] one of two servers of a pod that ran ahead of an upgrade that was taken back is named (long)", async () => {
  const databaseConfiguration = { redundancy_mode: "double" } as const;
  const spec = { databaseConfiguration, storageServersPerPod: 2 };
  await upgradeWorld({ spec, nodes: 10 }, async (world) => {
    await announceUpgrade(world);
    const { cluster } = await statusOf(world, oldVersion);
    const second = Object.values(cluster?.processes ?? {}).find(
      ({ class_type, address }) => class_type === "storage" && address?.endsWith(":4503"),
    );
    assert.ok(second?.address);
    const { address } = second;
    await withAdmin(world, oldVersion, (admin) => admin.kill([address], 10_000));
    await world.clock.advance(minuteMs);
    await world.changeSpec({ version: oldVersion });
    await untilBlocked(world, "NewerVersionStarted");
  });
});

/** Coordinators of their own class, which leave after others have taken their place. */
async function leaveCoordinators(world: TestWorld): Promise<void> {
  const before = (await world.cluster()).status?.connectionString;
  await world.changeSpec({ coordinatorSelection: [{ processClass: "log", priority: 1 }] });
  const isMoved = async (): Promise<boolean> =>
    (await world.cluster()).status?.connectionString !== before;
  await world.until(isMoved, "logs are coordinators", 10 * minuteMs);
  const { processCounts } = (await world.cluster()).spec;
  await world.changeSpec({ processCounts: { ...processCounts, coordinator: -1 } });
}

test("[U89][T85] data that ran ahead of an overtaken version and whose coordinators are all gone is listed by nobody: it is replaced, and the restart goes on (long)", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 2, log: 3, stateless: 3, coordinator: 3 },
    coordinatorSelection: [{ processClass: "coordinator", priority: 1 }],
  };
  await upgradeWorld({ spec, nodes: 14 }, async (world) => {
    await announceUpgrade(world);
    await deletePods(world, (await world.pods("storage")).slice(0, 1));
    await world.clock.advance(minuteMs);
    await world.changeSpec({ version: "7.4.6" });
    await leaveCoordinators(world);
    await untilBlocked(world, "ClusterFileOutdated");
    const { cluster } = await statusOf(world, oldVersion);
    assert.deepEqual(cluster?.incompatible_connections, [], "nobody lists it any more");
    await allowRestart(world);
    await untilRunning(world, "7.4.6");
    await world.untilReconciled(upgradeLimitMs);
    await assertAllOn(world, "7.4.6");
  });
});

test("[U92] a database that went down with data that ran ahead goes on when a version that was taken back is wished for again (long)", async () => {
  await announcedUpgrade(
    { databaseConfiguration: { redundancy_mode: "double" } },
    async (world) => {
      await deletePods(world, (await world.pods("storage")).slice(0, 2));
      await world.clock.advance(minuteMs);
      await world.changeSpec({ version: oldVersion });
      await world.clock.advance(5 * minuteMs);
      assert.equal(await announced(world), oldVersion);
      await world.changeSpec({ version: newVersion });
      await world.until(
        async () => (await announced(world)) === newVersion,
        "the new version is announced again",
      );
      await world.clock.advance(minuteMs);
      await restartOthers(world);
    },
  );
});

test("[U55] pods of another image type that are made during an incompatible upgrade run the version of the others (long)", async () => {
  await upgradeWorld({ spec: { imageType: "split" } }, async (world) => {
    await world.changeSpec({ version: newVersion, imageType: "unified" });
    await world.clock.advance(1_000);
    assert.equal(await announced(world), oldVersion);
    await untilRunning(world, newVersion);
    await world.untilReconciled(upgradeLimitMs);
    await assertAllOn(world, newVersion);
  });
});
