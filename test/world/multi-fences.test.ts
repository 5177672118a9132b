// Fences of several instances of one database that act as one. Rules: spec/fencing.md [FENCE14].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readAnnouncements } from "../../src/fdb/announcements.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { minuteMs, tiny } from "./world-harness.ts";

async function messageOf(
  world: MultiTestWorld,
  name: string,
  reason: string,
): Promise<string | undefined> {
  const { status } = await world.cluster(name);
  return status?.blockedBy?.find((wait) => wait.reason === reason)?.message;
}

async function storageOf(world: MultiTestWorld, name: string): Promise<string> {
  const { status } = await world.cluster(name);
  const found = status?.processGroups?.find(({ processClass }) => processClass === "storage");
  return found?.processGroupID ?? "";
}

function announced(world: MultiTestWorld): Promise<ReadonlyMap<string, string>> {
  return world.withKeys((keys) => readAnnouncements(keys, "fences"));
}

test("[FENCE14] in global mode the others count the fault domain as down for as long as the fence stands (long)", async () => {
  const names = ["west", "east"];
  await MultiTestWorld.run({ names, nodes: 9 }, async (world) => {
    const automationOptions = { synchronizationMode: "global" as const };
    const processCounts = { storage: 3, log: 3, stateless: 3 };
    await world.createJoined(() => ({
      ...tiny,
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts,
      imageType: "unified",
      automationOptions,
    }));
    await world.untilAllReconciled();
    const [west, east] = [await storageOf(world, "west"), await storageOf(world, "east")];
    const fence = (name: string, ids: readonly string[] | null): Promise<unknown> =>
      world.at(name).changeSpec({ fence: ids }, { name });
    const until = (name: string, reason: string): Promise<number> =>
      world.first.until(
        async () => (await messageOf(world, name, reason)) !== undefined,
        `${name}: ${reason}`,
        20 * minuteMs,
        { name: "west" },
      );
    await fence("west", [west]);
    await until("west", "ProcessGroupFenced");
    // FoundationDB has made other copies by then, and could lose one more.
    await world.clock.advance(20 * minuteMs);
    assert.deepEqual([...(await announced(world)).keys()], ["west"]);
    await fence("east", [east]);
    await until("east", "FenceHeld");
    await world.clock.advance(10 * minuteMs);
    assert.match(
      (await messageOf(world, "east", "FenceHeld")) ?? "",
      new RegExp(`instance west has fenced ${west}`),
    );
    await fence("west", null);
    await until("east", "ProcessGroupFenced");
    await fence("east", null);
    await world.untilAllReconciled();
    assert.deepEqual([...(await announced(world)).keys()], []);
    world.assertDataSafe();
  });
});
