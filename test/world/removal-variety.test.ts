// Removals in clusters of other shapes and under disturbance: several servers in a pod, services, the split image, IPv6,
// testers, pods deleted by force, operators that stop half way. Rules: spec/removal.md [R45], [R51], [R65], [R74], [R97], [R98].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { persistentVolumeClaims, pods, services } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import {
  assertAllCopies,
  assertNothingExcluded,
  classSize,
  commandsOf,
  excluded,
  groups,
  spreadOver,
  untilSettled,
} from "./removal-harness.ts";
import { pageOf } from "./stuck-case.ts";
import { keyOfObject, minuteMs, TestWorld } from "./world-harness.ts";

const counts = { storage: 5, log: 4, stateless: 3 };
const namespace = "default";

const shapes: [string, Partial<ClusterSpec>][] = [
  ["two storage and two log servers in a pod", { storageServersPerPod: 2, logServersPerPod: 2 }],
  ["the split image", { imageType: "split" }],
  [
    "public addresses of services",
    { routing: { publicIPSource: "service", useDNSInClusterFile: false } },
  ],
  [
    "exclusion by address and public addresses of services",
    {
      routing: { publicIPSource: "service", useDNSInClusterFile: false },
      automationOptions: { useLocalitiesForExclusion: false },
    },
  ],
  [
    "exclusion by address and two servers in a pod",
    { storageServersPerPod: 2, automationOptions: { useLocalitiesForExclusion: false } },
  ],
  ["locks in use", { lockOptions: { disableLocks: false } }],
  ["triple redundancy", { databaseConfiguration: { redundancy_mode: "triple" } }],
  ["one zone for all pods of a node pool", { faultDomain: { key: "foundationdb.org/none" } }],
];

for (const [title, spec] of shapes) {
  test(`[R97] every class shrinks and a process group is replaced with ${title}`, async () => {
    await TestWorld.runWithCluster({ ...spreadOver(counts, spec), nodes: 12 }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      const [storage] = await groups(world, "storage");
      await world.changeSpec({
        processCounts: { storage: 4, log: 3, stateless: 2 },
        processGroupsToRemove: [storage?.processGroupID ?? ""],
        automationOptions: { waitBetweenRemovalsSeconds: 0 },
      });
      await untilSettled(world);
      assert.equal(await classSize(world, "storage"), 4);
      assert.equal(await classSize(world, "log"), 3);
      assert.equal(await classSize(world, "stateless"), 2);
      const ids = (await groups(world)).map((group) => group.processGroupID);
      assert.ok(!ids.includes(storage?.processGroupID ?? ""));
      const claims = await world.client.list(persistentVolumeClaims, { namespace });
      assert.equal(claims.items.length, 7);
      const found = await world.client.list(services, { namespace });
      const perGroup = spec.routing?.publicIPSource === "service" ? 9 : 0;
      const headless = spec.routing?.useDNSInClusterFile === false ? 0 : 1;
      assert.equal(found.items.length, perGroup + headless);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    });
  });
}

test("[R45] a coordinator removed without exclusion is relieved and goes", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    await world.clock.advance(2 * minuteMs);
    const before = coordinatorsOf((await world.cluster()).status?.connectionString ?? "");
    const id = ((before[0] ?? "").split(".")[0] ?? "").replace("sample-", "");
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
    await untilSettled(world);
    const ids = (await groups(world)).map((group) => group.processGroupID);
    assert.ok(!ids.includes(id));
    assert.equal(commandsOf(world, "excludeProcesses").length, 0);
    await assertAllCopies(world);
  });
});

const classChanges: [string, Record<string, number>, string, string][] = [
  ["logs give way to transaction processes", { log: -1, transaction: 4 }, "log", "transaction"],
  [
    "a cluster controller of its own, and no stateless processes",
    { stateless: -1, cluster_controller: 1 },
    "stateless",
    "cluster_controller",
  ],
];
for (const [title, processCounts, before, after] of classChanges) {
  test(`[R97] ${title}`, async () => {
    await TestWorld.runWithCluster({ ...spreadOver(counts), nodes: 12 }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec({
        processCounts,
        automationOptions: { waitBetweenRemovalsSeconds: 0 },
      });
      await untilSettled(world);
      assert.equal(await classSize(world, before), 0);
      assert.equal(await classSize(world, after), processCounts[after]);
      assert.equal(commandsOf(world, "excludeProcesses").length, 1);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    });
  });
}

for (const [kind, resource] of [
  ["pod", pods],
  ["volume claim", persistentVolumeClaims],
] as const) {
  test(`[R76] [E50] a ${kind} stuck in deletion: reconciled, still excluded, and forgotten when it is gone`, async () => {
    await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
      const [group] = await groups(world, "storage");
      const id = group?.processGroupID ?? "";
      const name = resource.plural === "pods" ? `sample-${id}` : `sample-${id}-data`;
      const setFinalizers = (finalizers: readonly string[] | null): Promise<unknown> => {
        const body = { metadata: { finalizers } };
        return world.client.patch(resource, { namespace, name }, body, { type: "merge" });
      };
      await setFinalizers(["example.org/held"]);
      await world.changeSpec({ processGroupsToRemove: [id] });
      await world.untilReconciled(15 * minuteMs);
      await world.clock.advance(15 * minuteMs);
      const { status } = await world.cluster();
      assert.equal(status?.generations?.reconciled, 2);
      assert.equal(status?.generations?.hasPendingRemoval, 2);
      for (const wanted of ["Warning", "Progressing"]) {
        const condition = status?.conditions?.find(({ type }) => type === wanted);
        const told = `${condition?.reason}: ${condition?.message}`;
        assert.match(
          told,
          new RegExp(`^DeletionStuck: .*/${name} \\(held back by example.org/held\\)`),
        );
      }
      assert.match(await pageOf(world), /held back by example\.org\/held/);
      assert.deepEqual(await excluded(world), [`locality_instance_id:${id}`]);
      await setFinalizers(null);
      await untilSettled(world);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    });
  });
}

test("[R65] testers come and go without exclusion", async () => {
  await TestWorld.runWithCluster(spreadOver({ ...counts, test: 2 }), async (world) => {
    await world.changeSpec({ processCounts: { test: 0 } });
    await untilSettled(world);
    assert.equal(await classSize(world, "test"), 0);
    assert.equal(commandsOf(world, "excludeProcesses").length, 0);
    assert.equal(commandsOf(world, "includeProcesses").length, 0);
  });
});

test("[R74] a pod deleted by force runs on: its exclusion stays until its node is stopped", async () => {
  await TestWorld.runWithCluster({ ...spreadOver(counts), nodes: 12 }, async (world) => {
    const [group] = await groups(world, "storage");
    const id = group?.processGroupID ?? "";
    const key = { namespace, name: `sample-${id}` };
    const node = (await world.client.get(pods, key)).spec?.nodeName ?? "";
    await world.world.kubelet.cutNode(node);
    await world.changeSpec({ processGroupsToRemove: [id] });
    await world.until(
      async () => (await world.client.find(pods, key))?.metadata.deletionTimestamp !== undefined,
      "its deletion has begun",
      15 * minuteMs,
    );
    await world.client.delete(pods, key, { gracePeriodSeconds: 0 });
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(await excluded(world), [`locality_instance_id:${id}`]);
    const { status } = await world.cluster();
    const entry = status?.blockedBy?.find(({ reason }) => reason === "InclusionPending");
    assert.match(entry?.message ?? "", /still sees/);
    await world.world.kubelet.stopNode(node);
    await world.until(
      async () => (await groups(world)).every((one) => one.processGroupID !== id),
      "it is forgotten",
    );
    await assertNothingExcluded(world);
    await assertAllCopies(world);
  });
});

test("[R47] a marked process group whose pod is deleted by hand gets it back until it is empty", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    const [group] = await groups(world, "storage");
    const id = group?.processGroupID ?? "";
    const key = { namespace, name: `sample-${id}` };
    const first = await world.client.get(pods, key);
    await world.changeSpec({ processGroupsToRemove: [id] });
    await world.until(async () => (await excluded(world)).length > 0, "it is excluded");
    await world.client.delete(pods, keyOfObject(first));
    await untilSettled(world);
    const ids = (await groups(world)).map((one) => one.processGroupID);
    assert.ok(!ids.includes(id));
    await assertNothingExcluded(world);
    await assertAllCopies(world);
  });
});

test("[R98] an operator that stops at any point of a removal is continued by the next one (long)", async () => {
  for (const delayMs of [100, 400, 9_000, 16_000, 22_000]) {
    await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
      await world.changeSpec({ processCounts: { storage: 4 } });
      await world.clock.advance(delayMs);
      await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
      await world.clock.advance(5_000);
      world.world.startOperator();
      await untilSettled(world);
      assert.equal(await classSize(world, "storage"), 4);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    });
  }
});
