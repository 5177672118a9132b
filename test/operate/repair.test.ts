// What the operator puts right, and what it leaves alone.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import {
  configMaps,
  events,
  persistentVolumeClaims,
  pods,
  services,
} from "../../src/kube/resource.ts";
import { FullWorld } from "./full-world.ts";
import type { FullWorldOptions, RunningOperator } from "./full-world.ts";

async function reconciled(
  options: FullWorldOptions = {},
): Promise<{ world: FullWorld; running: RunningOperator }> {
  const world = await FullWorld.open({ seed: 11, ...options });
  const running = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(60_000);
  await world.clock.advance(60_000);
  return { world, running };
}

async function aPod(
  world: FullWorld,
  processClass: string,
): Promise<{ name: string; uid: string }> {
  const labelSelector = `foundationdb.org/fdb-process-class=${processClass}`;
  const { items } = await world.client.list(pods, { namespace: "default", labelSelector });
  const { name = "", uid = "" } = items[0]?.metadata ?? {};
  return { name, uid };
}

test("[OP36] a deleted pod comes back with its volume, and nothing else is touched", async () => {
  const { world, running } = await reconciled();
  const { name, uid } = await aPod(world, "storage");
  const before = world.counted();
  await world.client.delete(pods, { namespace: "default", name });
  await world.clock.advance(60_000);
  await world.untilReconciled(120_000);
  const pod = await world.client.get(pods, { namespace: "default", name });
  assert.notEqual(pod.metadata.uid, uid);
  const after = world.counted();
  assert.equal((after["create pods"] ?? 0) - (before["create pods"] ?? 0), 1);
  assert.equal(after["create persistentvolumeclaims"], before["create persistentvolumeclaims"]);
  assert.equal(after["delete pods"], undefined);
  await running.stop();
  world.close();
});

test("[OP36] edited labels and removed annotations of a pod are put back in one patch", async () => {
  const { world, running } = await reconciled();
  const { name } = await aPod(world, "log");
  const key = { namespace: "default", name };
  const original = await world.client.get(pods, key);
  const metadata = {
    labels: { "foundationdb.org/fdb-process-class": "wrong", extra: "kept" },
    annotations: { "foundationdb.org/current-node": null },
  };
  const before = world.counted();
  await world.client.patch(pods, key, { metadata }, { type: "merge" });
  await world.clock.advance(5_000);
  const pod = await world.client.get(pods, key);
  assert.deepEqual(pod.metadata.labels, { ...original.metadata.labels, extra: "kept" });
  assert.deepEqual(pod.metadata.annotations, original.metadata.annotations);
  assert.equal((world.counted()["patch pods"] ?? 0) - (before["patch pods"] ?? 0), 1);
  await running.stop();
  world.close();
});

test("[OP6] a pod whose cluster label was changed is found by its owner and repaired", async () => {
  const { world, running } = await reconciled();
  const { name, uid } = await aPod(world, "stateless");
  const key = { namespace: "default", name };
  const metadata = { labels: { "foundationdb.org/fdb-cluster-name": "other" } };
  await world.client.patch(pods, key, { metadata }, { type: "merge" });
  await world.clock.advance(5_000);
  const pod = await world.client.get(pods, key);
  assert.equal(pod.metadata.uid, uid);
  assert.equal(pod.metadata.labels?.["foundationdb.org/fdb-cluster-name"], "sample");
  await running.stop();
  world.close();
});

test("[P51] a changed or deleted ConfigMap and a deleted service come back", async () => {
  const { world, running } = await reconciled();
  const key = { namespace: "default", name: "sample-config" };
  const original = await world.client.get(configMaps, key);
  await world.client.patch(
    configMaps,
    key,
    { data: { "cluster-file": "x", more: "y" } },
    { type: "merge" },
  );
  await world.clock.advance(2_000);
  assert.deepEqual((await world.client.get(configMaps, key)).data, original.data);
  await world.client.delete(configMaps, key);
  await world.client.delete(services, { namespace: "default", name: "sample" });
  await world.clock.advance(5_000);
  assert.deepEqual((await world.client.get(configMaps, key)).data, original.data);
  await world.client.get(services, { namespace: "default", name: "sample" });
  await running.stop();
  world.close();
});

test("[P63] an edited label of a volume claim is put back", async () => {
  const { world, running } = await reconciled();
  const { name } = await aPod(world, "storage");
  const key = { namespace: "default", name: `${name}-data` };
  const metadata = { labels: { "foundationdb.org/fdb-process-group-id": "x" } };
  await world.client.patch(persistentVolumeClaims, key, { metadata }, { type: "merge" });
  await world.clock.advance(5_000);
  const claim = await world.client.get(persistentVolumeClaims, key);
  assert.match(claim.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "", /^storage-/);
  await running.stop();
  world.close();
});

test("[P53] an evicted pod is deleted after half a minute and made anew", async () => {
  const { world, running } = await reconciled();
  const { name, uid } = await aPod(world, "stateless");
  world.kubelet.evictPod("default", name, "the node was low on memory");
  await world.clock.advance(120_000);
  await world.untilReconciled(60_000);
  const pod = await world.client.get(pods, { namespace: "default", name });
  assert.notEqual(pod.metadata.uid, uid);
  await running.stop();
  world.close();
});

test("[P40] more process groups are added and join the database", async () => {
  const { world, running } = await reconciled();
  await world.changeSpec({ processCounts: { storage: 5 } });
  await world.untilReconciled(120_000);
  const { status } = await world.cluster();
  const storage = status?.processGroups?.filter((group) => group.processClass === "storage");
  assert.equal(storage?.length, 5);
  await running.stop();
  world.close();
});

test("[P69] a changed database configuration is set once the database is calm", async () => {
  const { world, running } = await reconciled({ nodes: 8 });
  await world.changeSpec({ databaseConfiguration: { logs: 4, storage_engine: "ssd-2" } });
  await world.untilReconciled(240_000);
  const { status } = await world.cluster();
  assert.equal(status?.databaseConfiguration?.logs, 4);
  const commands = world.activities.flatMap((activity) =>
    activity.type === "action" && activity.action.type === "configureDatabase"
      ? [activity.action.isNew]
      : [],
  );
  assert.deepEqual(commands, [true, false]);
  await running.stop();
  world.close();
});

test("[OP38] a cluster with skip is left alone", async () => {
  const world = await FullWorld.open({ seed: 12, spec: { skip: true } });
  const running = world.startOperator();
  await world.createCluster();
  await world.clock.advance(60_000);
  assert.deepEqual(world.counted(), { "update foundationdbclusters/status": 1 });
  await world.changeSpec({ skip: false });
  await world.untilReconciled(60_000);
  await running.stop();
  world.close();
});

test("[OP40] an invalid spec is reported once for each generation and nothing is created", async () => {
  const world = await FullWorld.open({ seed: 13 });
  const running = world.startOperator();
  const customParameters = ["knob_a=1", "knob_a=2"];
  await world.createCluster("sample", { processes: { general: { customParameters } } });
  await world.clock.advance(60_000);
  const { status } = await world.cluster();
  const condition = conditionIn(status, "Reconciled");
  assert.equal(condition?.status, "False");
  assert.equal(condition?.reason, "InvalidSpec");
  assert.equal(status?.blockedBy?.[0]?.reason, "InvalidSpec");
  assert.match(status?.blockedBy?.[0]?.object ?? "", /^spec\.processes/);
  assert.deepEqual(world.counted(), {
    "update foundationdbclusters/status": 1,
    "create events": 1,
  });
  const [event] = (await world.client.list(events, { namespace: "default" })).items;
  assert.equal(event?.type, "Warning");
  assert.equal(event?.reason, "ClusterSpec not valid");
  await world.changeSpec({ processes: { general: { customParameters: ["knob_a=1"] } } });
  await world.untilReconciled(60_000);
  const after = await world.cluster();
  assert.equal(after.status?.blockedBy, undefined);
  await running.stop();
  world.close();
});

test("[OP4] a cluster in another namespace is not looked at", async () => {
  const world = await FullWorld.open({ seed: 14, operator: { namespace: "elsewhere" } });
  const running = world.startOperator();
  await world.createCluster();
  await world.clock.advance(30_000);
  assert.deepEqual(world.counted(), {});
  await running.stop();
  world.close();
});

test("[OP47] the objects of a deleted cluster go with it, and the operator forgets it", async () => {
  const { world, running } = await reconciled();
  await world.client.delete(foundationDbClusters, { namespace: "default", name: "sample" });
  await world.clock.advance(120_000);
  const left = await world.client.list(pods, { namespace: "default" });
  assert.equal(left.items.length, 0);
  assert.equal(world.activities.at(-1)?.type, "gone");
  assert.equal(running.operator.counters().passesFailed, 0);
  await running.stop();
  world.close();
});

test("[OP47] a cluster made anew under an old name starts from nothing", async () => {
  const { world, running } = await reconciled();
  const before = await world.cluster();
  await world.client.delete(foundationDbClusters, { namespace: "default", name: "sample" });
  await world.createCluster();
  await world.clock.advance(60_000);
  await world.untilReconciled(120_000);
  const after = await world.cluster();
  assert.notEqual(after.status?.connectionString, before.status?.connectionString);
  await running.stop();
  world.close();
});

test("[OP37] a new operator leaves a converged cluster alone", async () => {
  const { world, running } = await reconciled();
  await running.stop();
  const before = world.counted();
  const successor = world.startOperator();
  await world.clock.advance(120_000);
  assert.ok(successor.operator.counters().passes > 0);
  assert.deepEqual(world.counted(), before);
  await successor.stop();
  world.close();
});
