// Coordinators that are known by DNS names, of several resources that prepare an upgrade at the same time.
// Rules: spec/upgrade.md [U34].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { newVersion, oldVersion } from "./upgrade-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

/** Coordinators without a name at this moment, since their pods are not ready. */
async function nameless(world: MultiTestWorld, coordinators: readonly string[]): Promise<number> {
  let count = 0;
  for (const name of world.names) {
    for (const { metadata, status } of await world.at(name).pods()) {
      if (!coordinators.some((text) => text.startsWith(`${metadata.name}.`))) continue;
      const isReady = status?.containerStatuses?.every(({ ready }) => ready) === true;
      if (!isReady) count += 1;
    }
  }
  return count;
}

for (const imageType of ["unified", "split"] as const) {
  test(`[U34] resources that prepare an upgrade at once leave most coordinators their names (${imageType}, long)`, async (context) => {
    const { names } = threeClusters;
    await MultiTestWorld.run({ names }, async (world) => {
      await createRegions(world, threeClusters, { version: oldVersion, imageType });
      await world.clock.advance(2 * minuteMs);
      const { connectionString } = world.database;
      const coordinators = coordinatorsOf(connectionString);
      assert.equal(await nameless(world, coordinators), 0);
      const startMs = world.clock.nowMs();
      await world.changeAll({ version: newVersion });
      let most = 0;
      while (world.acts("killProcesses", startMs).length === 0) {
        await world.clock.advance(100);
        most = Math.max(most, await nameless(world, coordinators));
        assert.ok(world.clock.nowMs() < startMs + 10 * minuteMs, "no restart");
      }
      const seconds = (world.clock.nowMs() - startMs) / 1000;
      context.diagnostic(`${most} of ${coordinators.length} at once, restart after ${seconds} s`);
      assert.ok(most > 0 && most < coordinators.length / 2, `${most} of ${coordinators.length}`);
      await world.untilAllReconciled(2 * hourMs);
      world.assertDataSafe();
    });
  });
}
