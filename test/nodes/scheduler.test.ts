// The scheduler at work on an API server: binding, waiting, and trying again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../src/kube/generated/types.ts";
import {
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../../src/kube/resource.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";
import { createClaim } from "./sample-pods.ts";

const asking = (cpu: string, more: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: "main", image: "example/app:1", resources: { requests: { cpu } } }],
  ...more,
});

async function saidAbout(cluster: Cluster, name: string): Promise<string[]> {
  const { items } = await cluster.client.list(events, { namespace: "default" });
  return items.filter((one) => one.involvedObject.name === name).map((one) => one.reason ?? "");
}

test("[SCH12] a pod is bound through the API and counts as placed from its decision on", async () => {
  const cluster = await startCluster({
    nodeCount: 2,
    nodes: ["a", "b"].map((name) => ({ name, capacity: { cpu: "2" } })),
  });
  for (const name of ["p1", "p2", "p3", "p4"]) await cluster.createPod(name, asking("1"));
  await cluster.createPod("other", asking("1", { schedulerName: "another" }));
  await cluster.createPod(
    "gated",
    asking("1", { schedulingGates: [{ name: "example.com/wait" }] }),
  );
  await cluster.advance(1);
  const placed: Record<string, number> = {};
  for (const name of ["p1", "p2", "p3", "p4"]) {
    const node = (await cluster.pod(name))?.spec?.nodeName ?? "";
    placed[node] = (placed[node] ?? 0) + 1;
  }
  assert.deepEqual(placed, { a: 2, b: 2 });
  assert.ok((await saidAbout(cluster, "p1")).includes("Scheduled"));
  assert.equal(cluster.server.requests.counts.get("create pods/binding"), 4);
  assert.equal((await cluster.pod("other"))?.status?.conditions, undefined);
  const gated = (await cluster.pod("gated"))?.status?.conditions?.[0];
  assert.equal(gated?.reason, "SchedulingGated");
  cluster.stop();
});

test("[SCH13] a refused pod waits for a change and is tried again with growing pauses", async () => {
  const cluster = await startCluster({ nodes: [{ name: "a", capacity: { cpu: "2" } }] });
  await cluster.createPod("big", asking("4"));
  await cluster.advance(60);
  const asked = (): number =>
    [...cluster.server.requests.counts]
      .filter(([request]) => !request.startsWith("watch "))
      .reduce((sum, [, count]) => sum + count, 0);
  const before = asked();
  await cluster.advance(600);
  assert.equal(asked() - before, 0, "only watches are renewed while nothing changes");
  await cluster.kubelet.addNode({ name: "b", capacity: { cpu: "8" } });
  await cluster.advance(5);
  assert.equal((await cluster.pod("big"))?.spec?.nodeName, "b");
  cluster.stop();
});

test("[SCH13] a pod that leaves makes room, and higher priority goes first", async () => {
  const cluster = await startCluster({ nodes: [{ name: "a", capacity: { cpu: "1" } }] });
  await cluster.createPod("first", asking("1"));
  await cluster.advance(5);
  await cluster.createPod("second", asking("1"));
  await cluster.advance(5);
  assert.equal((await cluster.pod("second"))?.spec?.nodeName, undefined);
  await cluster.client.delete(pods, { namespace: "default", name: "first" });
  await cluster.advance(60);
  assert.equal((await cluster.pod("second"))?.spec?.nodeName, "a");
  cluster.stop();
});

test("[SCH15] the condition is written once for one text", async () => {
  const cluster = await startCluster({
    nodes: [{ name: "a", capacity: { cpu: "1" } }],
    hasScheduler: true,
  });
  await cluster.createPod("big", asking("4"));
  await cluster.advance(2);
  const condition = (await cluster.pod("big"))?.status?.conditions?.[0];
  assert.deepEqual(
    {
      type: condition?.type,
      status: condition?.status,
      reason: condition?.reason,
      message: condition?.message,
    },
    {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message:
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: " +
        "1 Preemption is not helpful for scheduling.",
    },
  );
  for (let number = 0; number < 3; number += 1) {
    const labels = { round: String(number) };
    await cluster.client.patch(nodes, { name: "a" }, { metadata: { labels } }, { type: "merge" });
    await cluster.advance(20);
  }
  assert.equal(cluster.server.requests.counts.get("patch pods/status"), 1);
  assert.ok((await saidAbout(cluster, "big")).includes("FailedScheduling"));
  cluster.stop();
});

test("[SCH14] a claim that waits for its consumer is told the node, and the pod is bound when it is bound", async () => {
  const cluster = await startCluster();
  await createClaim(cluster, "data", "default", "standard");
  await cluster.advance(5);
  const claim = () =>
    cluster.client.get(persistentVolumeClaims, { namespace: "default", name: "data" });
  assert.equal((await claim()).status?.phase, "Pending");
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  await cluster.createPod("p", asking("1", { volumes }));
  await cluster.advance(0.1);
  const node = (await claim()).metadata.annotations?.["volume.kubernetes.io/selected-node"];
  assert.notEqual(node, undefined);
  assert.equal((await cluster.pod("p"))?.spec?.nodeName, undefined);
  await cluster.advance(5);
  assert.equal((await cluster.pod("p"))?.spec?.nodeName, node);
  assert.equal((await claim()).status?.phase, "Bound");
  cluster.stop();
});

test("[SCH14] a choice that is taken back is made again", async () => {
  const cluster = await startCluster();
  await cluster.client.create(storageClasses, {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "local" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  await createClaim(cluster, "data", "default", "local");
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  await cluster.createPod("p", asking("1", { volumes }));
  await cluster.advance(5);
  const message = (await cluster.pod("p"))?.status?.conditions?.[0]?.message ?? "";
  assert.match(
    message,
    /^0\/3 nodes are available: 3 node\(s\) didn't find available persistent volumes to bind\./,
  );
  await cluster.client.create(persistentVolumes, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "disk" },
    spec: {
      capacity: { storage: "2Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "local",
      local: { path: "/disk" },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: "kubernetes.io/hostname", operator: "In", values: ["node2"] },
              ],
            },
          ],
        },
      },
    },
  });
  await cluster.advance(20);
  assert.equal((await cluster.pod("p"))?.spec?.nodeName, "node2");
  cluster.stop();
});
