// A volume that was let go without proof, and that turns out to hold the last copy of something.
// Rules: spec/quarantine.md [QUA11], [QUA12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { runPlugin } from "../plugin/plugin-harness.ts";
import type { PluginResult } from "../plugin/plugin-harness.ts";
import { commandsOf, groups, spreadOver } from "./removal-harness.ts";
import { hourMs, minuteMs, nameOf, TestWorld } from "./world-harness.ts";

const counts = { storage: 4, log: 3, stateless: 3 };
const automationOptions = { volumeQuarantine: "24h", waitBetweenRemovalsSeconds: 0 };

/** A storage process group, and the node of one that has the other copy of some of its data. */
async function pairOf(world: TestWorld): Promise<{ id: string; node: string }> {
  const [first] = await groups(world, "storage");
  const id = first?.processGroupID ?? "";
  const pods = await world.pods("storage");
  const ipOf = (name: string): string =>
    pods.find((pod) => nameOf(pod) === name)?.status?.podIP ?? "";
  const own = `${ipOf(`sample-${id}`)}:`;
  const addresses = world.world.fdb.truth
    .replicas()
    .map(({ replicas }) => replicas.map(({ address }) => address))
    .find((all) => all.some((address) => address.startsWith(own)));
  const other = addresses?.find((address) => !address.startsWith(own)) ?? "";
  const pod = pods.find(({ status }) => other.startsWith(`${status?.podIP ?? ""}:`));
  return { id, node: pod?.spec?.nodeName ?? "" };
}

test("[QUA11] [QUA12] a volume that was let go without proof brings a database back that is down for want of it (long)", async () => {
  await TestWorld.runWithCluster(spreadOver(counts, { automationOptions }), async (world) => {
    await world.clock.advance(2 * minuteMs);
    const { id, node } = await pairOf(world);
    const restore = (): Promise<PluginResult> =>
      runPlugin(world, ["quarantine", "restore", "-c", "sample", id, "--yes"]);
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
    const isGone = async (): Promise<boolean> =>
      commandsOf(world, "removeProcessGroups").length > 0 &&
      (await world.pods()).every((pod) => nameOf(pod) !== `sample-${id}`);
    await world.until(isGone, `${id} is let go`);
    // Before the database has made other copies, the other one is lost.
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "the loss of a node");
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: null });
    await world.clock.advance(minuteMs);
    const early = await restore();
    assert.equal(early.code, 1);
    assert.match(early.notes, /the removal of process group storage-\d+ is not over yet/);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.cluster()).status?.health?.available, false);
    const given = await restore();
    assert.equal(given.code, 0, given.notes);
    const isBack = async (): Promise<boolean> =>
      (await world.cluster()).status?.health?.available === true;
    await world.until(isBack, "the database is back", 5 * minuteMs);
    world.assertDataSafe();
    await world.during(world.world.kubelet.startNode(node), minuteMs, "the node is back");
    await world.untilReconciled(hourMs);
    world.assertDataSafe();
  });
});
