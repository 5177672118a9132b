// Replacement buckets in a whole world: a storage server whose data moves for hours, and who waits for it.
// Rules: spec/buckets.md [BKT10]-[BKT12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { nodes } from "../../src/kube/resource.ts";
import { runWithExample } from "./example.ts";
import { groups, person, untilSettled } from "./removal-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const file = "replacement-buckets.yaml";

/** So slow that the data of one storage server takes hours to move. */
const slowDisks = disksAt(100);

function disksAt(moveBytesPerSecond: number) {
  return { nodes: 16, database: { timings: { moveBytesPerSecond } } };
}

const idLabel = "foundationdb.org/fdb-process-group-id";

/** Cuts the oldest pod of a class off from everything; the id of its process group. */
async function cutOff(world: TestWorld, processClass: string): Promise<string> {
  const bornAt = ({ metadata }: { metadata: { creationTimestamp?: string } }): number =>
    Date.parse(metadata.creationTimestamp ?? "");
  const [pod] = (await world.pods(processClass)).toSorted((a, b) => bornAt(a) - bornAt(b));
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
    assert.match(wait?.remedy ?? "", /^None is replaced while .*replacementBucket.storage is 0/);
    bucket.replacementBucket.storage = 1;
    await world.changeSpec({ automationOptions: { replacements: bucket } });
    await untilSettled(world, hourMs);
    assert.ok(!(await isPresent(world, storage)));
    world.assertDataSafe();
  });
});

const oneStateless = { replacementBucket: { stateless: 1 }, failureDetectionTimeSeconds: 60 };

function shardsOn(world: TestWorld, id: string): number {
  const shards = world.world.fdb.truth.replicas();
  return shards.filter(({ replicas }) =>
    replicas.some(({ localities }) => localities["instance_id"] === id),
  ).length;
}

test("[BKT10] [S69] stateless processes are replaced one after the other while a storage is dead for hours (long)", async () => {
  await runWithExample(file, disksAt(5_000), async (world) => {
    await world.changeSpec({ automationOptions: { replacements: oneStateless } });
    await world.clock.advance(15 * minuteMs);
    const storage = await cutOff(world, "storage");
    await untilMoving(world, storage);
    const first = await cutOff(world, "stateless");
    await world.until(async () => !(await isPresent(world, first)), "one is gone", 30 * minuteMs);
    const second = await cutOff(world, "stateless");
    const log = await cutOff(world, "log");
    await world.until(async () => !(await isPresent(world, second)), "two are gone", 30 * minuteMs);
    await assertStillMoving(world, storage);
    assert.ok(shardsOn(world, storage) > 0);
    // The logs before the last recovery keep what the dead storage has not read, so this one waits for full recovery.
    assert.ok(await isPresent(world, log));
    await world.until(async () => shardsOn(world, storage) === 0, "its data has moved", 9 * hourMs);
    await untilSettled(world, hourMs);
    for (const id of [storage, log]) assert.ok(!(await isPresent(world, id)), id);
    world.assertDataSafe();
  });
});

/** What a person does with `fdbcli --exec setclass`. */
async function setClass(world: TestWorld, address: string, processClass: string): Promise<void> {
  const text = new TextEncoder();
  const key = text.encode(`/configuration/process/class_type/${address}`);
  await person(world, (client) =>
    client.transact(
      async (transaction) => {
        transaction.set(new Uint8Array([255, 255, ...key]), text.encode(processClass));
      },
      { timeoutMs: 10_000, specialKeySpaceEnableWrites: true },
    ),
  );
}

for (const forgets of [
  "nobody",
  "the operator, before its death",
  "the operator, after its death",
]) {
  test(`[S68] a stateless process that served as storage is not let go early; ${forgets} forgets`, async () => {
    await runWithExample(file, disksAt(30_000), async (world) => {
      await world.changeSpec({ automationOptions: { replacements: oneStateless } });
      const [pod] = await world.pods("stateless");
      const id = pod?.metadata.labels?.[idLabel] ?? "";
      await world.clock.advance(15 * minuteMs);
      await setClass(world, `${pod?.status?.podIP}:4501`, "storage");
      await world.until(async () => shardsOn(world, id) > 0, "it holds data", hourMs);
      if (forgets.includes("before")) await restartOperator(world);
      assert.equal(await cutOff(world, "stateless"), id);
      if (forgets.includes("after")) await restartOperator(world);
      await untilMoving(world, id);
      const held = async (): Promise<boolean> => {
        const found = (await groups(world)).find(({ processGroupID }) => processGroupID === id);
        const isProven = found === undefined || found.exclusionTimestamp !== undefined;
        assert.ok(!isProven || shardsOn(world, id) === 0, "proven while it holds data");
        return isProven;
      };
      await world.clock.advance(5 * minuteMs);
      assert.ok(!(await held()), "its data needs longer than that");
      await world.until(held, "it is proven to hold nothing", 9 * hourMs);
      await untilSettled(world, hourMs);
      world.assertDataSafe();
    });
  });
}

async function restartOperator(world: TestWorld): Promise<void> {
  await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
  world.world.startOperator();
}
