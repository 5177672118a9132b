// Databases that were lost in the middle of a change of where data lies on volumes. Rules: spec/adoption.md [ADO20].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { layoutOnClaim } from "../../src/plan/view/disk-layout.ts";
import { adopt, before, claimsNow, loseAllButDisks } from "./adoption-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

test("[ADO20] claims of one class that say different things about where data lies are told, and no database is created (long)", async () => {
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
    await world.clock.advance(5 * minuteMs);
    const { conditions = [] } = (await world.cluster()).status ?? {};
    const warning = conditions.find(({ type }) => type === "Warning");
    assert.equal(warning?.reason, "DiskLayoutsDiffer");
    assert.match(warning?.message ?? "", /at the root on sample-.* in 1 folder on sample-/);
    assert.equal(world.world.fdb.truth.databases().length, 1, "the old one");
    assert.deepEqual(world.world.fdb.truth.dataLost(), []);
  });
});
