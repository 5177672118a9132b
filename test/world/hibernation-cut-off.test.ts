// An operator that does not reach its database, which serves and is to sleep. Rules: spec/hibernation.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hibernationConsents } from "../../src/api/hibernation.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { commandsOf } from "./removal-harness.ts";
import { minuteMs, small } from "./world-harness.ts";

const name = "alone";
const client = { address: "10.77.0.9:4000", logGroup: "shop", versions: ["7.3.63"] };

test("[HIB5] [HIB7] an operator that is cut off does not take the database for one that others have stopped", async () => {
  await MultiTestWorld.run({ names: [name], nodes: 9 }, async (world) => {
    await world.createJoined(() => small);
    await world.untilAllReconciled();
    const site = world.at(name);
    site.world.fdb.addClient(world.database.connectionString, client);
    await world.clock.advance(minuteMs);
    const wish = { hibernate: true, hibernateDespite: ["SharedDatabase"] };
    await site.changeSpec(wish, { name });
    await world.clock.advance(2 * minuteMs);
    const told = async (): Promise<string[]> => {
      const { blockedBy = [] } = (await world.cluster(name)).status ?? {};
      return blockedBy
        .filter(({ step }) => step === "hibernate")
        .map(({ reason, message }) => `${reason}: ${message}`);
    };
    assert.deepEqual(await told(), ["HibernationUnconfirmed: 1 client connected: 10.77.0.9:4000"]);
    world.links(name).database.cut();
    await world.clock.advance(20 * minuteMs);
    assert.deepEqual(commandsOf(site, "deletePods"), []);
    assert.match((await told()).join(), /HibernationUnconfirmed: No coordinator answers/);
    world.assertDataSafe();
    // Who accepts that by name knows what runs.
    await site.changeSpec({ hibernateDespite: [...hibernationConsents] }, { name });
    await world.clock.advance(2 * minuteMs);
    assert.equal(commandsOf(site, "deletePods").length, 1);
  });
});
