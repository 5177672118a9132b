// Servers that have just started on the disks of a database are left alone until they had their time to serve.
// Rules: spec/adoption.md [ADO22].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { adopt, afterLoss, before, cordonAll } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { acts } from "./restart-harness.ts";
import { minuteMs } from "./world-harness.ts";

for (const isLate of [false, true]) {
  test(`[ADO22] a database that comes back is not taken down while its servers have just started${isLate ? " in pods that waited for a node" : ""}`, async () => {
    const automationOptions = { podUpdateStrategy: "Delete" } as const;
    const former = { ...before, automationOptions };
    await afterLoss(async (world, { connectionString: seedConnectionString }) => {
      if (isLate) await cordonAll(world, true);
      await world.createCluster({ ...former, adopt, seedConnectionString });
      if (isLate) {
        await world.until(async () => (await world.pods()).length > 0, "the pods are made");
        await world.clock.advance(1.5 * minuteMs);
        await cordonAll(world, false);
      }
      const addresses = async (): Promise<string[]> => {
        const found = (await world.pods()).map(({ status }) => status?.podIP ?? "");
        return found.includes("") ? [] : found;
      };
      await world.until(async () => (await addresses()).length > 0, "all pods have addresses");
      // The servers need a while to find each other.
      const { faults } = world.world.fdb;
      for (const address of await addresses()) faults.cutAddress(address);
      await world.until(
        async () => (await world.pods()).every(({ status }) => status?.phase === "Running"),
        "all pods run",
      );
      const env = [{ name: "CHANGED", value: "meanwhile" }];
      const podTemplate = { spec: { containers: [{ name: "foundationdb", env }] } };
      await world.changeSpec({ processes: { general: { podTemplate } } });
      await world.clock.advance(20_000);
      for (const address of await addresses()) faults.restoreAddress(address);
      await world.untilReconciled(40 * minuteMs);
      const early = acts(world, "deletePods").filter(({ because }) => because === "early");
      assert.deepEqual(early, []);
      const waits = world.activities.flatMap((each) => (each.type === "waits" ? each.waits : []));
      assert.ok(waits.some(({ message }) => message.includes("may be about to serve")));
      await assertAllCopies(world);
    }, former);
  });
}
