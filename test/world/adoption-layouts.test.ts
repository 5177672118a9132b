// Databases that were lost in the middle of a change of where data lies on volumes. Rules: spec/adoption.md [ADO20].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { layoutOnClaim } from "../../src/plan/view/disk-layout.ts";
import { adopt, before, claimsNow, loseAllButDisks } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

test("[ADO20] a database that was lost in the middle of another image comes back from both kinds of volumes, and the change goes on (long)", async () => {
  const spec: Partial<ClusterSpec> = {
    ...before,
    imageType: "split",
    automationOptions: { maxConcurrentReplacements: 1, waitBetweenRemovalsSeconds: 600 },
  };
  await TestWorld.runWithCluster({ nodes: 9, spec }, async (world) => {
    await world.changeSpec({ imageType: "unified" });
    const isHalfWay = async (): Promise<boolean> =>
      new Set((await claimsNow(world)).map(layoutOnClaim)).size > 1;
    await world.until(isHalfWay, "two kinds of claims", 60 * minuteMs);
    await world.clock.advance(2 * minuteMs);
    const { connectionString: seedConnectionString = "" } = (await world.cluster()).status ?? {};
    await loseAllButDisks(world);
    await world.createCluster({ ...spec, imageType: "unified", adopt, seedConnectionString });
    await world.untilReconciled(120 * minuteMs);
    assert.equal(world.world.fdb.truth.databases().length, 1, "the old one");
    await assertAllCopies(world);
    const layouts = (await claimsNow(world)).map(layoutOnClaim);
    assert.deepEqual([...new Set(layouts)], ["1"], "the change went on");
  });
});
