// Pods that get other CPU and memory while they run. Rules: spec/kubelet.md [KUBELET103], [KUBELET104].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Container } from "../../src/kube/generated/types.ts";
import { nodes, pods } from "../../src/kube/resource.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";

type Resources = NonNullable<Container["resources"]>;
const guaranteed = (cpu: string, memory = "1Gi"): Resources => {
  const amounts = { cpu, memory };
  return { requests: amounts, limits: amounts };
};

const main = { name: "main", image: "example/app:1" };

async function withPod(
  container: Partial<Container>,
  body: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const cluster = await startCluster({ nodeCount: 1 });
  try {
    await cluster.createPod("a", { containers: [{ ...main, ...container }] });
    await cluster.advance(20);
    await body(cluster);
  } finally {
    cluster.stop();
  }
}

async function resize(cluster: Cluster, name: string, resources: Resources): Promise<void> {
  const pod = await cluster.pod(name);
  const containers = pod?.spec?.containers.map((one) => ({ name: one.name, resources }));
  const key = { namespace: "default", name };
  const options = { type: "strategic", subresource: "resize" } as const;
  await cluster.client.patch(pods, key, { spec: { containers } }, options);
}

async function seen(cluster: Cluster, name = "a") {
  const pod = await cluster.pod(name);
  const [container] = pod?.status?.containerStatuses ?? [];
  const resizing = (pod?.status?.conditions ?? []).filter(({ type }) => /Resize/.test(type));
  return {
    generation: pod?.status?.observedGeneration,
    given: container?.allocatedResources,
    runsWith: container?.resources,
    restarts: container?.restartCount,
    conditions: resizing.map(({ type, reason }) => [type, reason]),
  };
}

test("[KUBELET103] other resources are given after a while, and the container goes on", async () => {
  await withPod({ resources: guaranteed("1") }, async (cluster) => {
    const before = { conditions: [], restarts: 0 };
    assert.deepEqual(await seen(cluster), {
      ...before,
      generation: 1,
      given: guaranteed("1").requests,
      runsWith: guaranteed("1"),
    });
    await resize(cluster, "a", guaranteed("2", "3Gi"));
    const types = new Set<string>();
    for (let step = 0; step < 40; step += 1) {
      await cluster.advance(0.1);
      for (const [type] of (await seen(cluster)).conditions) types.add(type ?? "");
    }
    assert.deepEqual([...types], ["PodResizeInProgress"]);
    assert.deepEqual(await seen(cluster), {
      ...before,
      generation: 2,
      given: guaranteed("2", "3Gi").requests,
      runsWith: guaranteed("2", "3Gi"),
    });
  });
});

test("[KUBELET103] a resize waits for room on the node, and is taken back by the old resources", async () => {
  await withPod({ resources: guaranteed("2") }, async (cluster) => {
    await cluster.createPod("b", { containers: [{ ...main, resources: guaranteed("12") }] });
    await cluster.advance(20);
    await resize(cluster, "a", guaranteed("6"));
    await cluster.advance(20);
    const waiting = await seen(cluster);
    assert.deepEqual(waiting.conditions, [["PodResizePending", "Deferred"]]);
    assert.deepEqual(waiting.runsWith, guaranteed("2"));
    await resize(cluster, "a", guaranteed("2"));
    await cluster.advance(20);
    assert.deepEqual((await seen(cluster)).conditions, []);
    await resize(cluster, "a", guaranteed("6"));
    await cluster.advance(20);
    await resize(cluster, "b", guaranteed("4"));
    await cluster.advance(30);
    assert.deepEqual((await seen(cluster)).conditions, []);
    assert.deepEqual((await seen(cluster)).runsWith, guaranteed("6"));
  });
});

test("[KUBELET103] a container whose policy says so starts again with its new resources", async () => {
  const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
  await withPod({ resources: guaranteed("1"), resizePolicy }, async (cluster) => {
    await resize(cluster, "a", guaranteed("2"));
    await cluster.advance(20);
    assert.equal((await seen(cluster)).restarts, 0, "CPU alone");
    await resize(cluster, "a", guaranteed("2", "2Gi"));
    await cluster.advance(60);
    assert.equal((await seen(cluster)).restarts, 1);
  });
});

test("[KUBELET103] a node that comes back goes on with what it had not done", async () => {
  await withPod({ resources: guaranteed("1") }, async (cluster) => {
    await cluster.kubelet.cutNode("node1");
    await resize(cluster, "a", guaranteed("2"));
    await cluster.advance(60);
    assert.deepEqual((await seen(cluster)).runsWith, guaranteed("1"));
    await cluster.kubelet.startNode("node1");
    await cluster.advance(20);
    assert.deepEqual((await seen(cluster)).runsWith, guaranteed("2"));
  });
});

test("[KUBELET104] static CPUs make other CPUs of a Guaranteed pod infeasible", async () => {
  await withPod({ resources: guaranteed("1") }, async (cluster) => {
    const labels = { "emulated.foundationdb.org/cpu-manager-policy": "static" };
    await cluster.client.patch(
      nodes,
      { name: "node1" },
      { metadata: { labels } },
      { type: "merge" },
    );
    await resize(cluster, "a", guaranteed("2"));
    await cluster.advance(20);
    assert.deepEqual((await seen(cluster)).conditions, [["PodResizePending", "Infeasible"]]);
    await resize(cluster, "a", guaranteed("1", "2Gi"));
    await cluster.advance(20);
    assert.deepEqual((await seen(cluster)).conditions, [], "memory is another matter");
  });
});
