// A cluster that the Go operator made: its objects as captured from a real API server, its pods run by emulated
// kubelets under their addresses, its database simulated behind them. Our operator takes it over and changes nothing.
// Rules: spec/world.md [W70], [W71].
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import type { JsonObject } from "../../src/emulator/json.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  serviceAccounts,
  services,
} from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const name = { namespace: "fdb3", name: "tri" };
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
async function abandonedCluster(): Promise<TestWorld> {
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

async function objectsOf(world: TestWorld): Promise<string[]> {
  const { namespace } = name;
  const kinds = [
    pods,
    persistentVolumeClaims,
    services,
    configMaps,
  ] as unknown as Resource<KubeObject>[];
  const found: string[] = [];
  for (const kind of kinds) {
    const { items } = await world.client.list(kind, { namespace });
    for (const { metadata, ...rest } of items) {
      const { spec, data } = rest as { spec?: unknown; data?: unknown };
      const { labels, annotations, uid, ownerReferences, deletionTimestamp } = metadata;
      const facts = { labels, annotations, uid, ownerReferences, deletionTimestamp, spec, data };
      found.push(`${kind.kind} ${metadata.name} ${JSON.stringify(facts)}`);
    }
  }
  return found;
}

test("[W70] a cluster of the Go operator is taken over without a change to any of its objects", async () => {
  const world = await abandonedCluster();
  const before = await objectsOf(world);
  const stored = (await world.cluster(name)).status;
  const database = world.world.fdb.truth.databases()[0];
  assert.ok(database?.isAvailable);
  const mark = world.requests.length;
  world.world.startOperator();
  await world.untilReconciled(minuteMs, name);
  await world.clock.advance(10 * minuteMs);
  assert.deepEqual(await objectsOf(world), before);
  const writes = world.writesSince(mark);
  assert.ok(
    writes.every((write) => /^(update foundationdbclusters\/status|create events)/.test(write)),
    writes.join("\n"),
  );
  assert.ok(writes.length <= 3, writes.join("\n"));
  const { status } = await world.cluster(name);
  assert.deepEqual(kept(status, stored), stored, "fields of the old status");
  assert.equal(world.world.fdb.truth.databases()[0]?.generation, database.generation);
  assert.equal(world.world.operator.counters().passesFailed, 0);
  await world.close();
});

/** The new status cut down to the fields of the old one; the claims of the process groups are noted besides. */
function kept(
  status: FoundationDBCluster["status"],
  stored: FoundationDBCluster["status"],
): FoundationDBCluster["status"] {
  const fields = Object.keys(stored ?? {});
  const processGroups = status?.processGroups?.map((group) => {
    const { volumeClaim: _claim, ...rest } = group;
    return rest;
  });
  const old = { ...status, ...(processGroups && { processGroups }) };
  const entries = Object.entries(old).filter(([field]) => fields.includes(field));
  return Object.fromEntries(entries) as FoundationDBCluster["status"];
}

test("[W71] after the take-over the cluster is kept: a deleted pod comes back, the class can grow", async () => {
  const world = await abandonedCluster();
  world.world.startOperator();
  await world.untilReconciled(minuteMs, name);
  const stateless = await world.pods("stateless", name.namespace);
  const pod = stateless[0]?.metadata.name ?? "";
  await world.client.delete(pods, { namespace: name.namespace, name: pod });
  await world.clock.advance(minuteMs);
  await world.untilReconciled(5 * minuteMs, name);
  const patch = { spec: { processCounts: { stateless: 10 } } };
  await world.client.patch(foundationDbClusters, name, patch, { type: "merge" });
  await world.untilReconciled(5 * minuteMs, name);
  assert.equal((await world.pods("stateless", name.namespace)).length, 10);
  world.assertDataSafe();
  await world.close();
});
