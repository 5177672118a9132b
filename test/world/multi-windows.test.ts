// Maintenance windows of several instances of one database. Rules: spec/windows.md [WIN24], [WIN25].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readAnnouncements } from "../../src/fdb/announcements.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { minuteMs, tiny } from "./world-harness.ts";

const windows = (cron: string) => ({
  automationOptions: { maintenanceWindows: [{ cron, duration: "2h", timeZone: "UTC" }] },
});

async function warning(world: MultiTestWorld, name: string): Promise<string | undefined> {
  const found = conditionIn((await world.cluster(name)).status, "Warning");
  return found?.reason === "MaintenanceWindowsApart" ? found.message : undefined;
}

test("[WIN24] [WIN25] windows that never meet are said at once by both instances, until they do", async () => {
  const names = ["west", "east"];
  await MultiTestWorld.run({ names }, async (world) => {
    const automationOptions = { synchronizationMode: "global" as const };
    await world.createJoined(() => ({ ...tiny, automationOptions }));
    await world.untilAllReconciled();
    await world.at("west").changeSpec(windows("0 2 * * *"), { name: "west" });
    await world.untilAllReconciled();
    await world.clock.advance(2 * minuteMs);
    for (const name of names) assert.equal(await warning(world, name), undefined);

    await world.at("east").changeSpec(windows("0 14 * * *"), { name: "east" });
    await world.clock.advance(2 * minuteMs);
    assert.match((await warning(world, "west")) ?? "", /instance east of the same database/);
    assert.match((await warning(world, "east")) ?? "", /instance west of the same database/);
    await world.untilAllReconciled();

    await world.at("east").changeSpec(windows("0 3 * * *"), { name: "east" });
    await world.clock.advance(2 * minuteMs);
    for (const name of names) assert.equal(await warning(world, name), undefined);

    const alone = { automationOptions: { synchronizationMode: "local" } };
    await world.at("west").changeSpec(alone, { name: "west" });
    await world.untilAllReconciled();
    assert.deepEqual(
      [...(await world.withKeys((keys) => readAnnouncements(keys, "windows"))).keys()],
      ["east"],
    );
  });
});
