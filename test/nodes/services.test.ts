// Service addresses and DNS names of pods.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec, Service } from "../../src/kube/generated/types.ts";
import { pods, services } from "../../src/kube/resource.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";

const namespace = "default";

async function createService(cluster: Cluster, name: string, spec: Service["spec"]): Promise<void> {
  const service = { apiVersion: "v1", kind: "Service", metadata: { namespace, name }, spec };
  await cluster.client.create(services, service);
}

const spec = (more: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: "main", image: "example/app:1" }],
  ...more,
});

test("[KUBELET27] a service's address leads to its ready pods, or to all when it says so", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const ports = [{ port: 80 }];
  const clusterIP = "10.0.96.10";
  await createService(cluster, "strict", { clusterIP, ports, selector: { app: "a" } });
  await createService(cluster, "early", {
    clusterIP: "10.0.96.11",
    ports,
    selector: { app: "a", id: "1" },
    publishNotReadyAddresses: true,
  });
  const readinessProbe = { tcpSocket: { port: 80 } };
  const containers = [{ name: "main", image: "example/app:1", readinessProbe }];
  await cluster.createPod("p", { containers }, { labels: { app: "a", id: "1" } });
  await cluster.advance(10);
  assert.equal(cluster.network.route(clusterIP), clusterIP);
  assert.equal(cluster.network.route("10.0.96.11"), "10.1.0.1");
  cluster.network.listen("10.1.0.1", 80, false, () => ({ status: 200, body: "" }));
  await cluster.advance(1);
  assert.equal(cluster.network.route(clusterIP), "10.1.0.1");
  await cluster.client.delete(services, { namespace, name: "strict" });
  await cluster.advance(1);
  assert.equal(cluster.network.route(clusterIP), clusterIP);
  cluster.stop();
});

test("[KUBELET28] a pod has a DNS name while it is ready behind the headless service of its subdomain", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const name = "host.sub.default.svc.cluster.local";
  const named = spec({ hostname: "host", subdomain: "sub" });
  await cluster.createPod("p", named, { labels: { app: "a" } });
  await cluster.advance(10);
  assert.equal(cluster.network.resolve(name), undefined);
  await createService(cluster, "sub", { clusterIP: "None", selector: { app: "a" } });
  await cluster.advance(1);
  assert.equal(cluster.network.resolve(name), "10.1.0.1");
  await cluster.client.delete(pods, { namespace, name: "p" });
  await cluster.advance(5);
  assert.equal(cluster.network.resolve(name), undefined);
  await cluster.createPod("p", named, { labels: { app: "a" } });
  await cluster.advance(10);
  assert.equal(cluster.network.resolve(name), "10.1.0.2");
  await cluster.client.delete(services, { namespace, name: "sub" });
  await cluster.advance(1);
  assert.equal(cluster.network.resolve(name), undefined);
  cluster.stop();
});
