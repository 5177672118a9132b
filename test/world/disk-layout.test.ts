// Pods that are made anew while the spec wants data to lie elsewhere on their volumes. Rules: spec/plan.md [P98].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import { pods } from "../../src/kube/resource.ts";
import { claimsNow, patchClaim } from "./adoption-harness.ts";
import { keyOfObject, minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

const changes: [what: string, before: Partial<ClusterSpec>, after: Partial<ClusterSpec>][] = [
  ["the split image", { imageType: "unified" }, { imageType: "split" }],
  ["the unified image", { imageType: "split" }, { imageType: "unified" }],
  ["one server in a pod", { storageServersPerPod: 2 }, { storageServersPerPod: 1 }],
];

for (const [what, before, after] of changes) {
  test(`[P98] pods that are lost before ${what} reaches them come back with their data (long)`, async () => {
    const spec: Partial<ClusterSpec> = {
      ...small,
      ...before,
      databaseConfiguration: { redundancy_mode: "double" },
    };
    await TestWorld.runWithCluster({ nodes: 9, spec }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      const held = { maxConcurrentReplacements: 0, waitBetweenRemovalsSeconds: 0 };
      await world.world.stopOperator();
      await world.changeSpec({ ...after, automationOptions: held });
      // All data was there and in no other place.
      for (const pod of await world.pods("storage"))
        await world.client.delete(pods, keyOfObject(pod));
      for (const pod of await world.pods("log")) await world.client.delete(pods, keyOfObject(pod));
      await world.clock.advance(minuteMs / 2);
      world.world.startOperator();
      await world.clock.advance(3 * minuteMs);
      assert.equal((await world.cluster()).status?.health?.available, true);
      world.assertDataSafe();
      await world.changeSpec({ automationOptions: { maxConcurrentReplacements: 9 } });
      await world.untilReconciled(60 * minuteMs);
      await world.clock.advance(10 * minuteMs);
      world.assertDataSafe();
      const { status } = await world.cluster();
      const kept = (status?.processGroups ?? []).filter((group) => group.diskLayout !== undefined);
      assert.deepEqual(kept, []);
    });
  });
}

test("[P98] what somebody writes on the claims of a database that serves leads no pod away from its data", async () => {
  await TestWorld.runWithCluster({ nodes: 9, spec: small }, async (world) => {
    const annotations = { [annotationKeys.diskLayout]: "root" };
    for (const claim of await claimsNow(world))
      await patchClaim(world, nameOf(claim), { annotations });
    for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    world.assertDataSafe();
    assert.equal((await claimsNow(world)).length, 6, "nobody was replaced");
  });
});
