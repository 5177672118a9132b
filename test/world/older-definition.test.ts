// The custom resource definition of an older operator, which does not know what this one stores: nothing is written without end,
// it is said, and the right definition lets everything go on. Rules: spec/operate.md [OP73].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { customResourceDefinitions, pods } from "../../src/kube/resource.ts";
import { customResourceDefinitions as ours } from "../../src/api/crd.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

const name = "foundationdbclusters.apps.foundationdb.org";

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
}

async function install(world: TestWorld, change: (status: Schema) => void): Promise<void> {
  const { metadata } = await world.client.get(customResourceDefinitions, { name });
  const found = ours.find((each) => each.metadata.name === name);
  assert.ok(found);
  const next = structuredClone(found);
  for (const { schema } of next.spec.versions) {
    const root = schema?.openAPIV3Schema as Schema | undefined;
    if (root?.properties?.["status"]) change(root.properties["status"]);
  }
  next.metadata.resourceVersion = metadata.resourceVersion;
  await world.client.update(customResourceDefinitions, next);
}

function olderStatus(status: Schema): void {
  delete status.properties?.["conditions"];
  delete status.properties?.["blockedBy"];
  delete status.properties?.["processGroups"]?.items?.properties?.["volumeClaim"];
}

test("[OP73] with an older definition nothing is written without end, and nothing is risked", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await install(world, olderStatus);
    await world.changeSpec({ processCounts: { storage: 4 } });
    await world.clock.advance(minuteMs);
    const mark = world.requests.length;
    await world.clock.advance(10 * minuteMs);
    const writes = world.writesSince(mark);
    assert.ok(writes.length <= 25, `${writes.length} writes in ten minutes`);
    const [event, ...more] = await world.events("StatusFieldsUnknown");
    assert.match(event?.message ?? "", /does not store status\..* kubectl apply/);
    assert.equal(more.length, 0);
    const [lost] = await world.pods("log");
    assert.ok(lost);
    await world.client.delete(pods, keyOfObject(lost));
    await world.clock.advance(2 * minuteMs);
    assert.equal((await world.pods("log")).length, 3, "a lost pod comes back");
    await install(world, () => {});
    await world.untilReconciled();
    assert.equal((await world.pods("storage")).length, 4);
    world.assertDataSafe();
  });
});
