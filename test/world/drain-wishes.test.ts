// What is taken for the wish to leave a node, what is not, and what is told. Rules: spec/drains.md [DRAIN1]-[DRAIN20], [DRAIN31]-[DRAIN33].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { nodes, persistentVolumeClaims, podDisruptionBudgets } from "../../src/kube/resource.ts";
import {
  assertBorne,
  budgetOf,
  budgets,
  CopyWatch,
  cordon,
  drain,
  evictAll,
  podsOn,
  setNode,
  untilEmpty,
  untilWait,
  usedNodes,
  waitOf,
  withDrains,
} from "./drain-harness.ts";
import { commandsOf, groups } from "./removal-harness.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };

async function someNode(world: TestWorld): Promise<string> {
  return (await usedNodes(world))[0] ?? "";
}

async function uids(world: TestWorld): Promise<string[]> {
  return (await world.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
}

test("[DRAIN1] [DRAIN2] [DRAIN3] at rest one pod may be evicted; what a person changes is put right", async () => {
  await withDrains({}, async (world) => {
    const { spec, status } = await budgetOf(world);
    const pods = (await world.pods()).length;
    assert.equal(spec?.minAvailable, pods - 1);
    assert.equal(spec?.unhealthyPodEvictionPolicy, "IfHealthyBudget");
    assert.equal(status?.disruptionsAllowed, 1);
    const writes = world.requests.length;
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(world.writesSince(writes), [], "nothing is written at rest");
    const { selector } = spec ?? {};
    const change = { spec: { minAvailable: 0, selector: { matchLabels: { more: "labels" } } } };
    await world.client.patch(podDisruptionBudgets, key, change, { type: "merge" });
    await world.clock.advance(minuteMs);
    const again = await budgetOf(world);
    assert.deepEqual([again.spec?.minAvailable, again.spec?.selector], [pods - 1, selector]);
    await world.client.delete(podDisruptionBudgets, key);
    await world.clock.advance(minuteMs);
    assert.deepEqual((await budgetOf(world)).spec, spec);
  });
});

test("[DRAIN3] [DRAIN8] while a fault domain is missing nobody may be evicted, and it is told where a node is cordoned", async () => {
  await withDrains({}, async (world) => {
    const [first = "", second = ""] = await usedNodes(world);
    await world.during(world.world.kubelet.stopNode(first), minuteMs, "a node stops");
    await cordon(world, second);
    await untilWait(world, "EvictionsHeld");
    const { spec } = await budgetOf(world);
    assert.equal(spec?.minAvailable, (await world.pods()).length);
    assert.ok((await evictAll(world, second)) > 0, "they are still there");
  });
});

test("[DRAIN5] a budget counts pods that are about to be made, and those that are not gone yet", async () => {
  await withDrains({}, async (world) => {
    const seen: string[] = [];
    await world.changeSpec({ processCounts: { storage: 6 } });
    const isGrown = async (): Promise<boolean> => {
      const [pods, { spec }] = [(await world.pods()).length, await budgetOf(world)];
      if (pods > Number(spec?.minAvailable) + 1) seen.push(`${pods} of ${spec?.minAvailable}`);
      return pods === 14;
    };
    await world.until(isGrown, "there are more pods");
    await world.untilReconciled();
    await world.changeSpec({ processCounts: { storage: 4 } });
    const isShrunk = async (): Promise<boolean> => {
      await isGrown();
      return (await groups(world)).length === 12;
    };
    await world.until(isShrunk, "there are fewer pods", 15 * minuteMs);
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(seen, []);
    assert.equal((await budgetOf(world)).spec?.minAvailable, 11);
  });
});

test("[DRAIN6] [DRAIN7] beside a person's own budget there is none of ours; switched off there is none", async () => {
  await withDrains({}, async (world) => {
    const { apiVersion, kind } = await budgetOf(world);
    const selector = { matchLabels: { "foundationdb.org/fdb-process-class": "storage" } };
    const metadata = { namespace: "default", name: "mine" };
    const own = { apiVersion, kind, metadata, spec: { minAvailable: 1, selector } };
    await world.client.create(podDisruptionBudgets, own);
    await untilWait(world, "DisruptionBudgetForeign");
    await world.clock.advance(minuteMs);
    assert.deepEqual(
      (await budgets(world)).map(({ metadata: one }) => one.name),
      ["mine"],
    );
    await world.client.delete(podDisruptionBudgets, metadata);
    await world.clock.advance(minuteMs);
    assert.equal(await waitOf(world, "DisruptionBudgetForeign"), undefined);
    await budgetOf(world);
    await world.changeSpec({ automationOptions: { drains: { enabled: false } } });
    await world.clock.advance(minuteMs);
    assert.deepEqual(await budgets(world), []);
  });
});

test("[DRAIN6] [DRAIN7] a person's own budget that goes with the resource is neither changed nor deleted", async () => {
  await withDrains({}, async (world) => {
    const { apiVersion, kind, metadata } = await budgetOf(world);
    const selector = { matchLabels: { "foundationdb.org/fdb-process-class": "storage" } };
    const { ownerReferences = [] } = metadata;
    const own = { namespace: "default", name: "a-mine", ownerReferences };
    const spec = { minAvailable: 1, selector };
    await world.client.create(podDisruptionBudgets, { apiVersion, kind, metadata: own, spec });
    await untilWait(world, "DisruptionBudgetForeign");
    await world.clock.advance(minuteMs);
    await world.changeSpec({ automationOptions: { drains: { enabled: false } } });
    await world.clock.advance(minuteMs);
    const left = await budgets(world);
    assert.deepEqual(
      left.map((budget) => [budget.metadata.name, budget.spec?.minAvailable]),
      [["a-mine", 1]],
    );
  });
});

test("[DRAIN7] without the right to look at budgets all else goes on", async () => {
  const world = { operator: { watchesBudgets: false } };
  await withDrains({ world }, async (one) => {
    await untilWait(one, "DisruptionBudgetForbidden");
    assert.deepEqual(await budgets(one), []);
  });
});

test("[DRAIN10] [DRAIN14] neither a cordon nor an eviction alone moves a node's pods", async () => {
  await withDrains({}, async (world) => {
    const name = await someNode(world);
    const before = await uids(world);
    await cordon(world, name);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await uids(world), before);
    await cordon(world, name, false);
    const [pod] = await podsOn(world, name);
    const { name: podName = "" } = pod?.metadata ?? {};
    await world.client.evictPod({ namespace: "default", name: podName });
    await world.clock.advance(5 * minuteMs);
    const after = await uids(world);
    assert.equal(before.filter((uid) => !after.includes(uid)).length, 1, "only the evicted one");
  });
});

test("[DRAIN5] where another cluster has the same labels, its pods count in the budget that covers them", async () => {
  const labels = { matchLabels: { app: "fdb" }, filterOnOwnerReference: true };
  await withDrains({ spec: { labels } }, async (world) => {
    const { apiVersion, kind, spec } = await world.cluster();
    const metadata = { namespace: "default", name: "other" };
    const other = { ...spec, automationOptions: {} };
    await world.client.create(foundationDbClusters, { apiVersion, kind, metadata, spec: other });
    await world.clock.advance(5 * minuteMs);
    const { spec: stored, status } = await budgetOf(world);
    const all = (await world.pods()).length;
    assert.equal(stored?.minAvailable, all - 1, "of both clusters");
    assert.equal(status?.disruptionsAllowed, 1);
  });
});

test("[DRAIN17] while every node is to be left, successors that find no node are not replaced again and again (long)", async () => {
  await withDrains({}, async (world) => {
    const { items } = await world.client.list(nodes);
    const names = items.map(({ metadata }) => metadata.name ?? "");
    const metadata = { annotations: { "foundationdb.org/drain": "true" } };
    const before = (await groups(world)).length;
    for (const name of names)
      await setNode(world, name, { metadata, spec: { unschedulable: true } });
    await world.clock.advance(30 * minuteMs);
    assert.ok((await groups(world)).length <= 2 * before, "nobody has more than one successor");
    for (const name of names) await cordon(world, name, false);
    await world.untilReconciled(30 * minuteMs);
    assert.equal((await groups(world)).length, before);
  });
});

test("[DRAIN15] [DRAIN16] a node whose taint the pods do not tolerate is no place to go to", async () => {
  await withDrains({ world: { nodes: 8, zones: 4 } }, async (world) => {
    const name = (await world.pods("storage"))[0]?.spec?.nodeName ?? "";
    const zoneOf = ({ metadata }: { metadata: { labels?: Record<string, string> } }) =>
      metadata.labels?.["topology.kubernetes.io/zone"];
    const { items } = await world.client.list(nodes);
    const zone = items.filter(({ metadata }) => metadata.name === name).map(zoneOf)[0];
    const taints = [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }];
    for (const node of items) {
      const isOther = node.metadata.name !== name && zoneOf(node) === zone;
      if (isOther) await setNode(world, node.metadata.name ?? "", { spec: { taints } });
    }
    const watch = await drain(world, [name]);
    await assertBorne(world, watch);
    const pending = (await world.pods()).filter(({ status }) => status?.phase !== "Running");
    assert.deepEqual(pending, [], "nobody was deleted who finds no place");
  });
});

for (const isLocal of [false, true]) {
  test(`[DRAIN11] [DRAIN15] [DRAIN16] a node that an autoscaler takes is left, ${isLocal ? "with new volumes" : "with the volumes"}`, async () => {
    await withDrains({ isLocal }, async (world) => {
      const name = await someNode(world);
      const ids = (await groups(world)).map(({ processGroupID }) => processGroupID).sort();
      const watch = new CopyWatch(world);
      const taints = [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }];
      await setNode(world, name, { spec: { taints } });
      const isEmpty = async (): Promise<boolean> => {
        watch.look();
        return (await podsOn(world, name)).length === 0;
      };
      await world.until(isEmpty, "it is empty", 30 * minuteMs);
      await assertBorne(world, watch);
      const now = (await groups(world)).map(({ processGroupID }) => processGroupID).sort();
      if (isLocal) assert.notDeepEqual(now, ids);
      else assert.deepEqual(now, ids);
      if (isLocal) assert.equal(watch.least, 2, "data moves before its pod goes");
    });
  });
}

test("[DRAIN12] our own annotation empties a node that is cordoned, and asks for the cordon", async () => {
  await withDrains({}, async (world) => {
    const name = await someNode(world);
    await setNode(world, name, { metadata: { annotations: { "foundationdb.org/drain": "true" } } });
    await untilWait(world, "NodeNotCordoned");
    assert.ok((await podsOn(world, name)).length > 0);
    await cordon(world, name);
    await untilEmpty(world, name);
    await world.untilReconciled();
    assert.equal(await waitOf(world, "NodeNotCordoned"), undefined);
  });
});

test("[DRAIN4] [DRAIN13] [DRAIN20] one eviction is enough: the operator takes the others itself, with the budget closed", async () => {
  await withDrains(
    { spec: { processCounts: { storage: 8, log: 6, stateless: 6 } }, world: { nodes: 4 } },
    async (world) => {
      const name = await someNode(world);
      await cordon(world, name);
      const count = await evictAll(world, name);
      assert.ok(count > 1);
      await world.clock.advance(2_000);
      const draining = async (): Promise<number> =>
        (await groups(world)).filter((group) =>
          group.processGroupConditions?.some(({ type }) => type === "NodeDraining"),
        ).length;
      assert.ok((await draining()) >= count - 1, "all but the evicted one, which may be elsewhere");
      await world.world.stopOperator();
      world.world.startOperator();
      let open = 0;
      const isEmpty = async (): Promise<boolean> => {
        const { spec } = await budgetOf(world);
        const left = (await podsOn(world, name)).length;
        if (left > 0 && Number(spec?.minAvailable) < 20) open += 1;
        return left === 0;
      };
      await world.until(isEmpty, "it is empty", 20 * minuteMs);
      assert.ok(commandsOf(world, "deletePods").length > 0);
      assert.ok(open < 8, `open for ${open} half seconds`);
      await world.untilReconciled();
      assert.equal(await draining(), 0);
    },
  );
});

test("[DRAIN14] a drain that is taken back half-way leaves who has not begun to go", async () => {
  await withDrains({ isLocal: true }, async (world) => {
    const name = await someNode(world);
    await cordon(world, name);
    await evictAll(world, name);
    await world.clock.advance(3_000);
    await cordon(world, name, false);
    await world.untilReconciled(30 * minuteMs);
    const left = (await groups(world)).flatMap(({ processGroupConditions }) =>
      (processGroupConditions ?? []).filter(({ type }) => type === "NodeDraining"),
    );
    assert.deepEqual(left, []);
    await world.clock.advance(5 * minuteMs);
    const { spec } = await budgetOf(world);
    assert.equal(spec?.minAvailable, (await world.pods()).length - 1);
  });
});

test("[DRAIN17] who was evicted while no operator looked, and whose disk stays behind, is replaced", async () => {
  await withDrains({ isLocal: true }, async (world) => {
    const name = await someNode(world);
    const claims = await world.client.list(persistentVolumeClaims, { namespace: "default" });
    const held = new Set(claims.items.map(({ metadata }) => metadata.name));
    const pod = (await podsOn(world, name)).find(({ metadata }) =>
      held.has(`${metadata.name}-data`),
    );
    assert.ok(pod !== undefined);
    await world.world.stopOperator();
    await cordon(world, name);
    await world.client.evictPod({ namespace: "default", name: pod.metadata.name ?? "" });
    await world.clock.advance(minuteMs);
    world.world.startOperator();
    const isGone = async (): Promise<boolean> =>
      (await world.pods()).every(({ metadata }) => metadata.name !== pod.metadata.name);
    await world.until(async () => !(await isGone()), "its pod is made again");
    await world.until(isGone, "it is replaced", 30 * minuteMs);
  });
});

test("[DRAIN31] two drains at once take turns", async () => {
  await withDrains({}, async (world) => {
    const [first = "", second = ""] = await usedNodes(world);
    const watch = await drain(world, [first, second]);
    await assertBorne(world, watch);
  });
});

test("[DRAIN32] drains during a replacement, an update of pods and an upgrade end (long)", async () => {
  await withDrains({}, async (world) => {
    const changes = [
      async () => {
        const [one] = await groups(world, "storage");
        await world.changeSpec({ processGroupsToRemove: [one?.processGroupID ?? ""] });
      },
      async () => {
        const metadata = { annotations: { changed: "true" } };
        await world.changeSpec({ processes: { storage: { podTemplate: { metadata } } } });
      },
      () => world.changeSpec({ version: "7.3.79" }),
    ];
    for (const change of changes) {
      const name = await someNode(world);
      await change();
      await world.clock.advance(5_000);
      const watch = await drain(world, [name], 60 * minuteMs);
      await assertBorne(world, watch);
      await cordon(world, name, false);
    }
  });
});

test("[DRAIN33] a node that never comes back after its drain is not missed", async () => {
  await withDrains({ isLocal: true }, async (world) => {
    const name = await someNode(world);
    const watch = await drain(world, [name]);
    await world.during(world.world.kubelet.stopNode(name), minuteMs, "it stops");
    await world.client.delete(nodes, { name });
    await assertBorne(world, watch);
  });
});
