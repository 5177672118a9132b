// One cluster with a spec that cannot be meant, beside one that works: it is told so, keeps its pods, and harms nobody.
// Rules: spec/api.md [API36], spec/operate.md [OP52], [OP53].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { customResourceDefinitions as ourDefinitions } from "../../src/api/crd.ts";
import { customResourceDefinitions } from "../../src/kube/resource.ts";
import { minuteMs, tiny, TestWorld } from "./world-harness.ts";

const definitionName = "foundationdbclusters.apps.foundationdb.org";

/** What was stored while the CRD had no limits, and is there still when it has. */
async function storedBeforeLimits(world: TestWorld, store: () => Promise<unknown>): Promise<void> {
  const definition = ourDefinitions.find(({ metadata }) => metadata.name === definitionName);
  assert.ok(definition);
  const texts = ["minimum", "maximum", "maxItems"].map(
    (name) => new RegExp(`"${name}":-?\\d+,?`, "g"),
  );
  const open = texts
    .reduce((text, limit) => text.replace(limit, ""), JSON.stringify(definition))
    .replaceAll(",}", "}");
  await put(world, JSON.parse(open) as typeof definition);
  await world.clock.advance(5_000);
  await store();
  await put(world, definition);
}

async function put(world: TestWorld, definition: (typeof ourDefinitions)[number]): Promise<void> {
  const found = await world.client.get(customResourceDefinitions, { name: definitionName });
  const { resourceVersion } = found.metadata;
  await world.client.update(customResourceDefinitions, {
    ...definition,
    metadata: { ...definition.metadata, resourceVersion },
  });
}

const absurd: readonly (readonly [string, object])[] = [
  ["spec.processCounts.storage", { processCounts: { storage: 1_000_000 } }],
  ["spec.processCounts.unset", { processCounts: { unset: 2_147_483_647 } }],
  ["spec.storageServersPerPod", { storageServersPerPod: 2_147_483_647 }],
  ["spec.databaseConfiguration.logs", { databaseConfiguration: { logs: 2_147_483_647 } }],
];

for (const [field, change] of absurd) {
  test(`[API36] a stored ${field} beyond its limit is InvalidSpec and costs nobody anything (long)`, async () => {
    await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
      const before = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
      await storedBeforeLimits(world, () => world.changeSpec(change));
      const mark = world.requests.length;
      await world.createCluster(tiny, { name: "other" });
      await world.untilReconciled(2 * minuteMs, { name: "other" });
      const { status } = await world.cluster();
      const [blocked] = status?.blockedBy ?? [];
      assert.equal(blocked?.reason, "InvalidSpec");
      assert.equal(blocked?.object, field);
      assert.match(blocked?.remedy ?? "", /^use \d+ or less$/);
      const pods = (await world.pods()).filter(
        ({ metadata }) => metadata.labels?.["foundationdb.org/fdb-cluster-name"] === "sample",
      );
      assert.deepEqual(pods.map(({ metadata }) => metadata.uid).sort(), before);
      const writes = world.writesSince(mark).filter((write) => write.includes(" sample-"));
      assert.deepEqual(writes, []);
      world.assertDataSafe(2);
      await world.changeSpec({
        storageServersPerPod: null,
        processCounts: { storage: 1, unset: null },
        databaseConfiguration: { logs: null },
      });
      await world.untilReconciled();
    });
  });
}

test("[OP52] [OP53] a plan that takes long is cut, and its cluster rests while others are looked after", async () => {
  let elapsedMs = 0;
  let isSlow = false;
  const stopwatch = (): number => {
    // Each look at it is the time between two steps of a slow machine.
    if (isSlow) elapsedMs += 600;
    return elapsedMs;
  };
  await TestWorld.run({ stopwatch }, async (world) => {
    await world.createCluster(tiny);
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    isSlow = true;
    const mark = world.activities.length;
    await world.changeSpec({ processCounts: { storage: 2 } });
    await world.clock.advance(10 * minuteMs);
    const { status, metadata } = await world.cluster();
    const wait = status?.blockedBy?.find(({ reason }) => reason === "PlanTooLong");
    assert.match(wait?.message ?? "", /took so long that it was ended before/);
    assert.notEqual(status?.generations?.reconciled, metadata.generation);
    const passes = world.activities.slice(mark).filter(({ type }) => type === "waits").length;
    assert.ok(passes > 5 && passes <= 21, `${passes} passes in ten minutes`);
    isSlow = false;
    await world.untilReconciled();
    world.assertDataSafe();
  });
});
