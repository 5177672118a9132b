// A cluster that the Go operator made, in a world: its objects as captured from a real API server, its pods run by
// emulated kubelets under their addresses, its database simulated behind them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { JsonObject } from "../../src/emulator/json.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { serviceAccounts } from "../../src/kube/resource.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

export const name = { namespace: "fdb3", name: "tri" };
const takeoverMs = Date.parse("2026-11-15T09:00:00Z");

interface Captured extends KubeObject {
  spec?: { nodeName?: string; volumeName?: string };
  status?: { podIP?: string };
}

function load(file: string): Captured[] {
  const path = join(import.meta.dirname, "../data/go-operator", `${file}.yaml`);
  const document = parse(readFileSync(path, "utf8")) as Captured | { items: Captured[] };
  const objects = "items" in document ? document.items : [document];
  return objects.filter(({ metadata }) => metadata.namespace === name.namespace);
}

/** Everything runs as the Go operator left it, and nobody looks after it. */
export async function abandonedCluster(): Promise<TestWorld> {
  const podList = load("pods");
  const addresses = new Map(podList.map((pod) => [pod.metadata.name, pod.status?.podIP ?? ""]));
  const nodeNames = [...new Set(podList.map((pod) => pod.spec?.nodeName ?? ""))].sort();
  const world = await TestWorld.open({
    clock: new VirtualClock(takeoverMs),
    nodes: nodeNames.map((node) => ({ name: node, zone: "zone-1" })),
    kubelet: {
      assignAddresses(pod) {
        const podName = pod.metadata?.name;
        if (!addresses.has(podName)) addresses.set(podName, `127.20.2.${addresses.size}`);
        return [addresses.get(podName) ?? ""];
      },
    },
  });
  await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
  await world.createNamespace(name.namespace);
  await world.client.create(serviceAccounts, {
    ...{ apiVersion: "v1", kind: "ServiceAccount" },
    metadata: { namespace: name.namespace, name: "fdb-kubernetes" },
  });
  const put = (storageKey: string, object: KubeObject): void => {
    const { metadata } = object;
    const { store } = world.world.server.context;
    store.put(
      storageKey,
      metadata.namespace ?? "",
      metadata.name ?? "",
      object as unknown as JsonObject,
    );
  };
  for (const cluster of load("cluster")) put("apps.foundationdb.org/foundationdbclusters", cluster);
  for (const map of load("configmaps")) put("/configmaps", map);
  for (const claim of load("pvcs")) {
    put("/persistentvolumes", volumeOf(claim));
    put("/persistentvolumeclaims", claim);
  }
  for (const pod of podList) put("/pods", pod);
  await world.clock.advance(minuteMs);
  await createDatabase(world);
  await world.clock.advance(3 * minuteMs);
  return world;
}

function volumeOf(claim: Captured): KubeObject {
  const { uid = "", namespace, name: claimName } = claim.metadata;
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolume" },
    metadata: { name: claim.spec?.volumeName ?? "", uid: `volume-${uid}` },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "16G" },
      claimRef: { kind: "PersistentVolumeClaim", namespace, name: claimName, uid },
    },
    status: { phase: "Bound" },
  } as KubeObject;
}

async function createDatabase(world: TestWorld): Promise<void> {
  const { status } = await world.cluster(name);
  const { fdb } = world.world;
  const connectionString = status?.connectionString ?? "";
  const admin = fdb.admin.open({ name: "test", connectionString, version: "7.3.79" });
  const configured = admin.configure("new double ssd-2 logs=3 proxies=3 resolvers=1", 30_000);
  await world.during(configured, minuteMs, "the database is created");
  admin.close();
}
