// The status of the resource cannot be written: because the local copy is behind and nobody tells, or because somebody
// else writes all the time. Pods come back all the same. Rules: spec/operate.md [OP35], [OP72].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };

function touch(world: TestWorld): Promise<unknown> {
  const metadata = { annotations: { touched: String(world.clock.nowMs()) } };
  return world.client.patch(foundationDbClusters, key, { metadata }, { type: "merge" });
}

/** Deletes a pod and lets time pass until it is back; how long that took. */
async function loseOnePod(world: TestWorld): Promise<number> {
  const [lost] = await world.pods("log");
  assert.ok(lost);
  const podKey = { namespace: "default", name: nameOf(lost) };
  await world.client.delete(pods, podKey, { gracePeriodSeconds: 0 });
  const startMs = world.clock.nowMs();
  while (world.clock.nowMs() - startMs < 2 * minuteMs) {
    await world.clock.advance(500);
    const found = await world.client.find(pods, podKey);
    if (found !== undefined && found.metadata.uid !== lost.metadata.uid) break;
  }
  return world.clock.nowMs() - startMs;
}

test("[OP35] with a silent watch the resource is read after the first conflict, and repair goes on", async () => {
  let isSilent = false;
  const wrapTransport = (transport: KubeTransport): KubeTransport => ({
    request: (request) => transport.request(request),
    watch: (request, onEvent) =>
      transport.watch(request, (event) => {
        if (!isSilent || !request.path.includes("foundationdbclusters")) onEvent(event);
      }),
  });
  await TestWorld.runWithCluster({ spec: small, wrapTransport }, async (world) => {
    isSilent = true;
    await touch(world);
    const before = world.world.operator.counters().statusConflicts;
    const tookMs = await loseOnePod(world);
    await world.clock.advance(minuteMs);
    const conflicts = world.world.operator.counters().statusConflicts - before;
    assert.ok(tookMs <= 10_000, `${tookMs} ms`);
    assert.ok(conflicts >= 1 && conflicts <= 2, `${conflicts} conflicts`);
  });
});

test("[OP72] pods come back while somebody else wins every race for the status", async () => {
  let opened: TestWorld | undefined;
  let isContended = false;
  const wrapTransport = (transport: KubeTransport): KubeTransport => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    async request(request) {
      const isStatus = request.method === "PUT" && request.path.endsWith("/sample/status");
      if (isContended && isStatus && opened !== undefined) await touch(opened);
      return transport.request(request);
    },
  });
  await TestWorld.runWithCluster({ spec: small, wrapTransport }, async (world) => {
    opened = world;
    isContended = true;
    const before = world.world.operator.counters().statusConflicts;
    const tookMs = await loseOnePod(world);
    await world.clock.advance(minuteMs);
    const conflicts = world.world.operator.counters().statusConflicts - before;
    assert.ok(tookMs <= 10_000, `${tookMs} ms`);
    assert.ok(conflicts >= 3 && conflicts <= 15, `${conflicts} conflicts`);
    isContended = false;
    await world.untilReconciled();
  });
});
