// Pods of a new specification that do not come back: the first ones stop the others, and taking it back heals.
// Rules: spec/restart.md [T117].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { acts, isReconciled, templateWith, untilBlocked, whileServing } from "./restart-harness.ts";
import { frugalProcesses, minuteMs, small, TestWorld } from "./world-harness.ts";

/** It can lose two fault domains at once. */
const triple: Partial<ClusterSpec> = {
  ...small,
  databaseConfiguration: { redundancy_mode: "triple" },
  processCounts: { storage: 5, log: 5, stateless: 6 },
  automationOptions: { podUpdateStrategy: "Delete" },
};
const options = { spec: triple, nodes: 17 };

/** Pods of one class whose first container is another one. */
function containerOf(processClass: string, image: string, command: string[]): Partial<ClusterSpec> {
  const { containers = [] } = frugalProcesses?.["general"]?.podTemplate?.spec ?? {};
  const [main = { name: "foundationdb" }, ...others] = containers;
  const wrong = [{ ...main, image, command }, ...others];
  const podTemplate = { spec: { containers: wrong } };
  return { processes: { ...frugalProcesses, [processClass]: { podTemplate } } };
}

function deleted(world: TestWorld): Set<string> {
  const all = acts(world, "deletePods").flatMap((act) => act.pods);
  return new Set(all.map((pod) => pod.processGroupId));
}

const noTag = { imageConfigs: [{ tag: "no-such-tag" }] };
const ending = ["sh", "-c", "exit 1"];

const cases: readonly [string, Partial<ClusterSpec>, object, RegExp][] = [
  [
    "stateless pods with an image that runs something else",
    containerOf("stateless", "example.org/nginx", []),
    { processes: { stateless: null } },
    /does not come back: its processes do not report to the database/,
  ],
  [
    "storage pods with a container that ends again and again",
    containerOf("storage", "example.org/busybox", ending),
    { processes: { storage: null } },
    /does not come back: a container ends again and again: foundationdb, exit code 1/,
  ],
  [
    "an image that cannot be pulled",
    { mainContainer: noTag },
    { mainContainer: null },
    /does not come back: its image cannot be pulled: /,
  ],
];

for (const [what, wrong, back, message] of cases) {
  test(`[T117] ${what}: the first fault domain stops the others, is explained, and heals when it is taken back (long)`, async () => {
    await TestWorld.runWithCluster(options, async (world) => {
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec(wrong);
      const blocked = await untilBlocked(world, "CanaryFailed");
      assert.match(blocked.message, message);
      assert.match(blocked.remedy ?? "", /kubectl describe pod sample-/);
      const [event] = await world.events("CanaryFailed");
      assert.equal(event?.type, "Warning");
      let passedMs = 0;
      await whileServing(world, () => Promise.resolve((passedMs += 1_000) > 10 * minuteMs));
      assert.equal(deleted(world).size, 1);
      await world.changeSpec(back as Partial<ClusterSpec>);
      await world.untilReconciled(10 * minuteMs);
      assert.equal(deleted(world).size, 1);
      world.assertDataSafe();
    });
  });
}

test("[T117] a corrected image is another try: the one pod is made again, and the others follow (long)", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec({ mainContainer: noTag });
    await untilBlocked(world, "CanaryFailed");
    const env = templateWith("42");
    await world.changeSpec({ mainContainer: null, ...env } as Partial<ClusterSpec>);
    await whileServing(world, () => isReconciled(world));
    assert.equal(deleted(world).size, 16);
    world.assertDataSafe();
  });
});

test("[T117] an operator that starts after the first pod has failed touches no other", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec({ mainContainer: noTag });
    await untilBlocked(world, "CanaryFailed");
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    world.world.startOperator();
    await world.clock.advance(10 * minuteMs);
    await untilBlocked(world, "CanaryFailed");
    assert.equal(deleted(world).size, 1);
  });
});
