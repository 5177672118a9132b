// What cannot be brought about is told in the words of its cause, breaks nothing else, and comes about when the cause
// is gone. Rules: spec/world.md [W20]-[W29].
import { conditionIn } from "../../src/kube/condition.ts";
import { acts, knobs, recoveries } from "./restart-harness.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { BlockedBy, Condition } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../../src/kube/resource.ts";
import { frugalProcesses, hourMs, minuteMs, small, tiny, TestWorld } from "./world-harness.ts";

async function blocked(world: TestWorld, reason: string): Promise<BlockedBy | undefined> {
  const { status } = await world.cluster();
  return status?.blockedBy?.find((entry) => entry.reason === reason);
}

async function untilBlocked(world: TestWorld, reason: string): Promise<BlockedBy> {
  const isBlocked = async (): Promise<boolean> => (await blocked(world, reason)) !== undefined;
  await world.until(isBlocked, `blocked by ${reason}`);
  const found = await blocked(world, reason);
  assert.ok(found !== undefined);
  return found;
}

async function condition(world: TestWorld, type: string): Promise<Condition | undefined> {
  const { status } = await world.cluster();
  return conditionIn(status, type);
}

test("[W20] pods that no node can hold are told in the scheduler's words, and fit on a new node (long)", async () => {
  const nodeCapacity = { cpu: "250m", memory: "1Gi", pods: "20" };
  await TestWorld.run({ nodes: 3, nodeCapacity }, async (world) => {
    await world.createCluster({ ...small, databaseConfiguration: { redundancy_mode: "single" } });
    const entry = await untilBlocked(world, "PodUnschedulable");
    assert.match(entry.message, /0\/3 nodes are available: 3 Insufficient cpu/);
    assert.match(entry.remedy ?? "", /nodes/);
    assert.equal((await condition(world, "Reconciled"))?.status, "False");
    assert.match((await condition(world, "Reconciled"))?.message ?? "", /Insufficient cpu/);
    await world.world.kubelet.addNode({ name: "large", zone: "zone-1" });
    await world.untilReconciled();
    assert.equal(await blocked(world, "PodUnschedulable"), undefined);
  });
});

test("[W21] an image that does not exist is named, and its correction reaches the pods", async () => {
  await TestWorld.run({}, async (world) => {
    const imageConfigs = [{ tag: "no-such-tag" }];
    await world.createCluster({ ...tiny, mainContainer: { imageConfigs } });
    const entry = await untilBlocked(world, "PodImageUnavailable");
    assert.match(entry.message, /fdb-kubernetes-monitor:no-such-tag/);
    assert.match(entry.message, /cannot be pulled: .*pull/);
    assert.equal((await condition(world, "Reconciled"))?.status, "False");
    for (const pod of await world.pods()) {
      assert.equal(pod.status?.phase, "Pending");
    }
    await world.changeSpec({ mainContainer: null });
    await world.untilReconciled();
    for (const pod of await world.pods()) {
      assert.doesNotMatch(JSON.stringify(pod.spec), /no-such-tag/);
    }
  });
});

test("[W22] an invalid spec is told once, creates nothing, and converges when it is corrected", async () => {
  await TestWorld.run({}, async (world) => {
    const twice = ["knob_max_trace_lines=1", "knob_max_trace_lines=2"];
    await world.createCluster({ ...tiny, processes: { general: { customParameters: twice } } });
    await world.clock.advance(hourMs);
    const reconciled = await condition(world, "Reconciled");
    assert.equal(reconciled?.status, "False");
    assert.match(reconciled?.message ?? "", /spec\.processes\.general\.customParameters/);
    for (const kind of [pods, persistentVolumeClaims, services, configMaps]) {
      assert.deepEqual((await world.client.list(kind, { namespace: "default" })).items, []);
    }
    const events = await world.events("ClusterSpec not valid");
    assert.equal(events.length, 1);
    assert.deepEqual([events[0]?.type, events[0]?.count ?? 1], ["Warning", 1]);
    await world.changeSpec({ processes: { general: { customParameters: twice.slice(1) } } });
    await world.untilReconciled();
    assert.equal((await condition(world, "Reconciled"))?.status, "True");
  });
});

test("[W22] a running cluster whose spec becomes invalid runs on", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const mark = world.requests.length;
    const customParameters = ["datadir=/elsewhere"];
    await world.changeSpec({ processes: { general: { customParameters } } });
    await world.until(
      async () => (await condition(world, "Reconciled"))?.status === "False",
      "the resource says that its spec is invalid",
    );
    assert.equal((await condition(world, "Available"))?.status, "True");
    const writes = new Set(world.writesSince(mark).map((write) => write.split(" ")[1]));
    assert.deepEqual([...writes].sort(), ["events", "foundationdbclusters/status"]);
    await world.changeSpec({ processes: { general: { customParameters: null } } });
    await world.untilReconciled();
    world.assertDataSafe();
  });
});

test("[W23] [E52] spec.skip leaves everything as it is until it is taken away", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await world.changeSpec({ skip: true });
    const [pod] = await world.pods("storage");
    await world.client.delete(pods, { namespace: "default", name: pod?.metadata.name ?? "" });
    const mark = world.requests.length;
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.pods("storage")).length, 0);
    assert.deepEqual(
      world.writesSince(mark).map((write) => write.split(" ")[1]),
      ["foundationdbclusters/status"],
    );
    const isPaused = async (): Promise<boolean> =>
      (await world.cluster()).status?.conditions?.some(({ type }) => type === "Paused") === true;
    assert.equal(await isPaused(), true);
    await world.changeSpec({ skip: false });
    await world.untilReconciled();
    assert.equal((await world.pods("storage")).length, 1);
    assert.equal(await isPaused(), false);
    world.assertDataSafe();
  });
});

test("[W24] a class grows without a change to what runs", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = new Map(
      (await world.pods()).map((pod) => [pod.metadata.uid, pod.metadata.name]),
    );
    await world.changeSpec({ processCounts: { storage: 6 } });
    await world.untilReconciled();
    const after = await world.pods();
    assert.equal(after.length, 12);
    assert.equal(after.filter((pod) => before.has(pod.metadata.uid)).length, 9);
    assert.equal((await world.pods("storage")).length, 6);
    world.assertDataSafe();
  });
});

test("[W25] a smaller count removes the surplus and nothing else", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = new Set((await world.pods()).map((pod) => pod.metadata.uid));
    await world.changeSpec({ processCounts: { stateless: 2 } });
    await world.until(async () => (await world.pods()).length === 8, "one pod less");
    await world.untilReconciled();
    const after = await world.pods();
    assert.equal(after.length, 8);
    assert.ok(after.every((pod) => before.has(pod.metadata.uid)));
    assert.equal((await world.pods("stateless")).length, 2);
    world.assertDataSafe();
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[W26] a changed knob reaches every process by one restart in place (${imageType} image) (long)`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
      const uids = (await world.pods()).map((pod) => pod.metadata.uid).sort();
      const before = recoveries(world);
      await world.changeSpec(knobs("knob_max_trace_lines=5"));
      const entry = await untilBlocked(world, "RestartHeld");
      assert.match(entry.message, /600 seconds since the last recovery/);
      const { items } = await world.client.list(configMaps, { namespace: "default" });
      const texts = items.flatMap(({ data }) => Object.values(data ?? {})).join();
      assert.match(texts, /knob_max_trace_lines/);
      assert.equal(recoveries(world), before);
      await world.untilReconciled(20 * minuteMs);
      assert.equal(recoveries(world), before + 1);
      const restarted = acts(world, "killProcesses").flatMap((kill) => kill.processGroupIds);
      assert.deepEqual([restarted.length, new Set(restarted).size], [9, 9], "everybody once");
      assert.equal((await condition(world, "Available"))?.status, "True");
      assert.deepEqual((await world.pods()).map((pod) => pod.metadata.uid).sort(), uids);
      world.assertDataSafe();
    });
  });
}

test("[W27] a changed configuration reaches the database in one command", async () => {
  await TestWorld.runWithCluster(
    { spec: { ...small, processCounts: { log: 6 } } },
    async (world) => {
      const mark = world.activities.length;
      await world.changeSpec({ databaseConfiguration: { logs: 4 } });
      await world.untilReconciled();
      const commands = world.activities
        .slice(mark)
        .filter(
          (activity) => activity.type === "action" && activity.action.type === "configureDatabase",
        );
      assert.equal(commands.length, 1);
      const { status } = await world.cluster();
      assert.equal(status?.databaseConfiguration?.logs, 4);
      world.assertDataSafe();
    },
  );
});

test("[W28] a restore without its cluster says so, once", async () => {
  await TestWorld.run({}, async (world) => {
    const metadata = { namespace: "default", name: "daily" };
    const apiVersion = "apps.foundationdb.org/v1beta2";
    await world.client.create(foundationDbRestores, {
      ...{ apiVersion, kind: "FoundationDBRestore", metadata },
      spec: {
        destinationClusterName: "sample",
        blobStoreConfiguration: { accountName: "a@b", backupName: "daily" },
      },
    });
    await world.clock.advance(hourMs);
    const { status } = await world.client.get(foundationDbRestores, metadata);
    const reasons = status?.conditions?.map(({ reason }) => reason) ?? [];
    assert.ok(reasons.includes("BackupClusterMissing"), JSON.stringify(status));
    const events = await world.events("BackupClusterMissing");
    assert.deepEqual(
      events.map((event) => [event.type, event.involvedObject.kind, event.count ?? 1]).sort(),
      [["Warning", "FoundationDBRestore", 1]],
    );
  });
});

test("[W29] a deleted cluster takes its objects with it, and no other's", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster(tiny, { name: "going" });
    await world.createCluster(tiny, { name: "staying" });
    for (const name of ["going", "staying"]) await world.untilReconciled(2 * minuteMs, { name });
    await world.client.delete(foundationDbClusters, { namespace: "default", name: "going" });
    await world.clock.advance(5 * minuteMs);
    for (const kind of [pods, persistentVolumeClaims, services, configMaps]) {
      const { items } = await world.client.list(kind, { namespace: "default" });
      assert.ok(items.length > 0);
      for (const { metadata } of items) assert.match(metadata.name ?? "", /^staying/);
    }
    await world.untilReconciled(minuteMs, { name: "staying" });
  });
});

test("[API34] a spec that is worth a warning gets it once, and the cluster comes up", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster({ processes: { ...frugalProcesses, stroage: {} } });
    await world.untilReconciled();
    const events = await world.events("SpecWarning");
    assert.deepEqual(
      events.map(({ type, message, count }) => [type, message?.split(":")[0], count ?? 1]),
      [["Warning", "spec.processes.stroage", 1]],
    );
  });
});
