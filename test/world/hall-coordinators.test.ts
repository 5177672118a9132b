// Coordinators of a database over halls whose process groups move together on few hosts: nobody waits for ever, and nine
// come back when they can. Rules: spec/halls.md [HALL35].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import { nodes } from "../../src/kube/resource.ts";
import { isExcluded, isMarkedForRemoval } from "../../src/model/process-group.ts";
import { coordinatorsByHall, hallNodes, threeHalls } from "./hall-harness.ts";
import { hourMs, minuteMs, TestWorld } from "./world-harness.ts";

const spec: Partial<ClusterSpec> = {
  ...threeHalls,
  processCounts: { storage: 6, log: 9, stateless: 3 },
  automationOptions: {
    replacements: { enabled: true, failureDetectionTimeSeconds: 300, maxConcurrentReplacements: 9 },
  },
};

const nineNodes = { nodes: 9, zones: 3 };
const nine = { "zone-1": 3, "zone-2": 3, "zone-3": 3 };

async function firstNode(world: TestWorld): Promise<string> {
  return (await hallNodes(world, "zone-1"))[0] ?? "";
}

async function cordon(world: TestWorld, name: string, unschedulable: boolean): Promise<void> {
  await world.client.patch(nodes, { name }, { spec: { unschedulable } }, { type: "merge" });
}

async function groups(world: TestWorld): Promise<readonly ProcessGroupStatus[]> {
  return (await world.cluster()).status?.processGroups ?? [];
}

/** As specified, and nobody is on the way out. */
async function untilAtRest(world: TestWorld): Promise<void> {
  await world.untilReconciled(hourMs);
  const isCalm = async (): Promise<boolean> => !(await groups(world)).some(isMarkedForRemoval);
  await world.until(isCalm, "nobody is on the way out", hourMs);
  await world.untilReconciled(10 * minuteMs);
}

async function warningOf(world: TestWorld): Promise<{ reason?: string; message?: string }> {
  const { status } = await world.cluster();
  return conditionIn(status, "Warning") ?? {};
}

test("[HALL35] all are replaced and share two hosts of a hall: five coordinators, and nine when they can be (long)", async () => {
  await TestWorld.runWithCluster({ ...nineNodes, spec }, async (world) => {
    assert.deepEqual(await coordinatorsByHall(world), nine);
    const full = await firstNode(world);
    await cordon(world, full, true);
    await world.changeSpec({ processGroupIDPrefix: "north" });
    await untilAtRest(world);
    assert.deepEqual(Object.values(await coordinatorsByHall(world)).sort(), [1, 2, 2]);
    const warning = await warningOf(world);
    assert.equal(warning.reason, "CoordinatorsReduced");
    assert.match(warning.message ?? "", /^hall zone-1 uses 2 zones for .* there are five/);
    world.assertDataSafe();

    await cordon(world, full, false);
    const log = (await groups(world)).find(
      ({ processClass, hall }) => processClass === "log" && hall === "zone-1",
    );
    await world.changeSpec({ processGroupsToRemove: [log?.processGroupID] });
    await untilAtRest(world);
    assert.deepEqual(await coordinatorsByHall(world), nine);
    assert.deepEqual(await warningOf(world), {});
    world.assertDataSafe();
  });
});

test("[HALL35] [HALL16] a node that is out makes the set no smaller, and nobody else is kept because of it (long)", async () => {
  await TestWorld.runWithCluster({ ...nineNodes, spec }, async (world) => {
    const lost = await firstNode(world);
    await world.during(world.world.kubelet.stopNode(lost), minuteMs, "the loss of a node");
    await world.clock.advance(hourMs);
    const { connectionString = "" } = (await world.cluster()).status ?? {};
    assert.equal(connectionString.split(",").length, 9);
    const left = (await groups(world)).filter(
      (group) => isMarkedForRemoval(group) && !isExcluded(group),
    );
    const isServing = (id: string): boolean => connectionString.includes(`-${id}.`);
    assert.deepEqual(
      left.map((group) => isServing(group.processGroupID)),
      [true],
      "only the coordinator stays",
    );
    world.assertDataSafe();
    await world.during(world.world.kubelet.startNode(lost), minuteMs, "its return");
    await untilAtRest(world);
    world.assertDataSafe();
  });
});
