// Of which version the servers of a database are that comes back from its disks, where neither the images of the pods nor
// the spec tell it. Rules: spec/adoption.md [ADO7], [ADO17], [ADO23].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { adopt, afterLoss, before, cordonAll, made, untilWait } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { acts } from "./restart-harness.ts";
import {
  allowRestart,
  assertAllOn,
  killsOf,
  newVersion,
  nine,
  oldVersion,
  upgradeLimitMs,
  upgradeWorld,
} from "./upgrade-harness.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

async function loseStatus(world: TestWorld): Promise<void> {
  await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
  const { status: _, ...rest } = await world.cluster();
  await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
  world.activities.length = 0;
  world.world.startOperator();
}

for (const imageType of ["unified", "split"] as const) {
  for (const isRestarted of [false, true]) {
    const when = isRestarted ? "after" : "before";
    test(`[ADO17] the status is lost ${when} all processes (${imageType}) change their version: none is taken down unseen (long)`, async () => {
      await upgradeWorld({ spec: { imageType } }, async (world) => {
        const automationOptions = { ...nine.automationOptions, killProcesses: false };
        await world.changeSpec({ adopt, version: newVersion, automationOptions });
        await untilWait(world, "ProcessNeedsRestart");
        if (isRestarted) {
          await allowRestart(world);
          await world.until(() => Promise.resolve(killsOf(world).length > 0), "the restart");
        }
        await loseStatus(world);
        if (!isRestarted) await allowRestart(world);
        await world.untilReconciled(upgradeLimitMs);
        const early = acts(world, "deletePods").filter(({ because }) => because === "early");
        assert.deepEqual(early, []);
        assert.equal(killsOf(world).length, isRestarted ? 0 : 1);
        await assertAllOn(world, newVersion);
      });
    });
  }
}

test("[ADO7] a version that was wrong beside a wrong image is corrected although servers of it run without a database", async () => {
  const former = { ...before, version: newVersion, imageType: "unified" } as const;
  await afterLoss(async (world, lost) => {
    const { connectionString: seedConnectionString } = lost;
    const wrong = { version: oldVersion, imageType: "split" } as const;
    await world.createCluster({ ...former, ...wrong, adopt, seedConnectionString });
    await untilWait(world, "DatabaseNotReady");
    await world.clock.advance(5 * minuteMs);
    await world.changeSpec({ version: newVersion });
    const isCorrected = async (): Promise<boolean> => {
      const images = (await world.pods()).flatMap(({ spec }) => spec?.containers ?? []);
      return images.every(({ image }) => image?.includes(newVersion) === true);
    };
    await world.until(isCorrected, "pods of the right version", 5 * minuteMs);
    await world.changeSpec({ imageType: "unified" });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(made(world, lost).creations, []);
    await assertAllCopies(world);
  }, former);
});

test("[ADO23] a version that is corrected to one that may not read what was written meanwhile is warned of", async () => {
  await afterLoss(
    async (world, lost) => {
      const { connectionString: seedConnectionString } = lost;
      await cordonAll(world, true);
      await world.createCluster({ ...before, version: newVersion, adopt, seedConnectionString });
      await untilWait(world, "DatabaseNotReady");
      await world.changeSpec({ version: oldVersion });
      await world.clock.advance(minuteMs);
      const [event] = await world.events("SpecWarning");
      assert.match(event?.message ?? "", /^spec\.version: .*: set spec\.version to 7\.3\.63 again/);
      await cordonAll(world, false);
      await world.untilReconciled(20 * minuteMs);
    },
    { ...before, version: oldVersion },
  );
});
