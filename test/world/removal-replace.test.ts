// Process groups that are replaced in a whole world: by hand, by failure, by a change that no restart can make.
// Rules: spec/removal.md [R92]-[R96].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { nodes, persistentVolumeClaims } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import {
  assertAllCopies,
  assertNothingExcluded,
  commandsOf,
  excluded,
  groups,
  person,
  recoveries,
  spreadOver,
  untilSettled,
} from "./removal-harness.ts";
import { frugalProcesses, hourMs, minuteMs, TestWorld } from "./world-harness.ts";

const counts = { storage: 3, log: 3, stateless: 3 };

async function firstId(world: TestWorld, processClass: string): Promise<string> {
  const [group] = await groups(world, processClass);
  assert.ok(group !== undefined);
  return group.processGroupID;
}

async function assertReplaced(world: TestWorld, gone: readonly string[], size = 9): Promise<void> {
  await untilSettled(world);
  const ids = (await groups(world)).map((group) => group.processGroupID);
  assert.deepEqual(
    ids.filter((id) => gone.includes(id)),
    [],
  );
  assert.equal(ids.length, size);
  assert.equal((await world.pods()).length, size);
  await assertNothingExcluded(world);
  await assertAllCopies(world);
}

for (const processClass of ["storage", "log", "stateless"]) {
  test(`[R92] a ${processClass} process group is replaced by hand`, async () => {
    await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
      await world.clock.advance(2 * minuteMs);
      const id = await firstId(world, processClass);
      await world.changeSpec({ processGroupsToRemove: [id] });
      await assertReplaced(world, [id]);
      assert.equal(commandsOf(world, "excludeProcesses").length, 1);
    });
  });
}

for (const useLocalitiesForExclusion of [true, false]) {
  const how = useLocalitiesForExclusion ? "locality" : "address";
  test(`[R92] a coordinator is replaced by ${how} with one exclusion and others in its place`, async () => {
    const automationOptions = { useLocalitiesForExclusion };
    await TestWorld.runWithCluster(spreadOver(counts, { automationOptions }), async (world) => {
      await world.clock.advance(2 * minuteMs);
      const { status } = await world.cluster();
      const before = coordinatorsOf(status?.connectionString ?? "");
      const [name = ""] = (before[0] ?? "").split(".");
      const id = name.replace("sample-", "");
      await world.changeSpec({ processGroupsToRemove: [id] });
      await assertReplaced(world, [id]);
      const after = coordinatorsOf((await world.cluster()).status?.connectionString ?? "");
      assert.equal(after.length, 3);
      assert.ok(after.every((address) => !address.startsWith(`${name}.`)));
      assert.equal(commandsOf(world, "excludeProcesses").length, 1);
    });
  });
}

test("[R92] several process groups of all classes at once", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    await world.clock.advance(2 * minuteMs);
    const before = recoveries(world);
    const ids = [
      await firstId(world, "storage"),
      await firstId(world, "log"),
      await firstId(world, "stateless"),
    ];
    await world.changeSpec({ processGroupsToRemove: ids });
    await assertReplaced(world, ids);
    // New processes that suit a role better, and the exclusion with its coordinators.
    assert.ok(recoveries(world) - before <= 3, `${recoveries(world) - before} recoveries`);
  });
});

test("[R93] removal without exclusion: gone at once, and the database heals", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    const id = await firstId(world, "storage");
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
    await assertReplaced(world, [id]);
    assert.equal(commandsOf(world, "excludeProcesses").length, 0);
    const [event] = await world.events("RemovingProcesses");
    assert.equal(event?.type, "Warning");
    assert.match(event?.message ?? "", new RegExp(`not excluded before: ${id}`));
  });
});

test("[R94] the process groups of a dead node are replaced after the time of detection", async () => {
  const replacements = { failureDetectionTimeSeconds: 600, maxConcurrentReplacements: 3 };
  const options = spreadOver(counts, { automationOptions: { replacements } });
  await TestWorld.runWithCluster({ ...options, nodes: 12 }, async (world) => {
    const [pod] = await world.pods("storage");
    const node = pod?.spec?.nodeName ?? "";
    const lost = (await world.pods())
      .filter((each) => each.spec?.nodeName === node)
      .map((each) => each.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "");
    await world.world.kubelet.stopNode(node);
    await world.clock.advance(9 * minuteMs);
    const marked = (await groups(world)).filter((group) => group.removalTimestamp !== undefined);
    assert.deepEqual(marked, [], "nobody is given up early");
    // A pod of a dead node stays until somebody says that the node is gone; the cluster is whole without it.
    await world.untilReconciled(hourMs);
    const { status } = await world.cluster();
    assert.equal(status?.reconciledProcessGroups, 9);
    assert.equal(status?.generations?.hasPendingRemoval, 1);
    await assertAllCopies(world);
    await world.world.kubelet.removeNode(node);
    await untilSettled(world);
    const ids = (await groups(world)).map((group) => group.processGroupID);
    assert.ok(lost.every((id) => !ids.includes(id)));
    assert.equal((await groups(world)).length, 9);
    await assertNothingExcluded(world);
    await assertAllCopies(world);
  });
});

test("[R95] a node that stays tainted is emptied", async () => {
  const replacements = {
    taintReplacementTimeSeconds: 60,
    taintReplacementOptions: [{ key: "example.org/bad", durationInSeconds: 30 }],
  };
  const options = spreadOver(counts, { automationOptions: { replacements } });
  await TestWorld.runWithCluster({ ...options, nodes: 12 }, async (world) => {
    const [pod] = await world.pods("storage");
    const node = pod?.spec?.nodeName ?? "";
    const onNode = async (): Promise<number> =>
      (await world.pods()).filter((each) => each.spec?.nodeName === node).length;
    const taints = [{ key: "example.org/bad", effect: "NoSchedule" }];
    await world.client.patch(nodes, { name: node }, { spec: { taints } }, { type: "merge" });
    await world.until(async () => (await onNode()) === 0, "the node is empty", hourMs);
    await untilSettled(world);
    assert.equal((await groups(world)).length, 9);
    await assertNothingExcluded(world);
    await assertAllCopies(world);
  });
});

test("[R96] a new prefix replaces everything", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    await world.clock.advance(2 * minuteMs);
    const before = recoveries(world);
    const ids = (await groups(world)).map((group) => group.processGroupID);
    await world.changeSpec({ processGroupIDPrefix: "dc1" });
    await assertReplaced(world, ids);
    assert.ok((await groups(world)).every((group) => group.processGroupID.startsWith("dc1-")));
    assert.ok(recoveries(world) - before <= 4, `${recoveries(world) - before} recoveries`);
  });
});

test("[R96] other volumes for storage replace the storage process groups, where people want that", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    const ids = (await groups(world, "storage")).map((group) => group.processGroupID);
    const resources = { requests: { storage: "32Gi" } };
    const volumeClaimTemplate = { spec: { resources } };
    const processes = { ...frugalProcesses, storage: { volumeClaimTemplate } };
    await world.changeSpec({ processes, automationOptions: { volumeSizeChange: "Replace" } });
    await assertReplaced(world, ids);
    const claims = await world.client.list(persistentVolumeClaims, { namespace: "default" });
    const sizes = claims.items.map((claim) => claim.spec?.resources?.requests?.["storage"]);
    assert.equal(sizes.filter((size) => size === "32Gi").length, 3);
  });
});

test("[R96] a changed template of logs and stateless processes replaces them with one exclusion", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    await world.clock.advance(2 * minuteMs);
    const before = recoveries(world);
    const changed = [...(await groups(world, "log")), ...(await groups(world, "stateless"))];
    const podTemplate = {
      metadata: {},
      spec: {
        ...frugalProcesses?.["general"]?.podTemplate?.spec,
        terminationGracePeriodSeconds: 7,
      },
    };
    const processes = { ...frugalProcesses, log: { podTemplate }, stateless: { podTemplate } };
    await world.changeSpec({ processes });
    await assertReplaced(
      world,
      changed.map((group) => group.processGroupID),
    );
    assert.equal(commandsOf(world, "excludeProcesses").length, 1);
    assert.ok(recoveries(world) - before <= 4, `${recoveries(world) - before} recoveries`);
  });
});

test("[R34] what a person excludes stays excluded while another process group goes", async () => {
  await TestWorld.runWithCluster(spreadOver({ ...counts, storage: 5 }), async (world) => {
    const [first, second] = await groups(world, "storage");
    const mine = `locality_instance_id:${first?.processGroupID}`;
    await person(world, (client) => client.exclude([mine], { wait: false, timeoutMs: 10_000 }));
    await world.changeSpec({ processGroupsToRemove: [second?.processGroupID ?? ""] });
    await world.until(
      async () => (await groups(world)).every((group) => group.removalTimestamp === undefined),
      "the other one is gone",
      15 * minuteMs,
    );
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(await excluded(world), [mine]);
    await assertAllCopies(world);
  });
});

test("[R33] a process group that a person includes while it is on its way out is excluded again", async () => {
  await TestWorld.runWithCluster(spreadOver({ ...counts, storage: 5 }), async (world) => {
    const id = await firstId(world, "storage");
    await world.changeSpec({ processGroupsToRemove: [id], buggify: { blockRemoval: [id] } });
    const isProven = async (): Promise<boolean> =>
      (await groups(world)).find((group) => group.processGroupID === id)?.exclusionTimestamp !==
      undefined;
    await world.until(isProven, "it is proven to be empty");
    const target = `locality_instance_id:${id}`;
    await person(world, (client) => client.include([target], 10_000));
    await world.until(async () => commandsOf(world, "excludeProcesses").length === 2, "again");
    assert.deepEqual(await excluded(world), [target]);
    await world.until(isProven, "it is proven to be empty again");
    await world.changeSpec({ buggify: null });
    await assertReplaced(world, [id], 11);
  });
});
