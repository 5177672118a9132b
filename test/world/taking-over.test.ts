// A cluster that the Go operator made: its objects as captured from a real API server, its pods run by emulated
// kubelets under their addresses, its database simulated behind them. Our operator takes it over and changes nothing.
// Rules: spec/world.md [W70], [W71].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { abandonedCluster, name } from "./go-cluster.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

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
