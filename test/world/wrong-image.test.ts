// An image that is not FoundationDB's, or ends at once, and its correction. Rules: spec/restart.md [T58], spec/plan.md [P78].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { groups } from "./removal-harness.ts";
import { frugalProcesses, minuteMs, small, TestWorld } from "./world-harness.ts";

/** Storage pods whose first container is another one. */
function storageContainer(image: string, command: string[]): Partial<ClusterSpec> {
  const { containers = [] } = frugalProcesses?.["general"]?.podTemplate?.spec ?? {};
  const [main = { name: "foundationdb" }, ...others] = containers;
  const wrong = [{ ...main, image, command }, ...others];
  return {
    processes: { ...frugalProcesses, storage: { podTemplate: { spec: { containers: wrong } } } },
  };
}

const wrongs: readonly [string, Partial<ClusterSpec>][] = [
  ["runs", storageContainer("example.org/nginx", [])],
  ["ends again and again", storageContainer("example.org/busybox", ["sh", "-c", "exit 1"])],
];

for (const imageType of ["unified", "split"] as const) {
  for (const [what, wrong] of wrongs) {
    test(`[T58] [P78] storage pods with an image that ${what} are made anew when it is corrected (${imageType} image)`, async () => {
      await TestWorld.runWithCluster({ nodes: 9, spec: { ...small, imageType } }, async (world) => {
        const before = (await groups(world, "storage")).map((group) => group.processGroupID);
        const automationOptions = { deletionMode: "None" };
        await world.changeSpec({ ...wrong, automationOptions, processCounts: { storage: 5 } });
        await world.clock.advance(5 * minuteMs);
        const names = (await groups(world, "storage"))
          .map((group) => group.processGroupID)
          .filter((id) => !before.includes(id));
        const { status } = await world.cluster();
        const degraded = conditionIn(status, "Degraded");
        assert.equal(
          degraded?.message,
          `All data has all its copies, and all processes run but ${names.join(" and ")}, which ${names.length === 1 ? "is" : "are"} still starting`,
        );
        await world.changeSpec({ processes: { storage: null }, automationOptions: null });
        await world.untilReconciled(3 * minuteMs);
        const after = (await groups(world, "storage")).map((group) => group.processGroupID);
        assert.deepEqual(after, [...before, ...names].sort());
        world.assertDataSafe();
      });
    });
  }
}

test("[T58] they are made anew also while the database misses another storage", async () => {
  const [, wrong] = wrongs[0] ?? ["", {}];
  await TestWorld.runWithCluster({ nodes: 9, spec: small }, async (world) => {
    const automationOptions = { deletionMode: "None" };
    await world.changeSpec({ ...wrong, automationOptions, processCounts: { storage: 4 } });
    await world.clock.advance(2 * minuteMs);
    const [victim] = (await world.pods("storage")).filter((pod) =>
      pod.spec?.containers.some(({ image }) => image?.includes("nginx") === false),
    );
    const ip = victim?.status?.podIP ?? "";
    world.world.network.cut(ip);
    world.world.fdb.faults.cutAddress(ip);
    await world.clock.advance(minuteMs);
    await world.changeSpec({ processes: { storage: null }, automationOptions: null });
    await world.until(
      async () =>
        (await groups(world, "storage")).every((group) => group.faultDomain !== undefined),
      "the new storage reports",
      5 * minuteMs,
    );
    world.world.network.heal(ip);
    world.world.fdb.faults.restoreAddress(ip);
    await world.untilReconciled(5 * minuteMs);
    world.assertDataSafe();
  });
});
