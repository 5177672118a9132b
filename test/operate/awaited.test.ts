// How often a cluster is looked at while something is awaited from its database.
// Rules: spec/operate.md [OP65], [OP66].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { minuteMs, small, TestWorld } from "../world/world-harness.ts";
import { withAdmin } from "../world/with-admin.ts";

test("[OP65] [OP66] what lasts is looked at with each status, and statuses become rarer", async () => {
  let asked = 0;
  const wrapAdmin = withAdmin((client) => ({
    status: (timeoutMs) => {
      asked += 1;
      return client.status(timeoutMs);
    },
  }));
  const spec = { ...small, automationOptions: { replacements: { enabled: false } } };
  await TestWorld.runWithCluster({ spec, nodes: 8, wrapAdmin }, async (world) => {
    await world.clock.advance(5 * minuteMs);
    const [pod] = await world.pods("storage");
    await world.during(
      world.world.kubelet.stopNode(pod?.spec?.nodeName ?? ""),
      minuteMs,
      "the loss of a node",
    );
    // No other pod may go while that process is missing.
    const containers = [{ name: "foundationdb", env: [{ name: "ANSWER", value: "42" }] }];
    await world.changeSpec({ processes: { general: { podTemplate: { spec: { containers } } } } });
    await world.clock.advance(3 * minuteMs);
    const [passes, statuses] = [world.world.operator.counters().passes, asked];
    await world.clock.advance(5 * minuteMs);
    const [moreStatuses, morePasses] = [
      asked - statuses,
      world.world.operator.counters().passes - passes,
    ];
    // Every second it would be three hundred, and passes in between as many again.
    assert.ok(moreStatuses > 50 && moreStatuses < 150, `${moreStatuses} statuses in 5 minutes`);
    assert.ok(morePasses < 1.5 * moreStatuses, `${morePasses} passes, ${moreStatuses} statuses`);
  });
});
