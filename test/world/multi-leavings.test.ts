// Entries in the coordination sets that nobody stands behind any more, and what other instances make of them.
// Rules: spec/multi.md [MU50]-[MU59].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { updateSets } from "../../src/fdb/coordination-sets.ts";
import type { EntryUpdate } from "../../src/fdb/coordination-sets.ts";
import { hostOf } from "../../src/plan/safety/view.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

type Mode = "local" | "global";

export function plainSpec(mode: Mode, more: Partial<ClusterSpec> = {}): Partial<ClusterSpec> {
  const { automationOptions, ...rest } = more;
  return {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 3, log: 3, stateless: 2 },
    minimumUptimeSecondsForBounce: 30,
    lockOptions: { disableLocks: false },
    automationOptions: {
      synchronizationMode: mode,
      waitBetweenRemovalsSeconds: 0,
      ...automationOptions,
    },
    ...rest,
  };
}

/** Clusters of one database at rest, each in its mode. */
async function run(
  modes: Readonly<Record<string, Mode>>,
  more: Partial<ClusterSpec>,
  body: (world: MultiTestWorld) => Promise<void>,
): Promise<void> {
  await MultiTestWorld.run({ names: Object.keys(modes), nodes: 4 }, async (world) => {
    await world.createJoined((name) => plainSpec(modes[name] ?? "local", more));
    await world.untilAllReconciled();
    await world.clock.advance(3 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}

async function groupsOf(world: MultiTestWorld, name: string, ...classes: string[]) {
  const groups = (await world.cluster(name)).status?.processGroups ?? [];
  return groups.filter(({ processClass }) => classes.includes(processClass));
}

async function replace(world: MultiTestWorld, name: string, ...classes: string[]): Promise<void> {
  const processGroupsToRemove = (await groupsOf(world, name, ...classes)).map(
    ({ processGroupID }) => processGroupID,
  );
  await world.at(name).changeSpec({ processGroupsToRemove }, { name });
}

for (const useLocalitiesForExclusion of [true, false]) {
  const how = useLocalitiesForExclusion ? "localities" : "addresses";
  test(`[MU50] entries of process groups that are gone exclude nobody, by ${how}`, async () => {
    const automationOptions = { useLocalitiesForExclusion };
    await run({ east: "global", west: "local" }, { automationOptions }, async (world) => {
      const living = await groupsOf(world, "west", "log", "stateless");
      const hosts = living.flatMap(({ addresses = [] }) => addresses);
      assert.ok(hosts.length >= 5);
      // What the pods had announced whose addresses these processes have got since.
      const gone = new Map<string, EntryUpdate>();
      const pending = new Map<string, EntryUpdate>();
      for (const [index, host] of hosts.entries()) {
        const id = `west-log-${90_000 + index}`;
        const target = useLocalitiesForExclusion ? `locality_instance_id:${id}` : host;
        gone.set(id, { action: "add", targets: [target] });
        pending.set(id, { action: "add" });
      }
      await world.withKeys((shared) =>
        updateSets(shared, "west", { pendingForExclusion: pending, readyForExclusion: gone }),
      );
      await replace(world, "east", "log", "stateless");
      await world.untilAllReconciled(2 * hourMs);
      const targets = world.acts("excludeProcesses").flatMap(({ action }) => action.targets);
      assert.ok(targets.length > 0);
      const strangers = targets.filter(
        (target) => target.includes("west-") || hosts.includes(hostOf(target)),
      );
      assert.deepEqual(strangers, []);
    });
  });
}
