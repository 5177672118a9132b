// Accidents and bad neighbours: two operators at once, names that are taken, missing permissions, a power cut. Nothing
// of it may lose data or keep an innocent cluster from working. Rules: spec/world.md [W80]-[W90].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { BlockedBy, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { AdminClientFactory } from "../../src/fdb/admin.ts";
import { FdbError, fdbCommandFailed } from "../../src/fdb/error.ts";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  storageClasses,
} from "../../src/kube/resource.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "../../src/kube/transport.ts";
import { withAdmin } from "./upgrade-harness.ts";
import { hourMs, minuteMs, small, tiny, TestWorld } from "./world-harness.ts";

const namespace = "default";

async function untilBlocked(world: TestWorld, reason: string): Promise<BlockedBy> {
  let found: BlockedBy | undefined;
  await world.until(async () => {
    const { status } = await world.cluster();
    found = status?.blockedBy?.find((entry) => entry.reason === reason);
    return found !== undefined;
  }, `blocked by ${reason}`);
  assert.ok(found !== undefined);
  return found;
}

/** The API server refuses some requests of the operator. */
function refusing(isRefused: (request: KubeRequest) => boolean) {
  return (transport: KubeTransport): KubeTransport => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    async request(request): Promise<KubeResponse> {
      if (!isRefused(request)) return transport.request(request);
      const message = "user fdb-operator cannot do this here";
      const head = { apiVersion: "v1", kind: "Status", status: "Failure" };
      const body = { ...head, reason: "Forbidden", message, code: 403 };
      return { status: 403, body };
    },
  });
}

test("[W80] two operators at once make one cluster, not two", async () => {
  await TestWorld.run({}, async (world) => {
    world.world.startOperator();
    await world.createCluster(small);
    await world.untilReconciled();
    await world.clock.advance(5 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.processGroups?.length, 9);
    assert.equal((await world.pods()).length, 9);
    world.assertDataSafe();
    const mark = world.requests.length;
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(world.writesSince(mark), []);
  });
});

test("[W81] a cluster that is deleted and made again at once comes up as a new one", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = await world.cluster();
    await world.client.delete(foundationDbClusters, { namespace, name: "sample" });
    await world.createCluster(small);
    await world.untilReconciled(10 * minuteMs);
    const after = await world.cluster();
    assert.notEqual(after.metadata.uid, before.metadata.uid);
    assert.equal((await world.pods()).length, 9);
    for (const pod of await world.pods()) {
      assert.equal(pod.metadata.ownerReferences?.[0]?.uid, after.metadata.uid);
    }
  });
});

test("[W82] objects that a deleted resource left behind are taken up by its successor with their data", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = await world.cluster();
    const key = { namespace, name: "sample" };
    await world.client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
    await world.clock.advance(5_000);
    assert.equal((await world.pods()).length, 9);
    await world.createCluster(small);
    await world.untilReconciled(10 * minuteMs);
    const after = await world.cluster();
    assert.equal(after.status?.connectionString, before.status?.connectionString);
    const ids = (cluster: typeof before) =>
      cluster.status?.processGroups?.map((group) => group.processGroupID);
    assert.deepEqual(ids(after), ids(before));
    world.assertDataSafe();
  });
});

async function conditionOf(world: TestWorld, type: string) {
  return conditionIn((await world.cluster()).status, type);
}

test("[P85] [W83] a ConfigMap of somebody else under our name is left alone and named", async () => {
  await TestWorld.run({}, async (world) => {
    const data = { precious: "data" };
    const metadata = { namespace, name: "sample-config" };
    await world.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
    await world.createCluster(tiny);
    const entry = await untilBlocked(world, "ActionFailed");
    assert.match(entry.message, /sample-config/);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await conditionOf(world, "Reconciled"))?.reason, "ActionFailed", "[P85]");
    assert.deepEqual((await world.client.get(configMaps, metadata)).data, data);
    await world.client.delete(configMaps, metadata);
    await world.untilReconciled();
  });
});

test("[W84] a refused write is told in the server's words and repeated until it is allowed", async () => {
  let isRefused = true;
  const wrapTransport = refusing(
    ({ method, path }) => isRefused && method === "POST" && path.endsWith("/pods"),
  );
  await TestWorld.run({ wrapTransport }, async (world) => {
    await world.createCluster(tiny);
    const entry = await untilBlocked(world, "ActionFailed");
    assert.match(entry.message, /create pod sample-.*user fdb-operator cannot do this here/);
    const mark = world.requests.length;
    await world.clock.advance(hourMs);
    const writes = world.writesSince(mark).length;
    assert.ok(writes <= 3 * 70, `${writes} writes in an hour`);
    isRefused = false;
    await world.untilReconciled();
  });
});

test("[W85] an operator that may not write events works all the same", async () => {
  const wrapTransport = refusing(({ path }) => path.includes("/events"));
  await TestWorld.run({ wrapTransport }, async (world) => {
    await world.createCluster(tiny);
    await world.untilReconciled();
  });
});

test("[W86] without a storage class the volumes are named as the cause", async () => {
  await TestWorld.run({}, async (world) => {
    await world.client.delete(storageClasses, { name: "standard" });
    await world.createCluster(tiny);
    await world.until(async () => {
      const { status } = await world.cluster();
      const reasons = status?.blockedBy?.map(({ reason }) => reason) ?? [];
      return reasons.includes("VolumePending") || reasons.includes("PodUnschedulable");
    }, "the volume is named");
    const { status } = await world.cluster();
    assert.match(JSON.stringify(status?.blockedBy), /olume/);
  });
});

test("[W87] a power cut of all nodes is reported and survived with all data (long)", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const names = world.world.kubelet.nodeNames();
    for (const name of names) await world.world.kubelet.stopNode(name);
    await world.until(async () => {
      const { status } = await world.cluster();
      return conditionIn(status, "Available")?.status !== "True";
    }, "the cluster is not available");
    await world.clock.advance(hourMs);
    for (const name of names) await world.world.kubelet.startNode(name);
    await world.clock.advance(minuteMs);
    await world.untilReconciled(15 * minuteMs);
    assert.equal((await world.pods()).length, 9);
    world.assertDataSafe();
  });
});

test("[W88] waiting costs next to nothing: a cluster that cannot come up causes few writes (long)", async () => {
  const nodeCapacity = { cpu: "100m", memory: "1Gi", pods: "20" };
  await TestWorld.run({ nodes: 3, nodeCapacity }, async (world) => {
    await world.createCluster(small);
    await untilBlocked(world, "PodUnschedulable");
    await world.clock.advance(10 * minuteMs);
    const mark = world.requests.length;
    await world.clock.advance(hourMs);
    const writes = world.writesSince(mark);
    // The time of the next look is renewed now and then, so that a reader sees that somebody is there.
    assert.ok(writes.length <= 3, writes.join("\n"));
  });
});

test("[W89] a locked database is reported, and the report goes with the lock", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const degraded = async (): Promise<string | undefined> => {
      const { status } = await world.cluster();
      return conditionIn(status, "Degraded")?.reason;
    };
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    world.world.fdb.lock(connectionString);
    await world.until(async () => (await degraded()) === "DatabaseLocked", "the lock is told");
    world.world.fdb.unlock(connectionString);
    await world.until(async () => (await degraded()) === "Healthy", "the report is gone");
    assert.equal((await world.client.list(persistentVolumeClaims, { namespace })).items.length, 2);
    assert.equal((await world.client.list(pods, { namespace })).items.length, 3);
  });
});

test("[W90] a command that the database refuses is told in its words and repeated with growing pauses (long)", async () => {
  let refused = 0;
  const refusal = "ERROR: this cannot be done now";
  const wrapAdmin = (admin: AdminClientFactory): AdminClientFactory => ({
    ...admin,
    open(options) {
      const client = admin.open(options);
      return {
        ...client,
        async configure(text, timeoutMs) {
          if (text.startsWith("new ")) return client.configure(text, timeoutMs);
          refused += 1;
          throw new FdbError(fdbCommandFailed, refusal);
        },
      };
    },
  });
  await TestWorld.runWithCluster({ spec: small, wrapAdmin }, async (world) => {
    await world.changeSpec({ databaseConfiguration: { resolvers: 2 } });
    const entry = await untilBlocked(world, "ActionFailed");
    assert.ok(entry.message.includes(refusal), entry.message);
    await world.clock.advance(hourMs);
    assert.ok(refused >= 10 && refused <= 75, `${refused} commands in an hour`);
    assert.notEqual((await world.cluster()).status?.blockedBy, undefined);
  });
});

test("[W93] ten clusters come up side by side in hardly more time than one (long)", async () => {
  const creation = async (count: number): Promise<number> => {
    let tookMs = 0;
    await TestWorld.run({ nodes: 12, seed: 4 }, async (world) => {
      const startedMs = world.clock.nowMs();
      const names = Array.from({ length: count }, (_, index) => `cluster-${index}`);
      for (const name of names) await world.createCluster(tiny, { name });
      for (const name of names) await world.untilReconciled(5 * minuteMs, { name });
      tookMs = world.clock.nowMs() - startedMs;
      world.assertDataSafe(count);
    });
    return tookMs;
  };
  const one = await creation(1);
  const ten = await creation(10);
  assert.ok(ten <= one + 10_000, `one: ${one} ms, ten: ${ten} ms`);
});

test("[W93] a cluster whose database does not answer does not hold up another", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster(tiny, { name: "lost" });
    await world.untilReconciled(5 * minuteMs, { name: "lost" });
    for (const pod of await world.pods()) {
      world.world.network.cut(pod.status?.podIP ?? "");
      world.world.fdb.faults.cutAddress(pod.status?.podIP ?? "");
    }
    await world.clock.advance(minuteMs);
    await world.createCluster(tiny);
    const tookMs = await world.untilReconciled();
    assert.ok(tookMs <= 40_000, `${tookMs} ms`);
    const { status } = await world.cluster({ name: "lost" });
    const available = conditionIn(status, "Available");
    assert.notEqual(available?.status, "True");
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[W94] [P92] a lost connection string is asked for, not made up (${imageType} image)`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
      const before = await world.cluster();
      const connectionString = before.status?.connectionString ?? "";
      await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
      await world.client.updateStatus(foundationDbClusters, { ...before, status: {} });
      await world.client.delete(configMaps, { namespace, name: "sample-config" });
      world.world.startOperator();
      const entry = await untilBlocked(world, "ConnectionStringLost");
      assert.match(entry.remedy ?? "", /seedConnectionString/);
      await world.clock.advance(10 * minuteMs);
      for (const type of ["Available", "Degraded"]) {
        const condition = await conditionOf(world, type);
        assert.equal(condition?.status, "Unknown");
        assert.match(condition?.message ?? "", /its connection string is lost/);
      }
      assert.equal((await world.cluster()).status?.connectionString, undefined);
      world.assertDataSafe();
      await world.changeSpec({ seedConnectionString: connectionString });
      await world.untilReconciled();
      assert.equal((await world.cluster()).status?.connectionString, connectionString);
      assert.equal((await world.pods()).length, 9);
      world.assertDataSafe();
    });
  });
}

test("[P107] what is lost stays lost when the spec is refused meanwhile and another operator takes over", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = await world.cluster();
    const connectionString = before.status?.connectionString ?? "";
    const stopped = (): Promise<void> =>
      world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    await stopped();
    await world.client.updateStatus(foundationDbClusters, { ...before, status: {} });
    await world.client.delete(configMaps, { namespace, name: "sample-config" });
    world.world.startOperator();
    await untilBlocked(world, "ConnectionStringLost");
    const customParameters = ["knob_a=1", "knob_a=2"];
    await world.changeSpec({ processes: { general: { customParameters } } });
    await untilBlocked(world, "InvalidSpec");
    await stopped();
    await world.changeSpec({ processes: null });
    world.world.startOperator();
    await world.clock.advance(10 * minuteMs);
    await untilBlocked(world, "ConnectionStringLost");
    assert.equal((await world.cluster()).status?.connectionString, undefined);
    world.assertDataSafe();
    await world.changeSpec({ seedConnectionString: connectionString });
    await world.untilReconciled();
    world.assertDataSafe();
  });
});

test("[P92] a status that is wiped before coordinators were chosen is no loss", async () => {
  const nodeCapacity = { cpu: "10m", memory: "1Gi", pods: "20" };
  await TestWorld.run({ nodes: 3, nodeCapacity }, async (world) => {
    await world.createCluster(tiny);
    await untilBlocked(world, "PodUnschedulable");
    const before = await world.cluster();
    await world.client.updateStatus(foundationDbClusters, { ...before, status: {} });
    await world.clock.advance(minuteMs);
    await world.world.kubelet.addNode({ name: "large", zone: "zone-1" });
    await world.untilReconciled();
    assert.equal((await world.pods()).length, 3);
  });
});

test("[W95] a pod deleted and an exclusion taken back by hand in the middle of a removal do not stop it", async () => {
  const spec = { ...small, processCounts: { storage: 5, log: 4, stateless: 3 } };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const [pod] = await world.pods("storage");
    const id = pod?.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    const groupOf = async (): Promise<ProcessGroupStatus | undefined> =>
      (await world.cluster()).status?.processGroups?.find((one) => one.processGroupID === id);
    await world.changeSpec({ processGroupsToRemove: [id], buggify: { blockRemoval: [id] } });
    await world.until(
      async () => (await groupOf())?.exclusionTimestamp !== undefined,
      "the process is proven to hold nothing",
    );
    await world.client.delete(pods, { namespace, name: pod?.metadata.name ?? "" });
    await withAdmin(world, "7.3.63", (admin) => admin.include(["all"], 10_000));
    await world.clock.advance(minuteMs);
    await world.changeSpec({ buggify: null });
    await world.until(
      async () => (await groupOf()) === undefined,
      "the process group is gone",
      20 * minuteMs,
    );
    world.assertDataSafe();
  });
});
