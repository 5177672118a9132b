// A seed that is left in the spec when the database came back from its disks, and coordinators that change afterwards.
// Rules: spec/adoption.md [ADO19].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import { adopt, before } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { acts } from "./restart-harness.ts";
import { frugalProcesses, keyOfObject, minuteMs, TestWorld } from "./world-harness.ts";

/** The process groups of the seed are gone, and then the status. */
async function withOutdatedSeed(
  routing: ClusterSpec["routing"],
  body: (world: TestWorld, connectionString?: string) => Promise<void>,
): Promise<void> {
  const options = { nodes: 9, spec: { ...before, routing } };
  await TestWorld.runWithCluster(options, async (world) => {
    const seedConnectionString = (await world.cluster()).status?.connectionString ?? "";
    await world.changeSpec({ adopt, seedConnectionString, processGroupIDPrefix: "new" });
    await world.untilReconciled(60 * minuteMs);
    const { status, ...rest } = await world.cluster();
    assert.notEqual(status?.connectionString, seedConnectionString);
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
    world.activities.length = 0;
    await body(world, status?.connectionString);
    await assertAllCopies(world);
  });
}

test("[ADO19] the status is lost when coordinators have changed since: a database that serves is not taken down (long)", async () => {
  const routing = { publicIPSource: "service", useDNSInClusterFile: false } as const;
  await withOutdatedSeed(routing, async (world) => {
    const processes = structuredClone(frugalProcesses) ?? {};
    const [main] = processes["general"]?.podTemplate?.spec?.containers ?? [];
    if (main) main.env = [{ name: "ANSWER", value: "42" }];
    await world.changeSpec({ processes });
    world.world.startOperator();
    await world.untilReconciled(60 * minuteMs);
    const early = acts(world, "deletePods").filter(({ because }) => because === "early");
    assert.deepEqual(early, []);
  });
});

test("[ADO19] the status is lost with all pods when coordinators have changed since: the database comes back (long)", async () => {
  await withOutdatedSeed({ useDNSInClusterFile: true }, async (world, connectionString) => {
    for (const pod of await world.pods()) {
      await world.client.delete(pods, keyOfObject(pod), { gracePeriodSeconds: 0 });
    }
    world.world.startOperator();
    await world.untilReconciled(20 * minuteMs);
    assert.equal((await world.cluster()).status?.connectionString, connectionString);
  });
});
