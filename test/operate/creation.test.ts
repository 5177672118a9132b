// The first path in the whole world: a cluster is brought up with either image, at a small price, and then left alone.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import { FullWorld } from "./full-world.ts";

const variants: [string, Partial<ClusterSpec>][] = [
  ["the unified image", {}],
  ["the split image and several servers per pod", { imageType: "split", storageServersPerPod: 2 }],
  [
    "public addresses of services",
    { imageType: "split", routing: { publicIPSource: "service", useDNSInClusterFile: false } },
  ],
];

for (const [title, spec] of variants) {
  test(`[P38] a cluster with ${title} is brought up`, async () => {
    const world = await FullWorld.open({ seed: 3, spec });
    const { operator, stop } = world.startOperator();
    await world.createCluster();
    await world.untilReconciled(60_000);
    const { status } = await world.cluster();
    assert.equal(status?.health?.available, true);
    assert.equal(status?.reconciledProcessGroups, status?.desiredProcessGroups);
    assert.equal(operator.counters().passesFailed, 0);
    assert.equal(operator.counters().actionsFailed, 0);
    await stop();
    world.close();
  });
}

test("[OP49] 15 processes take at most half of the Go operator's requests and status writes", async () => {
  const spec = { processCounts: { storage: 3, log: 3, stateless: 9 } };
  const world = await FullWorld.open({ seed: 5, spec });
  const { operator, stop } = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(60_000);
  await world.clock.advance(60_000);
  const counts = world.counted();
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  assert.equal(counts["create pods"], 15);
  assert.equal(counts["patch pods"], 15, "a pod is patched once");
  assert.ok(total <= 58, `${total} requests: ${JSON.stringify(counts)}`);
  assert.ok(operator.counters().statusWrites <= 7, JSON.stringify(operator.counters()));
  await stop();
  world.close();
});

test("[OP37] a converged cluster causes no request and no write", async () => {
  const world = await FullWorld.open({ seed: 6 });
  const { stop } = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(60_000);
  await world.clock.advance(60_000);
  const before = world.counted();
  await world.clock.advance(600_000);
  assert.deepEqual(world.counted(), before);
  await stop();
  world.close();
});

test("[OP2] many changes are one look", async () => {
  const world = await FullWorld.open({ seed: 6 });
  const { operator, stop } = world.startOperator();
  await world.createCluster();
  await world.untilReconciled(60_000);
  await world.clock.advance(60_000);
  const before = operator.counters().passes;
  const { items } = await world.client.list(pods, { namespace: "default" });
  for (const { metadata } of items) {
    const key = { namespace: "default", name: metadata.name ?? "" };
    await world.client.patch(pods, key, { metadata: { labels: { seen: "1" } } }, { type: "merge" });
  }
  await world.clock.advance(1_000);
  const passes = operator.counters().passes - before;
  assert.ok(passes >= 1 && passes <= 3, `${passes} passes for ${items.length} changes`);
  await stop();
  world.close();
});
