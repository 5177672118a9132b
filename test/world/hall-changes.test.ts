// Running clusters that get halls, change them, or would be harmed by them. Rules: spec/halls.md [HALL13]-[HALL21], [HALL31].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { nodes } from "../../src/kube/resource.ts";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { allChecks } from "../../src/operate/operator-checks.ts";
import type { OperatorChecks } from "../../src/operate/operator-checks.ts";
import { withoutCheck } from "../fixtures/without-check.ts";
import {
  assertHallsAreTrue,
  coordinatorsByHall,
  groupsByHall,
  hallLocality,
  hallNodes,
  statusOf,
  threeHalls,
  untilHealthy,
} from "./hall-harness.ts";
import { person } from "./removal-harness.ts";
import { acts, blockedBy, isReconciled, templateWith, whileServing } from "./restart-harness.ts";
import { hourMs, minuteMs, TestWorld } from "./world-harness.ts";

const nineNodes = { nodes: 9, zones: 3 };
const nine = { "zone-1": 3, "zone-2": 3, "zone-3": 3 };
const triple: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "triple" },
  processCounts: { storage: 6, log: 6, stateless: 6 },
};

test("[HALL31] [HALL14] a running triple cluster becomes three_data_hall without an outage (long)", async () => {
  await TestWorld.runWithCluster({ ...nineNodes, spec: triple }, async (world) => {
    const before = (await world.cluster()).status?.processGroups ?? [];
    const storage = before.filter(({ processClass }) => processClass === "storage");
    await world.changeSpec({
      databaseConfiguration: { redundancy_mode: "three_data_hall" },
      localities: hallLocality,
      processCounts: { storage: 6, log: 9, stateless: 6 },
    });
    await whileServing(world, () => isReconciled(world), 4 * hourMs);
    await untilHealthy(world);
    world.assertDataSafe();
    await assertHallsAreTrue(world);
    assert.deepEqual(await groupsByHall(world), {
      log: [3, 3, 3],
      stateless: [2, 2, 2],
      storage: [2, 2, 2],
    });
    assert.deepEqual(await coordinatorsByHall(world), nine);
    const after = new Set(await stayingIds(world));
    const kept = storage.filter(({ processGroupID }) => after.has(processGroupID));
    assert.ok(kept.length >= 3, "storage that stands right keeps its data and is only restarted");
    for (const shard of world.world.fdb.truth.replicas()) {
      const halls = new Set(shard.replicas.map(({ localities }) => localities["data_hall"]));
      assert.equal(halls.size, 3);
    }
  });
});

/** Processes without halls, and a resource that asks for three_data_hall all the same. */
async function askForHalls(
  checks: OperatorChecks,
  check: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await TestWorld.runWithCluster({ ...nineNodes, spec: triple, checks }, async (world) => {
    const localities = [{ key: "data_hall", envValue: "NOWHERE" }];
    const databaseConfiguration = { redundancy_mode: "three_data_hall" as const };
    await world.changeSpec({ databaseConfiguration, localities });
    await world.clock.advance(10 * minuteMs);
    await check(world);
  });
}

test("[HALL19] the mode is not configured before the halls are there (long)", async () => {
  await askForHalls(allChecks, async (world) => {
    const wait = await blockedBy(world, "updateDatabaseConfiguration");
    assert.equal(wait?.reason, "ConfigurationUnsafe");
    assert.match(
      wait?.message ?? "",
      /three_data_hall needs storage processes in 3 values of data_hall/,
    );
    world.assertDataSafe();
    assert.equal((await statusOf(world)).cluster?.configuration?.redundancy_mode, "triple");
  });
});

test("[HALL19] without that check the same wish makes the database unavailable for good (long)", async () => {
  await askForHalls(withoutCheck("halls"), async (world) => {
    const [database] = world.world.fdb.truth.databases();
    assert.equal(database?.isAvailable, false);
    await world.clock.advance(10 * minuteMs);
    assert.equal(world.world.fdb.truth.databases()[0]?.isAvailable, false);
  });
});

test("[HALL15] [HALL17] six nodes: five coordinators, at most two in a hall, and a Warning", async () => {
  const spec = { ...threeHalls, processCounts: { storage: 6, log: 6, stateless: 6 } };
  await TestWorld.runWithCluster({ nodes: 6, zones: 3, spec }, async (world) => {
    const counts = Object.values(await coordinatorsByHall(world)).sort();
    assert.deepEqual(counts, [1, 2, 2]);
    const { status } = await world.cluster();
    const warning = conditionIn(status, "Warning");
    assert.deepEqual([warning?.status, warning?.reason], ["True", "TwoZonesPerHall"]);
    assert.match(warning?.message ?? "", /hall zone-1 offers 2 zones, .* a hall and one more zone/);
    const events = await world.events("TwoZonesPerHall");
    assert.deepEqual(
      events.map(({ type, count }) => [type, count ?? 1]),
      [["Warning", 1]],
    );
  });
});

test("[HALL20] a whole hall is not excluded: the fallback mode is named as the way, and opens it (long)", async () => {
  await TestWorld.runWithCluster({ ...nineNodes, spec: threeHalls }, async (world) => {
    const names = await hallNodes(world, "zone-3");
    const { status } = await world.cluster();
    const groups = (status?.processGroups ?? []).filter(({ hall }) => hall === "zone-3");
    const ids = groups.map(({ processGroupID }) => processGroupID);
    // No room for successors in the hall.
    for (const name of names) await cordon(world, name);
    await world.changeSpec({ processGroupsToRemove: ids });
    await world.clock.advance(20 * minuteMs);
    const { status: later } = await world.cluster();
    const wait = later?.blockedBy?.find(({ message }) => /_fallback/.test(message));
    assert.match(
      wait?.message ?? "",
      /storage processes would be left in 2 halls \(zone-1, zone-2\).*set redundancy_mode three_data_hall_fallback first/,
    );
    const storage = groups.filter(({ processClass }) => processClass === "storage");
    const excludedIds = acts(world, "excludeProcesses").flatMap((act) => act.processGroupIds);
    assert.ok(storage.some(({ processGroupID }) => !excludedIds.includes(processGroupID)));
    await world.changeSpec({
      databaseConfiguration: { redundancy_mode: "three_data_hall_fallback" },
    });
    const areGone = async (): Promise<boolean> => {
      const left = new Set(await stayingIds(world));
      return storage.every(({ processGroupID }) => !left.has(processGroupID));
    };
    await whileServing(world, areGone, 3 * hourMs);
    world.assertDataSafe();
  });
});

/** Without those whose last objects are about to go. */
async function stayingIds(world: TestWorld): Promise<string[]> {
  const { status } = await world.cluster();
  return (status?.processGroups ?? [])
    .filter((group) => !isMarkedForRemoval(group))
    .map(({ processGroupID }) => processGroupID);
}

async function cordon(world: TestWorld, name: string): Promise<void> {
  await world.client.patch(nodes, { name }, { spec: { unschedulable: true } }, { type: "merge" });
}

test("[HALL21] pods are made anew hall by hall, never in two halls at once (long)", async () => {
  for (const deletionMode of ["Zone", "All"] as const) {
    const spec = {
      ...threeHalls,
      automationOptions: { deletionMode, podUpdateStrategy: "Delete" as const },
    };
    await TestWorld.runWithCluster({ ...nineNodes, spec }, async (world) => {
      const watched = watchHalls(world);
      await world.changeSpec(templateWith("42"));
      await whileServing(world, () => isReconciled(world), 4 * hourMs);
      assert.equal(watched.most(), 1);
      assert.deepEqual(watched.order(), ["zone-1", "zone-2", "zone-3"]);
      world.assertDataSafe();
    });
  }
});

/** The halls in which pods are missing, moment by moment. */
function watchHalls(world: TestWorld): { most: () => number; order: () => string[] } {
  const hallOf = new Map<string, string>();
  const down = new Map<string, string>();
  const order: string[] = [];
  let most = 0;
  world.world.server.context.store.subscribeAll(({ type, storageKey, object }) => {
    if (storageKey !== "/pods") return;
    const pod = object as {
      metadata: { name: string; deletionTimestamp?: string };
      spec: { nodeName?: string };
      status?: { conditions?: { type: string; status: string }[] };
    };
    const { name, deletionTimestamp } = pod.metadata;
    const node = Number((pod.spec.nodeName ?? "").split("-")[1] ?? 0);
    if (node > 0) hallOf.set(name, `zone-${((node - 1) % 3) + 1}`);
    const isReady = pod.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True");
    if (type === "DELETED" || deletionTimestamp !== undefined)
      down.set(name, hallOf.get(name) ?? "");
    else if (isReady === true) down.delete(name);
    const halls = new Set(down.values());
    most = Math.max(most, halls.size);
    for (const hall of halls) if (order.at(-1) !== hall) order.push(hall);
  });
  return { most: () => most, order: () => order };
}

test("[HALL13] another hall, zone or datacenter in the resource is a replacement, never a restart (long)", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 3, log: 3, stateless: 3 },
    dataHall: "old",
  };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const before = await stayingIds(world);
    const kills = acts(world, "killProcesses").length;
    await world.changeSpec({ dataHall: "new" });
    await whileServing(world, () => isReconciled(world), 4 * hourMs);
    const after = new Set(await stayingIds(world));
    assert.deepEqual(
      before.filter((id) => after.has(id)),
      [],
    );
    assert.equal(acts(world, "killProcesses").length, kills);
    for (const { locality } of Object.values((await statusOf(world)).cluster?.processes ?? {})) {
      const isLeaving = !after.has(locality?.["instance_id"] ?? "");
      assert.equal(locality?.["data_hall"], isLeaving ? "old" : "new");
    }
    world.assertDataSafe();
  });
});

test("[HALL14] a hall for processes that had none comes by one restart", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 3, log: 3, stateless: 3 },
  };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const before = await stayingIds(world);
    await world.changeSpec({ dataHall: "az1" });
    await world.untilReconciled(30 * minuteMs);
    const after = await stayingIds(world);
    assert.deepEqual(after, before);
    const restarted = acts(world, "killProcesses").flatMap((kill) => kill.processGroupIds);
    assert.deepEqual(restarted.toSorted(), before.toSorted(), "everybody once");
    const excluded = await person(world, (client) => client.excluded(10_000));
    assert.deepEqual(excluded, []);
  });
});

test("[HALL10] a hall that nodes were moved out of is evened out by replacement (long)", async () => {
  await TestWorld.runWithCluster({ ...nineNodes, spec: threeHalls }, async (world) => {
    const localities = [
      {
        key: "data_hall",
        topologyKey: "topology.kubernetes.io/zone",
        values: ["zone-1", "zone-2", "zone-4"],
      },
    ];
    for (const name of ["node-21", "node-22", "node-23"]) {
      await world.during(world.world.kubelet.addNode({ name, zone: "zone-4" }), minuteMs, name);
    }
    await world.changeSpec({ localities });
    await whileServing(world, () => isReconciled(world), 6 * hourMs);
    assert.deepEqual(await groupsByHall(world), {
      log: [3, 3, 3],
      stateless: [2, 2, 2],
      storage: [2, 2, 2],
    });
    const { status } = await world.cluster();
    const staying = (status?.processGroups ?? []).filter((group) => !isMarkedForRemoval(group));
    const halls = new Set(staying.map(({ hall }) => hall));
    assert.deepEqual([...halls].sort(), ["zone-1", "zone-2", "zone-4"]);
    world.assertDataSafe();
  });
});
