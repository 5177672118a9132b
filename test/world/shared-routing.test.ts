// One database of three resources, each with a third of the coordinators, that gives up their names: what a resource makes
// anew is a small part of the database. Rules: spec/plan.md [P117].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const halls = ["az1", "az2", "az3"] as const;

test("[P117] a shared database gives up names of its coordinators soon after a recovery, and no pod is made anew again and again (long)", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    let seed: Partial<ClusterSpec> = {};
    for (const name of halls) {
      await world.createCluster({ ...specOf(name), ...seed }, { name });
      const isKnown = async (): Promise<boolean> => {
        const { connectionString } = (await world.cluster({ name })).status ?? {};
        seed = { seedConnectionString: connectionString };
        return connectionString !== undefined;
      };
      await world.until(isKnown, "coordinators are known", 2 * minuteMs, { name });
    }
    for (const name of halls) await world.untilReconciled(30 * minuteMs, { name });
    // A change of the configuration is a recovery, after which coordinators stay as they are for a minute.
    await world.changeSpec({ databaseConfiguration: { resolvers: 2 } }, { name: "az1" });
    await world.clock.advance(10_000);
    const routing = { useDNSInClusterFile: false };
    for (const name of halls) await world.changeSpec({ routing }, { name });
    for (const name of halls) await world.untilReconciled(30 * minuteMs, { name });
    world.assertDataSafe(1);
    assert.equal(deletions(world), 24, "each pod is made anew once");
  });
});

function specOf(dataHall: string): Partial<ClusterSpec> {
  return {
    dataHall,
    processGroupIDPrefix: dataHall,
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    processCounts: { storage: 3, log: 3, stateless: 2 },
    automationOptions: { deletionMode: "All", podUpdateStrategy: "Delete" },
  };
}

/** How often pods were made anew. */
function deletions(world: TestWorld): number {
  return world.activities
    .flatMap((activity) =>
      activity.type === "action" && activity.action.type === "deletePods"
        ? [activity.action.pods.length]
        : [],
    )
    .reduce((sum, count) => sum + count, 0);
}
