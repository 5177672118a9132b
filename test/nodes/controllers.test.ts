// The controllers beside the kubelet: volumes, node lifecycle, workloads and disruption budgets.
import { conditionIn } from "../../src/kube/condition.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { budgetStatus } from "../../src/emulator/controller-disruption.ts";
import { evictionTimeMs } from "../../src/emulator/controller-node-lifecycle.ts";
import type { Deployment, Pod, PodSpec } from "../../src/kube/generated/types.ts";
import {
  deployments,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  storageClasses,
} from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";
import { createClaim, createSample, podCase } from "./sample-pods.ts";

const zoneKey = "topology.kubernetes.io/zone";
const namespace = "default";
const app = (image = "example/app:1"): PodSpec => ({ containers: [{ name: "main", image }] });

async function addClass(cluster: Cluster, name: string, more: object = {}): Promise<void> {
  await cluster.client.create(storageClasses, {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name },
    provisioner: "disk.example.com",
    ...more,
  });
}

async function volumeOf(cluster: Cluster, name: string) {
  const claim = await cluster.client.get(persistentVolumeClaims, { namespace, name });
  return cluster.client.find(persistentVolumes, { name: claim.spec?.volumeName ?? "none" });
}

test("[KUBELET51] a waiting claim gets a volume in the zone of the chosen node", async () => {
  const cluster = await startCluster();
  await createClaim(cluster, "data");
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  await cluster.createPod("p", { ...app(), nodeSelector: { [zoneKey]: "zone2" }, volumes });
  await cluster.advance(10);
  const volume = await volumeOf(cluster, "data");
  assert.deepEqual(volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms, [
    { matchExpressions: [{ key: zoneKey, operator: "In", values: ["zone2"] }] },
  ]);
  assert.equal(volume?.status?.phase, "Bound");
  assert.equal(volume?.spec?.claimRef?.name, "data");
  const claim = await cluster.client.get(persistentVolumeClaims, { namespace, name: "data" });
  assert.deepEqual(claim.status, {
    phase: "Bound",
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
  });
  cluster.stop();
});

test("[KUBELET52] an immediate claim is bound without a pod, to a free volume first", async () => {
  const cluster = await startCluster();
  await addClass(cluster, "now");
  await createClaim(cluster, "made", namespace, "now");
  await cluster.advance(5);
  assert.equal((await volumeOf(cluster, "made"))?.spec?.storageClassName, "now");
  for (const [name, storage] of [
    ["large", "9Gi"],
    ["small", "2Gi"],
  ]) {
    await cluster.client.create(persistentVolumes, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        capacity: { storage: storage ?? "" },
        accessModes: ["ReadWriteOnce"],
        storageClassName: "now",
        hostPath: { path: "/x" },
      },
    });
  }
  await cluster.advance(1);
  await createClaim(cluster, "found", namespace, "now");
  await cluster.advance(5);
  assert.equal((await volumeOf(cluster, "found"))?.metadata.name, "small");
  const large = await cluster.client.get(persistentVolumes, { name: "large" });
  assert.equal(large.status?.phase, "Available");
  cluster.stop();
});

test("[KUBELET101] [KAS68] a claim that asks for more gets it, where its class allows it", async () => {
  const cluster = await startCluster();
  await addClass(cluster, "elastic", { allowVolumeExpansion: true });
  await addClass(cluster, "stiff");
  for (const name of ["elastic", "stiff"]) await createClaim(cluster, name, namespace, name);
  await cluster.advance(5);
  const grow = (name: string) =>
    cluster.client.patch(
      persistentVolumeClaims,
      { namespace, name },
      { spec: { resources: { requests: { storage: "2Gi" } } } },
      { type: "merge" },
    );
  await grow("elastic");
  await assert.rejects(grow("stiff"), /must support resize/);
  await cluster.advance(15);
  const grown = await cluster.client.get(persistentVolumeClaims, { namespace, name: "elastic" });
  assert.deepEqual(grown.status?.capacity, { storage: "2Gi" });
  assert.deepEqual((await volumeOf(cluster, "elastic"))?.spec?.capacity, { storage: "2Gi" });
  cluster.stop();
});

test("[KUBELET102] a driver that enlarges a file system at start waits for a pod that starts", async () => {
  const cluster = await startCluster();
  await addClass(cluster, "slow", {
    allowVolumeExpansion: true,
    parameters: { resize: "at-start" },
  });
  await createClaim(cluster, "data", namespace, "slow");
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  await cluster.createPod("p", { ...app(), volumes });
  await cluster.advance(10);
  const key = { namespace, name: "data" };
  const body = { spec: { resources: { requests: { storage: "2Gi" } } } };
  await cluster.client.patch(persistentVolumeClaims, key, body, { type: "merge" });
  await cluster.advance(60);
  const waiting = await cluster.client.get(persistentVolumeClaims, key);
  assert.deepEqual(waiting.status?.capacity, { storage: "1Gi" });
  assert.equal(waiting.status?.conditions?.[0]?.type, "FileSystemResizePending");
  await cluster.client.delete(pods, { namespace, name: "p" });
  await cluster.advance(60);
  await cluster.createPod("p", { ...app(), volumes });
  await cluster.advance(30);
  const grown = await cluster.client.get(persistentVolumeClaims, key);
  assert.deepEqual(grown.status?.capacity, { storage: "2Gi" });
  assert.equal(grown.status?.conditions, undefined);
  cluster.stop();
});

test("[KUBELET53] the volume of a deleted claim is deleted, or released when it is to be kept", async () => {
  const cluster = await startCluster();
  await addClass(cluster, "gone");
  await addClass(cluster, "kept", { reclaimPolicy: "Retain" });
  const names = new Map<string, string>();
  for (const name of ["gone", "kept"]) {
    await createClaim(cluster, name, namespace, name);
    await cluster.advance(5);
    names.set(name, (await volumeOf(cluster, name))?.metadata.name ?? "");
    await cluster.client.delete(persistentVolumeClaims, { namespace, name });
  }
  await cluster.advance(5);
  const find = (name: string) =>
    cluster.client.find(persistentVolumes, { name: names.get(name) ?? "" });
  assert.equal(await find("gone"), undefined);
  assert.equal((await find("kept"))?.status?.phase, "Released");
  cluster.stop();
});

test("[KUBELET54] a claim without a class gets the default class, one with an unknown class waits", async () => {
  const cluster = await startCluster();
  await createClaim(cluster, "plain");
  await createClaim(cluster, "odd", namespace, "later");
  await cluster.advance(5);
  const claim = (name: string) => cluster.client.get(persistentVolumeClaims, { namespace, name });
  assert.equal((await claim("plain")).spec?.storageClassName, "standard");
  assert.equal((await claim("odd")).status?.phase, "Pending");
  await addClass(cluster, "later");
  await cluster.advance(5);
  assert.equal((await claim("odd")).status?.phase, "Bound");
  cluster.stop();
});

const budgetPod = (isReady: boolean): Pod => ({
  metadata: { name: "p", namespace, labels: { app: "a" } },
  status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
});

test("[KUBELET56] what a disruption budget allows", () => {
  const pods10 = Array.from({ length: 10 }, (_, index) => budgetPod(index < 9));
  const allowed = (spec: object, covered: Pod[] = pods10): [number, number] => {
    const status = budgetStatus({ metadata: { generation: 1 }, spec }, covered, 0);
    return [status.desiredHealthy, status.disruptionsAllowed];
  };
  assert.deepEqual(allowed({ minAvailable: 7 }), [7, 2]);
  assert.deepEqual(allowed({ minAvailable: "75%" }), [8, 1]);
  assert.deepEqual(allowed({ maxUnavailable: 1 }), [9, 0]);
  assert.deepEqual(allowed({ maxUnavailable: "25%" }), [7, 2]);
  assert.deepEqual(allowed({ maxUnavailable: 1 }, []), [0, 0]);
});

test("[KUBELET56] the status of a budget follows its pods and governs eviction", async () => {
  const cluster = await startCluster();
  await cluster.client.create(podDisruptionBudgets, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { namespace, name: "budget" },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: "a" } } },
  });
  for (const name of ["p1", "p2", "p3"])
    await cluster.createPod(name, app(), { labels: { app: "a" } });
  await cluster.advance(20);
  const status = async () =>
    (await cluster.client.get(podDisruptionBudgets, { namespace, name: "budget" })).status;
  assert.equal((await status())?.disruptionsAllowed, 1);
  assert.equal((await status())?.currentHealthy, 3);
  await cluster.client.evictPod({ namespace, name: "p1" });
  await assert.rejects(cluster.client.evictPod({ namespace, name: "p2" }), {
    reason: "TooManyRequests",
  });
  await cluster.advance(10);
  assert.equal(await cluster.pod("p1"), undefined);
  assert.equal((await status())?.expectedPods, 2);
  assert.equal((await status())?.disruptionsAllowed, 1);
  assert.deepEqual((await status())?.disruptedPods ?? {}, {});
  cluster.stop();
});

test("[KUBELET57] a node that stops becomes Unknown after forty seconds, with taints, and its pods unready", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await createSample(cluster, podCase("unified/default-log"));
  await cluster.advance(20);
  assert.equal(cluster.running().length, 1);
  await cluster.kubelet.stopNode("node1");
  assert.deepEqual(cluster.running(), []);
  const ready = async (): Promise<string | undefined> => {
    const node = await cluster.client.get(nodes, { name: "node1" });
    return conditionIn(node.status, "Ready")?.status;
  };
  await cluster.advance(39);
  assert.equal(await ready(), "True");
  await cluster.advance(2);
  assert.equal(await ready(), "Unknown");
  const taints = (await cluster.client.get(nodes, { name: "node1" })).spec?.taints;
  assert.deepEqual(
    taints?.map(({ key, effect }) => `${key}:${effect}`),
    ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"],
  );
  const pod = await cluster.pod("sample-log-1");
  assert.equal(conditionIn(pod?.status, "Ready")?.status, "False");
  cluster.stop();
});

test("[KUBELET29] a node that comes back starts its pods again and loses its taints", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await createSample(cluster, podCase("unified/default-log"));
  await cluster.advance(20);
  await cluster.kubelet.stopNode("node1");
  await cluster.advance(60);
  await cluster.kubelet.startNode("node1");
  await cluster.advance(20);
  const node = await cluster.client.get(nodes, { name: "node1" });
  assert.deepEqual(node.spec?.taints ?? [], []);
  assert.equal(cluster.running().length, 1);
  const pod = await cluster.pod("sample-log-1");
  assert.equal(conditionIn(pod?.status, "Ready")?.status, "True");
  assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, 1);
  assert.deepEqual(pod?.status?.podIPs, [{ ip: "10.1.0.2" }]);
  cluster.stop();
});

test("[KUBELET66] a node that is cut off keeps its processes, and catches up when it is back", async () => {
  const cluster = await startCluster({ nodeCount: 2 });
  const sample = podCase("unified/default-stateless");
  await createSample(cluster, sample, { change: (spec) => (spec.nodeName = "node1") });
  await cluster.createPod("other", { ...app(), nodeName: "node1" });
  await cluster.advance(20);
  await cluster.kubelet.cutNode("node1");
  await cluster.advance(60);
  const node = () => cluster.client.get(nodes, { name: "node1" });
  const ready = async (): Promise<string | undefined> =>
    conditionIn((await node()).status, "Ready")?.status;
  assert.equal(await ready(), "Unknown");
  assert.equal(cluster.running().length, 1);
  const target = { namespace, name: sample.podName };
  await cluster.client.delete(pods, target, { gracePeriodSeconds: 0 });
  const spec = JSON.parse(sample.podSpecJSONThatIsHashed) as PodSpec;
  await cluster.createPod(sample.podName, { ...spec, nodeName: "node2" });
  await cluster.advance(20);
  assert.equal(cluster.running().length, 2);
  await cluster.kubelet.startNode("node1");
  await cluster.advance(5);
  assert.equal(await ready(), "True");
  assert.equal(cluster.running().length, 1);
  assert.match(cluster.running()[0] ?? "", /--locality_machineid=node2/);
  const other = await cluster.pod("other");
  assert.equal(conditionIn(other?.status, "Ready")?.status, "True");
  assert.equal(other?.status?.containerStatuses?.[0]?.restartCount, 0);
  cluster.stop();
});

test("[KUBELET59] when a pod must leave a tainted node", () => {
  const taint = { key: "k", effect: "NoExecute", timeAdded: "1970-01-01T00:00:10Z" };
  const due = (tolerations: object[], taints: object[] = [taint]): number | undefined =>
    evictionTimeMs(
      { metadata: {}, spec: { taints: taints as (typeof taint)[] } },
      { metadata: {}, spec: { containers: [], tolerations } },
      20_000,
    );
  assert.equal(due([]), 10_000);
  assert.equal(due([{ key: "k", operator: "Exists" }]), undefined);
  assert.equal(due([{ key: "k", operator: "Exists", tolerationSeconds: 300 }]), 310_000);
  assert.equal(due([], [{ key: "k", effect: "NoSchedule" }]), undefined);
});

test("[KUBELET59] pods leave a node whose taint they do not tolerate, and a dead node after five minutes", async () => {
  const cluster = await startCluster({ nodeCount: 2 });
  await cluster.createPod("p", { ...app(), nodeName: "node1" });
  await cluster.createPod("q", { ...app(), nodeName: "node2" });
  await cluster.advance(10);
  const spec = { taints: [{ key: "example.com/out", effect: "NoExecute" }] };
  await cluster.client.patch(nodes, { name: "node1" }, { spec }, { type: "merge" });
  await cluster.advance(5);
  assert.equal(await cluster.pod("p"), undefined);
  await cluster.kubelet.stopNode("node2");
  await cluster.advance(330);
  assert.equal((await cluster.pod("q"))?.metadata.deletionTimestamp, undefined);
  await cluster.advance(20);
  assert.notEqual((await cluster.pod("q"))?.metadata.deletionTimestamp, undefined);
  await cluster.kubelet.startNode("node2");
  await cluster.advance(5);
  assert.equal(await cluster.pod("q"), undefined);
  cluster.stop();
});

test("[KUBELET30] a node that is removed takes its pods with it", async () => {
  const cluster = await startCluster({ nodeCount: 2 });
  await cluster.createPod("p", { ...app(), nodeName: "node1" });
  await cluster.advance(10);
  await cluster.kubelet.removeNode("node1");
  assert.equal(await cluster.client.find(nodes, { name: "node1" }), undefined);
  await cluster.advance(30);
  assert.notEqual(await cluster.pod("p"), undefined);
  await cluster.advance(15);
  assert.equal(await cluster.pod("p"), undefined);
  assert.deepEqual(cluster.kubelet.nodeNames(), ["node2"]);
  cluster.stop();
});

function deployment(image: string, more: Partial<Deployment["spec"]> = {}): Stored<Deployment> {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name: "web" },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: app(image) },
      ...more,
    },
  };
}

async function imagesOf(cluster: Cluster): Promise<string[]> {
  const { items } = await cluster.client.list(pods, { namespace, labelSelector: "app=web" });
  return items.map((pod) => pod.spec?.containers[0]?.image ?? "").toSorted();
}

test("[KUBELET61] a replica set keeps the number of its pods", async () => {
  const cluster = await startCluster();
  await cluster.client.create(deployments, deployment("example/app:1"));
  await cluster.advance(20);
  assert.equal((await imagesOf(cluster)).length, 3);
  const { items } = await cluster.client.list(pods, { namespace });
  await cluster.client.delete(pods, { namespace, name: items[0]?.metadata.name ?? "" });
  await cluster.advance(20);
  assert.equal((await imagesOf(cluster)).length, 3);
  const spec = { replicas: 1 };
  await cluster.client.patch(deployments, { namespace, name: "web" }, { spec }, { type: "merge" });
  await cluster.advance(20);
  assert.equal((await imagesOf(cluster)).length, 1);
  const sets = await cluster.client.list(replicaSets, { namespace });
  assert.equal(sets.items[0]?.status?.readyReplicas, 1);
  cluster.stop();
});

test("[KUBELET62] a new template rolls out within the limits of the strategy", async () => {
  const cluster = await startCluster();
  await cluster.client.create(deployments, deployment("example/app:1"));
  await cluster.advance(20);
  const template = deployment("example/app:2").spec?.template;
  await cluster.client.patch(
    deployments,
    { namespace, name: "web" },
    { spec: { template } },
    { type: "merge" },
  );
  let fewestReady = 3;
  let most = 0;
  for (let step = 0; step < 60; step += 1) {
    await cluster.advance(0.5);
    const { items } = await cluster.client.list(pods, { namespace });
    const live = items.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const ready = live.filter(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
    );
    fewestReady = Math.min(fewestReady, ready.length);
    most = Math.max(most, live.length);
  }
  assert.deepEqual(await imagesOf(cluster), ["example/app:2", "example/app:2", "example/app:2"]);
  assert.equal(fewestReady, 3);
  assert.equal(most, 4);
  const sets = await cluster.client.list(replicaSets, { namespace });
  const sizes = sets.items.map((set) => set.spec?.replicas ?? 1);
  assert.deepEqual(
    sizes.toSorted((left, right) => left - right),
    [0, 3],
  );
  cluster.stop();
});

test("[KUBELET62] Recreate stops the old pods before it starts the new ones", async () => {
  const cluster = await startCluster();
  const strategy = { type: "Recreate" };
  await cluster.client.create(deployments, deployment("example/app:1", { strategy }));
  await cluster.advance(20);
  const template = deployment("example/app:2").spec?.template;
  await cluster.client.patch(
    deployments,
    { namespace, name: "web" },
    { spec: { template } },
    { type: "merge" },
  );
  for (let step = 0; step < 40; step += 1) {
    await cluster.advance(0.5);
    assert.ok(new Set(await imagesOf(cluster)).size <= 1);
  }
  assert.deepEqual(await imagesOf(cluster), ["example/app:2", "example/app:2", "example/app:2"]);
  cluster.stop();
});

test("[KUBELET63] the status of a deployment says how far it is", async () => {
  const cluster = await startCluster();
  await cluster.client.create(deployments, deployment("example/app:1"));
  await cluster.advance(0.5);
  const status = async () =>
    (await cluster.client.get(deployments, { namespace, name: "web" })).status;
  const available = async (): Promise<string | undefined> =>
    (await status())?.conditions?.find(({ type }) => type === "Available")?.status;
  assert.equal(await available(), "False");
  await cluster.advance(20);
  const { observedGeneration, replicas, readyReplicas, updatedReplicas, availableReplicas } =
    (await status()) ?? {};
  assert.deepEqual(
    [observedGeneration, replicas, readyReplicas, updatedReplicas, availableReplicas],
    [1, 3, 3, 3, 3],
  );
  assert.equal(await available(), "True");
  const writes = cluster.server.requests.writes;
  await cluster.advance(600);
  assert.equal(cluster.server.requests.writes, writes);
  cluster.stop();
});

test("[KUBELET64] one seed gives one history", async () => {
  const history = async (seed: number): Promise<string> => {
    const cluster = await startCluster({ seed });
    await createSample(cluster, podCase("unified/default-log"));
    await cluster.client.create(deployments, deployment("example/app:1"));
    await cluster.advance(30);
    await cluster.kubelet.stopNode("node1");
    await cluster.advance(400);
    const lists = [
      await cluster.client.list(pods),
      await cluster.client.list(nodes),
      await cluster.client.list(persistentVolumes),
    ];
    cluster.stop();
    return JSON.stringify(lists);
  };
  const first = await history(3);
  assert.equal(await history(3), first);
  assert.notEqual(await history(4), first);
});
