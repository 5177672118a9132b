// FoundationDB notices the loss of a storage server after more than a minute. Until then nothing rests on what it says of
// its copies, also when the operator that took a process group away is not there any more. Rules: spec/safety.md [S162], spec/hibernation.md [HIB2].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { nodes, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { skewedClock } from "../../src/sim/skewed-clock.ts";
import { assertAllCopies, groups } from "./removal-harness.ts";
import { keyOfObject, minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";
import { withAdmin } from "./with-admin.ts";

const options = {
  nodes: 9,
  spec: { ...small, processCounts: { storage: 5, log: 3, stateless: 2 } },
};

/** Two process groups that have all copies of some data, neither of them a coordinator. */
function allCopiesOfSome(world: TestWorld): string[] {
  const [database] = world.world.fdb.truth.databases();
  const sets = (database?.replicas ?? []).map(({ replicas }) =>
    replicas.map(({ localities }) => localities["instance_id"] ?? ""),
  );
  const isCoordinator = (id: string): boolean => database?.connectionString.includes(id) === true;
  const found = sets.find((ids) => !ids.some(isCoordinator));
  assert.ok(found !== undefined, "data that lies on no coordinator");
  return found;
}

async function untilOneIsGone(world: TestWorld, ids: readonly string[]): Promise<void> {
  const isOneGone = async (): Promise<boolean> => {
    const left = (await groups(world)).map(({ processGroupID }) => processGroupID);
    return !ids.every((id) => left.includes(id));
  };
  await world.until(isOneGone, "one of them goes");
}

/** Until the first one of them has left; then another operator takes over. */
async function anotherOperatorAfter(world: TestWorld, ids: readonly string[]): Promise<void> {
  await untilOneIsGone(world, ids);
  await world.world.stopOperator();
  world.world.startOperator();
}

test("[S162] of two process groups that go without exclusion the second one waits for the copies of the first, also under another operator", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const ids = allCopiesOfSome(world);
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: ids });
    await anotherOperatorAfter(world, ids);
    await world.untilReconciled(20 * minuteMs);
    world.assertDataSafe();
  });
});

for (const [who, isAnother] of [
  ["the operator that did it", false],
  ["another operator", true],
] as const) {
  test(`[S167] a step of the clock does not end the wait for the copies of what went without exclusion, under ${who}`, async () => {
    const clock = new VirtualClock();
    const operatorClock = skewedClock(clock, { offsetMs: 0, driftMsPerHour: 0 });
    const setting = { ...options, clock, operatorClock };
    await TestWorld.runWithCluster(setting, async (world) => {
      const ids = allCopiesOfSome(world);
      await world.changeSpec({ processGroupsToRemoveWithoutExclusion: ids });
      if (isAnother) await anotherOperatorAfter(world, ids);
      else await untilOneIsGone(world, ids);
      await clock.advance(5_000);
      operatorClock.step(60 * minuteMs);
      await world.untilReconciled(20 * minuteMs);
      world.assertDataSafe();
    });
  });
}

test("[S168] what people took away while the resource was paused has its copies again before the next one goes", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const [first = "", second = ""] = allCopiesOfSome(world);
    await world.clock.advance(5 * minuteMs);
    await world.changeSpec({ skip: true });
    await world.clock.advance(1_000);
    await takeAway(world, first);
    await world.clock.advance(1_000);
    await world.changeSpec({ skip: false, processGroupsToRemoveWithoutExclusion: [second] });
    await world.untilReconciled(20 * minuteMs);
    world.assertDataSafe();
  });
});

test("[S170] what people took away a second ago, while the database still lists it, has its copies again before the next one goes", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const [first = "", second = ""] = allCopiesOfSome(world);
    await world.clock.advance(5 * minuteMs);
    await takeAway(world, first);
    await world.clock.advance(1_000);
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [second] });
    await world.untilReconciled(20 * minuteMs);
    world.assertDataSafe();
  });
});

test("[S171] what people took away while the operator did not reach the database has its copies again before the next one goes", async () => {
  let isCut = false;
  const wrapAdmin = withAdmin((client) => ({
    status: (timeoutMs) => (isCut ? Promise.reject(new Error("cut")) : client.status(timeoutMs)),
  }));
  await TestWorld.runWithCluster({ ...options, wrapAdmin }, async (world) => {
    const [first = "", second = ""] = allCopiesOfSome(world);
    await world.clock.advance(5 * minuteMs);
    isCut = true;
    await world.clock.advance(15 * minuteMs);
    await takeAway(world, first);
    await world.clock.advance(1_000);
    isCut = false;
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [second] });
    await world.untilReconciled(20 * minuteMs);
    world.assertDataSafe();
  });
});

/** By hand, with all that tells of it. */
async function takeAway(world: TestWorld, id: string): Promise<void> {
  const now = { gracePeriodSeconds: 0 };
  const [pod] = (await world.pods("storage")).filter((one) => nameOf(one).endsWith(id));
  assert.ok(pod !== undefined);
  const claim = { namespace: "default", name: `${nameOf(pod)}-data` };
  await world.client.delete(persistentVolumeClaims, claim, now);
  await world.client.delete(pods, keyOfObject(pod), now);
  const left = (await groups(world)).filter(({ processGroupID }) => processGroupID !== id);
  const patch = { status: { processGroups: left } };
  const key = keyOfObject(await world.cluster());
  const how = { type: "merge", subresource: "status" } as const;
  await world.client.patch(foundationDbClusters, key, patch, how);
}

test("[S162] [HIB2] a database whose copy went without exclusion just before another operator came does not sleep without it", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const ids = allCopiesOfSome(world).slice(0, 1);
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: ids, hibernate: true });
    await anotherOperatorAfter(world, ids);
    const isAsleep = async (): Promise<boolean> =>
      conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
    await world.until(isAsleep, "the database sleeps", 20 * minuteMs);
    const missing = world.world.fdb.truth
      .replicas()
      .flatMap(({ replicas }) => replicas.filter(({ isOnDisk }) => !isOnDisk));
    assert.deepEqual(missing, []);
  });
});

async function cordon(world: TestWorld, unschedulable: boolean): Promise<void> {
  for (const node of (await world.client.list(nodes, {})).items) {
    await world.client.update(nodes, { ...node, spec: { ...node.spec, unschedulable } });
  }
}

for (const removalMode of ["All", "Zone"] as const) {
  test(`[S163] of two process groups that go without exclusion, one of them just down, the other one stays meanwhile (${removalMode})`, async () => {
    await TestWorld.runWithCluster(options, async (world) => {
      const ids = allCopiesOfSome(world);
      const pod = (await world.pods("storage")).find((one) => nameOf(one).endsWith(ids[0] ?? ""));
      assert.ok(pod !== undefined);
      await cordon(world, true);
      await world.client.delete(pods, keyOfObject(pod), { gracePeriodSeconds: 0 });
      await world.clock.advance(10_000);
      const automationOptions = { removalMode, waitBetweenRemovalsSeconds: 0 };
      await world.changeSpec({ processGroupsToRemoveWithoutExclusion: ids, automationOptions });
      await world.clock.advance(3 * minuteMs);
      world.assertDataSafe();
      await cordon(world, false);
      await world.untilReconciled(20 * minuteMs);
      await assertAllCopies(world);
    });
  });
}
