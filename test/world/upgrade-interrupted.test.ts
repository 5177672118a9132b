// Upgrades that are interrupted, and upgrades of databases that several resources share.
// Rules: spec/upgrade.md [U47], [U48], [U64], [U82].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readDenyList } from "../../src/fdb/deny-list.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { readLock } from "../../src/fdb/lock.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";
import {
  assertAllOn,
  blockedBy,
  killsOf,
  newVersion,
  nine,
  oldVersion,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
  withAdmin,
} from "./upgrade-harness.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

type Moment = (world: TestWorld) => Promise<boolean>;

function hasActed(world: TestWorld, text: string): boolean {
  return world.activities.some(
    (activity) => activity.type === "action" && activity.text.startsWith(text),
  );
}

const moments: readonly [what: string, isReached: Moment][] = [
  ["the first sidecars changed", async (world) => hasActed(world, "change the image")],
  ["the new version was announced", async (world) => hasActed(world, "update config map")],
  [
    "the restart was asked for",
    async (world) =>
      world.trace.lines().some((line) => line.includes("killed by a client's request")),
  ],
  ["the restart was over", async (world) => killsOf(world).length > 0],
  [
    "the first pod was made anew",
    async (world) => hasActed(world, "delete pods") || hasActed(world, "create pod"),
  ],
];

for (const imageType of ["unified", "split"] as const) {
  // Split pods differ only until their processes have restarted.
  for (const [what, isReached] of moments.slice(0, imageType === "split" ? 3 : undefined)) {
    test(`[U82] F05 the operator dies when ${what} (${imageType}), and the next one finishes the upgrade (long)`, async () => {
      await upgradeWorld({ spec: { imageType }, keepLines: 400 }, async (world) => {
        world.activities.length = 0;
        await world.changeSpec({ version: newVersion });
        while (!(await isReached(world))) await world.clock.advance(100);
        await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
        await world.clock.advance(20_000);
        world.world.startOperator();
        await world.untilReconciled(upgradeLimitMs);
        assert.ok(killsOf(world).length <= 1, "one restart");
        await assertAllOn(world, newVersion);
      });
    });
  }
}

const keys = operatorKeys("test-locks");
const locked = { disableLocks: false, lockKeyPrefix: "test-locks" };

test("[U47][U48][U82] B13 F04 two resources of one database: the first waits for the second, and one restart serves both (long)", async () => {
  const spec = { lockOptions: locked, processGroupIDPrefix: "one" };
  await upgradeWorld({ spec, nodes: 8 }, async (world) => {
    const second = { name: "second" };
    const seedConnectionString = (await world.cluster()).status?.connectionString ?? "";
    await world.createCluster(
      {
        ...nine,
        lockOptions: locked,
        processGroupIDPrefix: "two",
        seedConnectionString,
        processCounts: { storage: 1, log: 1, stateless: 1 },
      },
      second,
    );
    await world.untilReconciled(10 * minuteMs, second);
    await world.untilReconciled(10 * minuteMs);
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec({ version: newVersion });
    await world.until(
      async () => (await blockedBy(world)).includes("UpgradePending: "),
      "the first waits for the second",
    );
    assert.match(await blockedBy(world), /two-log-\d+, two-stateless-\d+ and two-storage-\d+/);
    assert.equal((await world.events("UpgradeRequeued")).length, 1);
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(killsOf(world), []);
    await world.changeSpec({ version: newVersion }, second);
    await untilRunning(world, newVersion);
    assert.deepEqual(
      killsOf(world).map((addresses) => addresses.length),
      [12],
    );
    await world.untilReconciled(upgradeLimitMs, second);
    await world.untilReconciled(upgradeLimitMs);
    assert.equal(killsOf(world).length, 1);
    await assertAllOn(world, newVersion);
  });
});

test("[U60][U61][U64] A22 the deny list is written, and the lock is given back after the work", async () => {
  const denyList = [{ id: "gone", allow: false }];
  const spec = { lockOptions: { ...locked, denyList }, processGroupIDPrefix: "one" };
  await upgradeWorld({ spec }, async (world) => {
    const read = <T>(use: (shared: SharedKeys) => Promise<T>): Promise<T> =>
      withAdmin(world, oldVersion, (admin) => use({ admin, keys }));
    assert.deepEqual(await read(readDenyList), ["gone"]);
    assert.deepEqual((await world.cluster()).status?.locks, { lockDenyList: ["gone"] });
    await world.changeSpec({ processCounts: { ...nine.processCounts, stateless: 2 } });
    await world.untilReconciled(upgradeLimitMs);
    await world.clock.advance(minuteMs);
    assert.equal(await read(readLock), undefined);
    const releases = world.activities.filter(
      (activity) => activity.type === "action" && activity.action.type === "releaseLock",
    );
    assert.ok(releases.length > 0 && releases.length < 5, `${releases.length} releases`);
    await world.changeSpec({ lockOptions: { ...locked, denyList: [{ id: "gone", allow: true }] } });
    await world.untilReconciled();
    assert.deepEqual(await read(readDenyList), []);
  });
});
