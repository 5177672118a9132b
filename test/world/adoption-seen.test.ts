// A database that was brought back from its disks, and has been seen since, is no longer one that is to come back.
// Rules: spec/adoption.md [ADO24].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { adopt, afterLoss, before } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { acts } from "./restart-harness.ts";
import { minuteMs } from "./world-harness.ts";

for (const isRestarted of [false, true]) {
  test(`[ADO24] a status that is lost while the database is silent for a moment lets no pods go all at once${isRestarted ? ", also when the operator starts anew" : ""}`, async () => {
    const automationOptions = { podUpdateStrategy: "Delete" } as const;
    const former = { ...before, automationOptions };
    await afterLoss(async (world, { connectionString: seedConnectionString }) => {
      await world.createCluster({ ...former, adopt, seedConnectionString });
      await world.untilReconciled(20 * minuteMs);
      await world.clock.advance(5 * minuteMs);
      const { faults } = world.world.fdb;
      const addresses = (await world.pods()).map(({ status }) => status?.podIP ?? "");
      for (const address of addresses) faults.cutAddress(address);
      await world.clock.advance(5_000);
      const env = [{ name: "CHANGED", value: "meanwhile" }];
      const podTemplate = { spec: { containers: [{ name: "foundationdb", env }] } };
      await world.changeSpec({ processes: { general: { podTemplate } } });
      if (isRestarted) {
        await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
      }
      const { status: _, ...rest } = await world.cluster();
      await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
      if (isRestarted) world.world.startOperator();
      await world.clock.advance(20_000);
      for (const address of addresses) faults.restoreAddress(address);
      await world.untilReconciled(40 * minuteMs);
      const early = acts(world, "deletePods").filter(({ because }) => because === "early");
      assert.deepEqual(early, []);
      await assertAllCopies(world);
    }, former);
  });
}
