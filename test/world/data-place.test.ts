// A pod template that puts something else in the place of the data volume: no copy of data is lost by it, nor when it is taken
// back. Rules: spec/removal.md [R100], [R101].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import { assertAllCopies, untilSettled } from "./removal-harness.ts";
import { frugalProcesses, keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

const spec: Partial<ClusterSpec> = { ...small, automationOptions: { podUpdateStrategy: "Delete" } };

function withEmptyDirectory(): NonNullable<ClusterSpec["processes"]> {
  const processes = structuredClone(frugalProcesses);
  const template = processes?.["general"]?.podTemplate?.spec;
  if (template) template.volumes = [{ name: "data", emptyDir: {} }];
  return processes ?? {};
}

async function putBack(world: TestWorld): Promise<void> {
  const key = { namespace: "default", name: "sample" };
  const patch = [{ op: "replace", path: "/spec/processes", value: frugalProcesses }];
  await world.client.patch(foundationDbClusters, key, patch, { type: "json" });
}

test("[R100] data moves to where a changed pod template keeps it, and back (long)", async () => {
  await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
    await world.changeSpec({ processes: withEmptyDirectory() });
    await untilSettled(world, 30 * minuteMs);
    await assertAllCopies(world);
    await putBack(world);
    await untilSettled(world, 30 * minuteMs);
    await assertAllCopies(world);
    for (const pod of await world.pods("storage")) {
      const data = pod.spec?.volumes?.find(({ name }) => name === "data");
      assert.notEqual(data?.persistentVolumeClaim, undefined);
    }
  });
});

test("[R100] [S109] data that the database put on a process without a volume is moved before its pod goes (long)", async () => {
  const counts = { storage: 2, log: 3, stateless: 3, unset: 3 };
  await TestWorld.runWithCluster(
    { spec: { ...spec, processCounts: counts }, nodes: 9 },
    async (world) => {
      await world.clock.advance(3 * minuteMs);
      const isUsed = world.world.fdb.truth
        .replicas()
        .some(({ replicas }) =>
          replicas.some(({ localities }) => /unset/.test(localities["instance_id"] ?? "")),
        );
      assert.ok(isUsed, "the database keeps no data on processes of class unset");
      const processes = structuredClone(frugalProcesses) ?? {};
      const [main] = processes["general"]?.podTemplate?.spec?.containers ?? [];
      if (main) main.env = [{ name: "ANSWER", value: "42" }];
      await world.changeSpec({ processes });
      await untilSettled(world, 30 * minuteMs);
      await assertAllCopies(world);
    },
  );
});

test("[R101] pods that are lost after such a change come back on their volumes", async () => {
  const automationOptions = { podUpdateStrategy: "Delete", maxConcurrentReplacements: 0 } as const;
  const halted = { ...spec, automationOptions };
  await TestWorld.runWithCluster({ spec: halted, nodes: 9 }, async (world) => {
    await world.changeSpec({ processes: withEmptyDirectory() });
    await world.clock.advance(5_000);
    for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
    await world.until(
      async () => (await world.pods()).length === 9 && (await isServing(world)),
      "all pods are back",
    );
    await assertAllCopies(world);
    await putBack(world);
    await untilSettled(world, 30 * minuteMs);
    await assertAllCopies(world);
  });
});

function isServing(world: TestWorld): Promise<boolean> {
  return Promise.resolve(world.world.fdb.truth.databases().every(({ isAvailable }) => isAvailable));
}
