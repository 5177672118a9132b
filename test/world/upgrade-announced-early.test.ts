// What an operator announces whose copies of pods are behind. Rules: spec/upgrade.md [U22].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { laggingWatch } from "../../src/sim/faults/lagging-watch.ts";
import { announced, newVersion, oldVersion, upgradeWorld } from "./upgrade-harness.ts";
import { minuteMs } from "./world-harness.ts";

for (const lagMs of [0, 300]) {
  test(`[U22] an image that does not exist is not announced by an operator that is ${lagMs} ms behind`, async () => {
    const clock = new VirtualClock();
    const conditions = { lagMs: 0 };
    const options = {
      clock,
      spec: { routing: { useDNSInClusterFile: false } },
      wrapTransport: (transport: Parameters<typeof laggingWatch>[0]) =>
        laggingWatch(transport, clock, conditions),
    };
    await upgradeWorld(options, async (world) => {
      conditions.lagMs = lagMs;
      const imageConfigs = [{ version: newVersion, tag: "nowhere" }];
      await world.changeSpec({ version: newVersion, mainContainer: { imageConfigs } });
      await world.clock.advance(2 * minuteMs);
      assert.equal(await announced(world), oldVersion);
    });
  });
}
