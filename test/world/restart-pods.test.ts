// Pods of a running cluster that are made anew: one fault domain after the other, always enough left to serve.
// Rules: spec/restart.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import {
  acts,
  isReconciled,
  recoveries,
  templateWith,
  untilBlocked,
  whileServing,
} from "./restart-harness.ts";
import { minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

const deleting: Partial<ClusterSpec> = {
  ...small,
  automationOptions: { podUpdateStrategy: "Delete" },
};

function answers(found: Awaited<ReturnType<TestWorld["pods"]>>): Set<string | undefined> {
  const main = found.map((pod) => pod.spec?.containers.find(({ name }) => name === "foundationdb"));
  return new Set(main.map((each) => each?.env?.find(({ name }) => name === "ANSWER")?.value));
}

test("[T51] with Delete every pod is made anew in place, zone by zone, and the database serves on", async () => {
  await TestWorld.runWithCluster({ spec: deleting, nodes: 9 }, async (world) => {
    const names = (await world.pods()).map(nameOf).toSorted();
    const { status } = await world.cluster();
    const zones = new Map(
      (status?.processGroups ?? []).map((group) => [group.processGroupID, group.faultDomain]),
    );
    await world.changeSpec(templateWith("42"));
    await whileServing(world, () => isReconciled(world));
    const found = await world.pods();
    assert.deepEqual(found.map(nameOf).toSorted(), names);
    assert.deepEqual([...answers(found)], ["42"]);
    const deletions = acts(world, "deletePods");
    for (const { pods: orders } of deletions) {
      assert.equal(new Set(orders.map(({ processGroupId }) => zones.get(processGroupId))).size, 1);
    }
    assert.equal(deletions.flatMap((act) => act.pods).length, 9);
    world.assertDataSafe();
  });
});

test("[T51] storage pods are updated zone by zone without a single recovery", async () => {
  const nodes = Array.from({ length: 6 }, (_, index) => ({
    name: `node-${index + 1}`,
    zone: `zone-${(index % 3) + 1}`,
  }));
  const spec: Partial<ClusterSpec> = {
    ...small,
    processCounts: { storage: 6, log: 3, stateless: 3 },
    coordinatorSelection: [{ processClass: "log" }],
  };
  await TestWorld.runWithCluster({ spec, nodes }, async (world) => {
    const before = recoveries(world);
    const startedMs = world.clock.nowMs();
    const { processes } = templateWith("42");
    await world.changeSpec({ processes: { storage: processes?.["general"] } });
    await whileServing(world, () => isReconciled(world));
    assert.deepEqual([...answers(await world.pods("storage"))], ["42"]);
    assert.equal(recoveries(world), before);
    const tookMs = world.clock.nowMs() - startedMs;
    assert.ok(tookMs < 5 * minuteMs, `no fixed pauses between zones: ${tookMs} ms`);
    world.assertDataSafe();
  });
});

test("[T53] mode None leaves pods to people, and goes on when they have deleted them (long)", async () => {
  const spec: Partial<ClusterSpec> = {
    ...small,
    automationOptions: { podUpdateStrategy: "Delete", deletionMode: "None" },
  };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const uids = (await world.pods()).map((pod) => pod.metadata.uid ?? "").toSorted();
    await world.changeSpec(templateWith("42"));
    await untilBlocked(world, "PodChangePending");
    await world.clock.advance(10 * minuteMs);
    const found = await world.pods();
    assert.deepEqual(found.map((pod) => pod.metadata.uid ?? "").toSorted(), uids);
    assert.equal((await world.events("NeedsPodsDeletion")).length, 1);
    for (const pod of found) {
      await world.client.delete(pods, { namespace: "default", name: nameOf(pod) });
      await world.clock.advance(minuteMs);
    }
    await world.untilReconciled(10 * minuteMs);
    assert.deepEqual([...answers(await world.pods())], ["42"]);
  });
});

test("[T54] with the checker each zone of storage is under maintenance while its pods come back", async () => {
  const spec: Partial<ClusterSpec> = {
    ...small,
    automationOptions: {
      podUpdateStrategy: "Delete",
      maintenanceModeOptions: { UseMaintenanceModeChecker: true },
    },
  };
  await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
    const { processes } = templateWith("42");
    await world.changeSpec({ processes: { storage: processes?.["general"] } });
    await whileServing(world, () => isReconciled(world));
    const announced = acts(world, "deletePods").flatMap((act) => act.maintenance ?? []);
    assert.equal(announced.length, 3);
    assert.equal(new Set(announced.map(({ zone }) => zone)).size, 3);
    assert.equal(acts(world, "resetMaintenanceZone").length, 3);
    assert.deepEqual([...answers(await world.pods("storage"))], ["42"]);
    world.assertDataSafe();
  });
});

test("[T42] pods with an image that does not exist are made anew as soon as it is corrected", async () => {
  await TestWorld.run({}, async (world) => {
    const imageConfigs = [{ tag: "no-such-tag" }];
    await world.createCluster({ ...small, mainContainer: { imageConfigs } });
    await untilBlocked(world, "PodImageUnavailable");
    await world.changeSpec({ mainContainer: null });
    await world.untilReconciled(5 * minuteMs);
    world.assertDataSafe();
  });
});

for (const [image, containerName] of [
  ["unified", "foundationdb"],
  ["split", "foundationdb"],
  ["unified", "foundationdb-kubernetes-sidecar"],
] as const) {
  test(`[T60] a crash loop of ${containerName} is switched on and off, ${image} image`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType: image } }, async (world) => {
      const groups = (await world.cluster()).status?.processGroups ?? [];
      const id = groups.find((group) => group.processClass === "storage")?.processGroupID ?? "";
      const crashLoopContainers = [{ containerName, targets: [id] }];
      await world.changeSpec({ buggify: { crashLoopContainers } });
      const crashes = async (): Promise<boolean> => {
        const pod = (await world.pods()).find((each) => nameOf(each) === `sample-${id}`);
        const container = pod?.spec?.containers.find(({ name }) => name === containerName);
        return container?.args?.[0] === "crash-loop";
      };
      await world.until(crashes, "the pod crashes");
      await world.clock.advance(5 * minuteMs);
      assert.ok(await crashes());
      assert.equal(acts(world, "deletePods").length, 1);
      await world.changeSpec({ buggify: null });
      await world.until(async () => !(await crashes()), "the pod crashes no more");
      await world.untilReconciled(10 * minuteMs);
      world.assertDataSafe();
    });
  });
}

test("[T61] a pod that may find no node waits, and finds one again", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const groups = (await world.cluster()).status?.processGroups ?? [];
    const id = groups.find((group) => group.processClass === "stateless")?.processGroupID ?? "";
    await world.changeSpec({ buggify: { noSchedule: [id] } });
    await untilBlocked(world, "PodUnschedulable");
    await world.changeSpec({ buggify: null });
    await world.untilReconciled(10 * minuteMs);
    assert.equal(acts(world, "deletePods").length, 2);
  });
});

test("[T41] by default the transaction system is replaced and storage made anew in place", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 12 }, async (world) => {
    const before = new Map((await world.pods()).map((pod) => [nameOf(pod), pod.metadata.uid]));
    await world.changeSpec(templateWith("42"));
    await whileServing(world, () => isReconciled(world), 120 * minuteMs);
    const after = await world.pods();
    assert.equal(after.length, 9);
    assert.deepEqual([...answers(after)], ["42"]);
    for (const pod of after) {
      assert.equal(before.has(nameOf(pod)), nameOf(pod).startsWith("sample-storage-"));
      assert.notEqual(before.get(nameOf(pod)), pod.metadata.uid);
    }
    world.assertDataSafe();
  });
});

test("[T41] a database with a single copy serves on while its pods are replaced", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "single" },
    processCounts: { storage: 2, log: 2, stateless: 2 },
  };
  await TestWorld.runWithCluster({ spec, nodes: 12 }, async (world) => {
    await world.changeSpec(templateWith("42"));
    await whileServing(world, () => isReconciled(world), 120 * minuteMs);
    assert.deepEqual([...answers(await world.pods())], ["42"]);
    world.assertDataSafe();
  });
});

test("[S88] the strategy Delete makes the pods of a database with a single copy anew, one fault domain at a time", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "single" },
    processCounts: { storage: 2, log: 2, stateless: 2 },
    routing: { useDNSInClusterFile: true },
    automationOptions: { podUpdateStrategy: "Delete" },
  };
  await TestWorld.runWithCluster({ spec, nodes: 12 }, async (world) => {
    const before = new Set((await world.pods()).map(nameOf));
    await world.changeSpec(templateWith("42"));
    await world.until(() => isReconciled(world), "the pods are made anew", 60 * minuteMs);
    const after = await world.pods();
    assert.deepEqual([...answers(after)], ["42"]);
    assert.ok(
      after.every((pod) => before.has(nameOf(pod))),
      "nobody was replaced",
    );
    const told = await world.events("UpdatingPods");
    assert.ok(told.some(({ type, message }) => type === "Warning" && /away/.test(message ?? "")));
    world.assertDataSafe();
  });
});

test("[S88] on its way from one copy to two a database is not taken away for other pods (long)", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "single" },
    processCounts: { storage: 3, log: 3, stateless: 3 },
    automationOptions: { podUpdateStrategy: "Delete" },
  };
  await TestWorld.runWithCluster({ spec, nodes: 12 }, async (world) => {
    const databaseConfiguration = { redundancy_mode: "double" };
    await world.changeSpec({ ...templateWith("42"), databaseConfiguration });
    await whileServing(world, () => isReconciled(world), 60 * minuteMs);
    assert.deepEqual([...answers(await world.pods())], ["42"]);
    const told = await world.events("UpdatingPods");
    assert.deepEqual(
      told.filter(({ type }) => type === "Warning"),
      [],
    );
    world.assertDataSafe();
  });
});

test("[T49] a maintenance that a person began is respected until it ends", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 9 }, async (world) => {
    const { status } = await world.cluster();
    const storage = (status?.processGroups ?? []).filter(
      (group) => group.processClass === "storage",
    );
    const zone =
      storage
        .map((group) => group.faultDomain ?? "")
        .toSorted()
        .at(-1) ?? "";
    const person = world.world.fdb.admin.open({
      name: "person",
      connectionString: status?.connectionString ?? "",
      version: "7.3.63",
    });
    await world.during(person.setMaintenanceZone(zone, 300, 10_000), minuteMs, "the maintenance");
    person.close();
    // At rest the operator asks for a status every half minute.
    await world.clock.advance(35_000);
    const { processes } = templateWith("42");
    await world.changeSpec({ processes: { storage: processes?.["general"] } });
    await world.clock.advance(4 * minuteMs);
    for (const act of acts(world, "deletePods")) {
      for (const { processGroupId } of act.pods) {
        const group = storage.find((each) => each.processGroupID === processGroupId);
        assert.equal(group?.faultDomain, zone);
      }
    }
    await whileServing(world, () => isReconciled(world));
    assert.deepEqual([...answers(await world.pods("storage"))], ["42"]);
    world.assertDataSafe();
  });
});
