// Replacement buckets in a whole world: a storage server whose data moves for hours, and who waits for it.
// Rules: spec/buckets.md [BKT10]-[BKT12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { nodes } from "../../src/kube/resource.ts";
import { runWithExample } from "./example.ts";
import { groups, untilSettled } from "./removal-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const file = "replacement-buckets.yaml";

/** So slow that the data of one storage server takes hours to move. */
const slowDisks = { nodes: 16, database: { timings: { moveBytesPerSecond: 100 } } };

const idLabel = "foundationdb.org/fdb-process-group-id";

/** Cuts a pod of a class off from everything; the id of its process group. */
async function cutOff(world: TestWorld, processClass: string): Promise<string> {
  const [pod] = await world.pods(processClass);
  const ip = pod?.status?.podIP ?? "";
  world.world.network.cut(ip);
  world.world.fdb.faults.cutAddress(ip);
  return pod?.metadata.labels?.[idLabel] ?? "";
}

/** Taints the node of a storage pod that is alone there; the id of its process group. */
async function taintNode(world: TestWorld): Promise<string> {
  const all = await world.pods();
  const alone = (await world.pods("storage")).find(
    (pod) => all.filter((other) => other.spec?.nodeName === pod.spec?.nodeName).length === 1,
  );
  const name = alone?.spec?.nodeName ?? "";
  const taints = [{ key: "example.org/retiring", effect: "NoSchedule" }];
  await world.client.patch(nodes, { name }, { spec: { taints } }, { type: "merge" });
  return alone?.metadata.labels?.[idLabel] ?? "";
}

async function isPresent(world: TestWorld, id: string): Promise<boolean> {
  return (await groups(world)).some((group) => group.processGroupID === id);
}

/** The storage process group is marked, and its data is on the way. */
async function untilMoving(world: TestWorld, id: string): Promise<void> {
  const isMarked = async (): Promise<boolean> =>
    (await groups(world)).some(
      (group) => group.processGroupID === id && group.removalTimestamp !== undefined,
    );
  await world.until(isMarked, `${id} is marked`, hourMs);
}

async function assertStillMoving(world: TestWorld, id: string): Promise<void> {
  const group = (await groups(world)).find(({ processGroupID }) => processGroupID === id);
  assert.notEqual(group?.removalTimestamp, undefined);
  assert.equal(group?.exclusionTimestamp, undefined, "its exclusion has not ended");
}

test("[BKT10] stateless and log replacements are done while a storage one still moves data", async () => {
  await runWithExample(file, slowDisks, async (world) => {
    const storage = await taintNode(world);
    await untilMoving(world, storage);
    const others = [await cutOff(world, "stateless"), await cutOff(world, "log")];
    for (const id of others) {
      await world.until(async () => !(await isPresent(world, id)), `${id} is gone`, 2 * hourMs);
    }
    await assertStillMoving(world, storage);
    const ready = (await groups(world)).filter((group) => group.removalTimestamp === undefined);
    assert.equal(ready.length, 13);
    world.assertDataSafe();
  });
});

test("[BKT10] without buckets they wait for the storage one, and say so", async () => {
  await runWithExample(file, slowDisks, async (world) => {
    const replacements = { replacementBucket: { enabled: false } };
    await world.changeSpec({ automationOptions: { replacements } });
    const storage = await taintNode(world);
    await untilMoving(world, storage);
    const stateless = await cutOff(world, "stateless");
    await world.clock.advance(15 * minuteMs);
    await assertStillMoving(world, storage);
    assert.ok(await isPresent(world, stateless));
    const { status } = await world.cluster();
    const wait = status?.blockedBy?.find(({ reason }) => reason === "ReplacementLimited");
    const field = "automationOptions.replacements.maxConcurrentReplacements allows 1 at a time";
    assert.match(
      wait?.message ?? "",
      new RegExp(
        `^${stateless} should be replaced .*${storage} holds .*bucket general, and ${field}`,
      ),
    );
    const marked = (await groups(world)).filter((group) => group.removalTimestamp !== undefined);
    assert.deepEqual(
      marked.map((group) => group.processGroupID),
      [storage],
    );
    // Turning the buckets on lets it go at once, without anything else.
    replacements.replacementBucket.enabled = true;
    await world.changeSpec({ automationOptions: { replacements } });
    const isGone = async (): Promise<boolean> => !(await isPresent(world, stateless));
    await world.until(isGone, "the stateless one is gone", 15 * minuteMs);
    await assertStillMoving(world, storage);
    world.assertDataSafe();
  });
});

test("[BKT11] with a bucket closed a failed process group stays until the bucket opens", async () => {
  await runWithExample(file, { nodes: 16 }, async (world) => {
    const bucket = { replacementBucket: { storage: 0 } };
    await world.changeSpec({ automationOptions: { replacements: bucket } });
    const storage = await cutOff(world, "storage");
    await world.clock.advance(15 * minuteMs);
    const { status } = await world.cluster();
    const wait = status?.blockedBy?.find(({ reason }) => reason === "ReplacementLimited");
    assert.match(
      wait?.message ?? "",
      new RegExp(`^${storage} .*replacementBucket.storage allows 0`),
    );
    bucket.replacementBucket.storage = 1;
    await world.changeSpec({ automationOptions: { replacements: bucket } });
    await untilSettled(world, hourMs);
    assert.ok(!(await isPresent(world, storage)));
    world.assertDataSafe();
  });
});
