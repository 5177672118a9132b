// Of which version the servers of a database are that comes back from its disks, where neither the images of the pods nor
// the spec tell it. Rules: spec/adoption.md [ADO7].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { adopt, afterLoss, before, made, untilWait } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { newVersion, oldVersion } from "./upgrade-harness.ts";
import { minuteMs } from "./world-harness.ts";

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
