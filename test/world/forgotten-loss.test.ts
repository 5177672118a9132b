// Somebody deletes a pod with its claim, and the status of the resource is lost before the database has noticed.
// Rules: spec/safety.md [S170].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { keyOfObject, minuteMs, TestWorld } from "./world-harness.ts";

test("[S170] pods that are made anew leave the other copy alone when a status forgets a lost one (long)", async () => {
  const spec = {
    version: "7.3.63",
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 6, log: 5, stateless: 4 },
    automationOptions: { podUpdateStrategy: "Delete" },
  } as const;
  await TestWorld.runWithCluster({ nodes: 15, spec }, async (world) => {
    await world.clock.advance(3 * minuteMs);
    const env = [{ name: "CHANGED", value: "meanwhile" }];
    const podTemplate = { spec: { containers: [{ name: "foundationdb", env }] } };
    await world.changeSpec({ processes: { general: { podTemplate } } });
    await world.clock.advance(41_000);
    const pod = (await world.pods("storage")).at(-1);
    assert.ok(pod);
    const claim = { namespace: "default", name: `${pod.metadata.name}-data` };
    await world.client.delete(persistentVolumeClaims, claim);
    await world.client.delete(pods, keyOfObject(pod));
    for (let second = 0; second < 120; second += 1) {
      for (const { replicas } of world.world.fdb.truth.replicas()) {
        assert.ok(
          replicas.some(({ isLive }) => isLive),
          `a copy serves after ${second} s`,
        );
      }
      await world.clock.advance(1_000);
      if (second % 11 !== 3) continue;
      const { status, ...rest } = await world.cluster();
      const wiped = { ...rest, status: { ...status, processGroups: [] } };
      await world.client.updateStatus(foundationDbClusters, wiped).catch(() => undefined);
    }
    await world.untilReconciled(60 * minuteMs);
    world.assertDataSafe();
  });
});
