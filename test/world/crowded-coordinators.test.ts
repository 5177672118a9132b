// Successors that came up while most nodes were closed share fault domains, and coordinators that are to go find nobody to
// take their place in another one. Nothing moves by itself. Rules: spec/removal.md [R103], [R104].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { nodes } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { groups } from "./removal-harness.ts";
import { TestWorld, hourMs, minuteMs } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";

const spec: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "triple" },
  processCounts: { storage: 5, log: 5, stateless: 3 },
  automationOptions: { waitBetweenRemovalsSeconds: 0 },
};

async function close(world: TestWorld, names: readonly string[], isClosed: boolean): Promise<void> {
  for (const name of names) {
    const patch = { spec: { unschedulable: isClosed } };
    await world.client.patch(nodes, { name }, patch, { type: "merge" });
  }
}

/** Everything has been replaced on four nodes, the others are closed, and the coordinators cannot go. */
async function crowdedWorld(
  options: TestWorldOptions,
  body: (world: TestWorld, closed: readonly string[]) => Promise<void>,
): Promise<void> {
  await TestWorld.runWithCluster({ nodes: 10, spec, ...options }, async (world) => {
    const closed = world.world.kubelet.nodeNames().slice(4);
    await close(world, closed, true);
    await world.changeSpec({ processGroupIDPrefix: "west" });
    await world.clock.advance(30 * minuteMs);
    const leaving = (await groups(world)).filter(isMarkedForRemoval);
    assert.ok(leaving.length > 0, "coordinators that cannot go");
    await body(world, closed);
    world.assertDataSafe();
  });
}

test("[R103] coordinators that are to go find others when nodes are open again (long)", async () => {
  await crowdedWorld({}, async (world, closed) => {
    const [wait] = (await world.cluster()).status?.blockedBy ?? [];
    assert.match(wait?.remedy ?? "", /add nodes or uncordon them/);
    await close(world, closed, false);
    await world.untilReconciled(hourMs);
    const { connectionString = "" } = (await world.cluster()).status ?? {};
    assert.equal(coordinatorsOf(connectionString).length, 5);
    assert.deepEqual((await groups(world)).filter(isMarkedForRemoval), []);
  });
});

test("[R104] a node that takes no pod costs one attempt, and the next one follows when others are open (long)", async () => {
  await crowdedWorld({}, async (world, closed) => {
    const attempts = async (): Promise<number> => {
      const found = await world.events("ReplacingProcesses");
      return found.filter(({ message }) => /coordinators need 5 zones/.test(message ?? "")).length;
    };
    const small = { name: "small", capacity: { cpu: "10m", memory: "64Mi", pods: "110" } };
    await world.during(world.world.kubelet.addNode(small), minuteMs, "the small node");
    await world.clock.advance(hourMs);
    assert.equal(await attempts(), 1);
    await close(world, closed.slice(0, 2), false);
    await world.untilReconciled(hourMs);
    assert.equal(await attempts(), 2);
  });
});
