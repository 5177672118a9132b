// An operator that may not write ConfigMaps any more, while coordinators are to go one set after the other.
// Rules: spec/restart.md [T118], spec/removal.md [R114], spec/plan.md [P118].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { KubeResponse, KubeTransport } from "../../src/kube/transport.ts";
import { pods } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { groups } from "./removal-harness.ts";
import { keyOfObject, minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

/** The process groups that are coordinators, by the names of their pods. */
async function coordinatorIds(world: TestWorld, most: number): Promise<string[]> {
  const { connectionString = "" } = (await world.cluster()).status ?? {};
  const names = coordinatorsOf(connectionString);
  const found = await groups(world);
  const serving = found.filter(({ processGroupID: id }) =>
    names.some((name) => name.startsWith(`sample-${id}.`)),
  );
  return serving.map(({ processGroupID }) => processGroupID).slice(0, most);
}

async function reasons(world: TestWorld): Promise<string[]> {
  return ((await world.cluster()).status?.blockedBy ?? []).map(({ reason }) => reason);
}

for (const most of [1, 3]) {
  test(`[T118] [R114] ${most} of the coordinators at a time are to go, and the ConfigMap cannot be changed (long)`, async () => {
    let isRefused = false;
    const wrapTransport = (transport: KubeTransport): KubeTransport => ({
      watch: (request, onEvent) => transport.watch(request, onEvent),
      async request(request): Promise<KubeResponse> {
        const { method, path } = request;
        if (!isRefused || method === "GET" || !path.includes("/configmaps/"))
          return transport.request(request);
        const body = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403 };
        return { status: 403, body };
      },
    });
    const automationOptions = { waitBetweenRemovalsSeconds: 0, maxConcurrentReplacements: 3 };
    const spec = { ...small, automationOptions };
    await TestWorld.runWithCluster({ spec, nodes: 9, wrapTransport }, async (world) => {
      await world.clock.advance(3 * minuteMs);
      isRefused = true;
      const leaving = new Set<string>();
      for (let round = 0; round < 4; round += 1) {
        for (const id of await coordinatorIds(world, most)) leaving.add(id);
        await world.changeSpec({ processGroupsToRemove: [...leaving] });
        await world.clock.advance(15 * minuteMs);
        assert.ok(
          !(await reasons(world)).includes("ConfigMapOutdated"),
          "new pods find the database",
        );
      }
      const [stateless] = await world.pods("stateless");
      assert.ok(stateless !== undefined);
      await world.client.delete(pods, keyOfObject(stateless));
      await world.clock.advance(10 * minuteMs);
      assert.ok(!(await reasons(world)).includes("ProcessesMissing"), nameOf(stateless));
      for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
      await world.clock.advance(10 * minuteMs);
      assert.equal((await world.cluster()).status?.health?.available, true);
      isRefused = false;
      await world.untilReconciled(120 * minuteMs);
      for (const { processGroupID: id } of await groups(world)) assert.ok(!leaving.has(id));
      world.assertDataSafe();
    });
  });
}
