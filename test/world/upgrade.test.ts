// Whole upgrades in a world of emulated pods and a simulated database: patch upgrades, and those in which all processes
// change at once, with both image types. Rules: spec/upgrade.md [U80]-[U83].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  assertAllOn,
  killsOf,
  newVersion,
  oldVersion,
  recoveriesOf,
  statusOf,
  untilBlocked,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
  blockedBy,
  imagesOf,
} from "./upgrade-harness.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { pods as podResource } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { minuteMs, nameOf } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const fifteen: Partial<ClusterSpec> = {
  processCounts: { storage: 5, log: 4, stateless: 6 },
  minimumUptimeSecondsForBounce: 600,
};

for (const imageType of ["unified", "split"] as const) {
  test(`[U81][U83] A19 all 15 processes change at once (${imageType}): one restart, few recoveries, new images (long)`, async () => {
    await upgradeWorld({ spec: { ...fifteen, imageType } }, async (world) => {
      await world.clock.advance(10 * minuteMs);
      const before = recoveriesOf(world);
      await world.changeSpec({ version: newVersion });
      await assertUnmixed(world);
      assert.deepEqual(
        killsOf(world).map((addresses) => addresses.length),
        [15],
      );
      assert.ok(recoveriesOf(world) - before <= 2, `${recoveriesOf(world) - before} recoveries`);
      assert.equal(world.world.fdb.truth.databases().length, 1);
      await world.untilReconciled(upgradeLimitMs);
      assert.equal(killsOf(world).length, 1);
      await assertAllOn(world, newVersion);
    });
  });
}

/** Until the restart nobody speaks another protocol, and soon after it nobody speaks the old one. */
async function assertUnmixed(world: TestWorld): Promise<void> {
  while (killsOf(world).length === 0) {
    // The restart may swallow the question.
    const status = await statusOf(world, oldVersion).catch(() => undefined);
    if (killsOf(world).length > 0 || isRestarting(world)) break;
    assert.equal(status?.client?.coordinators?.quorum_reachable, true, "coordinators are found");
    assert.deepEqual(status?.cluster?.incompatible_connections, []);
    await world.clock.advance(1_000);
  }
  await untilRunning(world, newVersion);
  const { cluster } = await statusOf(world, newVersion);
  assert.deepEqual(cluster?.incompatible_connections, []);
  assert.ok(Object.keys(cluster?.processes ?? {}).length >= 15);
}

function isRestarting(world: TestWorld): boolean {
  return world.trace.lines().some((line) => line.includes("killed by a client's request"));
}

const patches: readonly [imageType: "unified" | "split", from: string, to: string][] = [
  ["unified", "7.3.27", "7.3.63"],
  ["unified", "7.3.63", "7.3.27"],
  ["split", "7.1.40", "7.1.57"],
  ["split", "7.1.57", "7.1.40"],
];

for (const [imageType, from, to] of patches) {
  test(`[U80] A17 A18 from ${from} to ${to} (${imageType}): storage is recreated, the others are replaced, nobody restarts (long)`, async () => {
    await upgradeWorld({ spec: { version: from, imageType } }, async (world) => {
      const storage = (await world.pods("storage")).map(nameOf);
      const others = [...(await world.pods("log")), ...(await world.pods("stateless"))].map(nameOf);
      await world.changeSpec({ version: to });
      await world.untilReconciled(upgradeLimitMs);
      assert.deepEqual((await world.pods("storage")).map(nameOf), storage);
      const left = [...(await world.pods("log")), ...(await world.pods("stateless"))].map(nameOf);
      assert.deepEqual(
        left.filter((name) => others.includes(name)),
        [],
      );
      assert.deepEqual(killsOf(world), []);
      await assertAllOn(world, to);
    });
  });
}

for (const podUpdateStrategy of ["Delete", "Replace"] as const) {
  test(`[U80] A18 A19 with the strategy ${podUpdateStrategy} all pods are ${podUpdateStrategy === "Delete" ? "recreated in place" : "replaced"}`, async () => {
    const automationOptions = { waitBetweenRemovalsSeconds: 0, podUpdateStrategy };
    await upgradeWorld({ spec: { automationOptions } }, async (world) => {
      const before = (await world.pods()).map(nameOf);
      await world.changeSpec({ version: newVersion });
      await world.untilReconciled(upgradeLimitMs);
      const kept = (await world.pods()).map(nameOf).filter((name) => before.includes(name));
      assert.equal(kept.length, podUpdateStrategy === "Delete" ? before.length : 0);
      assert.equal(killsOf(world).length, 1);
      await assertAllOn(world, newVersion);
    });
  });
}

test("[U2] A17 a downgrade to another line is refused and nothing happens, until it is taken back", async () => {
  await upgradeWorld({ spec: { version: newVersion } }, async (world) => {
    const images = await imagesOf(world);
    const mark = world.requests.length;
    await world.changeSpec({ version: oldVersion });
    await untilBlocked(world, "VersionChangeRefused");
    await world.clock.advance(2 * minuteMs);
    const writes = world.writesSince(mark).filter((write) => !/events|\/status/.test(write));
    assert.deepEqual(writes, []);
    assert.deepEqual(await imagesOf(world), images);
    await world.changeSpec({ version: newVersion });
    await world.untilReconciled();
  });
});

test("[U5][U10][U14] A19 an old client holds the upgrade up, a lost pod comes back meanwhile, and the client's end lets it go on (long)", async () => {
  await upgradeWorld({}, async (world) => {
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    const address = "172.31.0.7:41000";
    world.world.fdb.addClient(connectionString, {
      address,
      logGroup: "shop",
      versions: [oldVersion],
    });
    await world.changeSpec({ version: newVersion });
    await untilBlocked(world, "ClientsIncompatible");
    assert.match(
      await blockedBy(world),
      /172\.31\.0\.7:41000 \(log group shop, version 7\.1\.57\)/,
    );
    assert.equal((await world.events("UnsupportedClient")).length, 1);
    const [pod] = await world.pods("storage");
    assert.ok(pod);
    await world.client.delete(podResource, { namespace: "default", name: nameOf(pod) });
    await world.clock.advance(2 * minuteMs);
    const status = await statusOf(world, oldVersion);
    assert.equal(Object.keys(status.cluster?.processes ?? {}).length, 9, "the pod runs again");
    assert.deepEqual(killsOf(world), []);
    const connection = (await world.cluster()).status?.connectionString ?? "";
    world.world.fdb.removeClient(connection, address);
    await untilRunning(world, newVersion);
    await world.untilReconciled(upgradeLimitMs);
    await assertAllOn(world, newVersion);
  });
});

test("[U4] A19 with the check off the upgrade ignores an old client", async () => {
  await upgradeWorld({ spec: { ignoreUpgradabilityChecks: true } }, async (world) => {
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    const client = { address: "172.31.0.7:41000", logGroup: "shop", versions: [oldVersion] };
    world.world.fdb.addClient(connectionString, client);
    await world.changeSpec({ version: newVersion });
    await untilRunning(world, newVersion);
  });
});

const variants: readonly [what: string, processes: number, spec: Partial<ClusterSpec>][] = [
  ["two storage servers to a pod", 12, { storageServersPerPod: 2 }],
  ["two log servers to a pod", 12, { logServersPerPod: 2 }],
  ["coordinators without DNS names", 9, { routing: { useDNSInClusterFile: false } }],
  ["public addresses of services", 9, { routing: { publicIPSource: "service" } }],
  [
    "coordinators of their own and a tester",
    13,
    {
      coordinatorSelection: [{ processClass: "coordinator", priority: 1 }],
      processCounts: { storage: 3, log: 3, stateless: 3, coordinator: 3, test: 1 },
    },
  ],
];

for (const [what, processes, spec] of variants) {
  test(`[U40][U42][U81] B12 F06 with ${what} every server restarts once`, async () => {
    await upgradeWorld({ spec, nodes: 8 }, async (world) => {
      const before = recoveriesOf(world);
      await world.changeSpec({ version: newVersion });
      await untilRunning(world, newVersion);
      assert.deepEqual(
        killsOf(world).map((addresses) => addresses.length),
        [processes],
      );
      assert.ok(recoveriesOf(world) - before <= 2);
    });
  });
}

test("[U50][U53] a process that the restart did not reach comes back with the new version", async () => {
  await upgradeWorld({}, async (world) => {
    const [pod] = await world.pods("storage");
    const ip = pod?.status?.podIP ?? "";
    world.world.fdb.faults.cutAddress(ip);
    await world.clock.advance(minuteMs);
    await world.changeSpec({ version: newVersion });
    await untilRunning(world, newVersion);
    assert.deepEqual(
      killsOf(world).map((addresses) => addresses.length),
      [8],
    );
    world.world.fdb.faults.restoreAddress(ip);
    await world.until(async () => {
      const { cluster } = await statusOf(world, newVersion);
      return Object.values(cluster?.processes ?? {}).some(
        (process) => process.locality?.["instance_id"] === idOf(pod),
      );
    }, "the straggler takes part again");
    await world.untilReconciled(upgradeLimitMs);
    await assertAllOn(world, newVersion);
  });
});

function idOf(pod: Stored<Pod> | undefined): string | undefined {
  return pod?.metadata.labels?.["foundationdb.org/fdb-process-group-id"];
}
