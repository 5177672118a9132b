// An operator that dies between any two writes of a creation, and its successor.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { configMaps, persistentVolumeClaims, pods, services } from "../../src/kube/resource.ts";
import { FullWorld } from "./full-world.ts";
import type { Crash } from "./full-world.ts";

const spec = {
  databaseConfiguration: { redundancy_mode: "single" },
  processCounts: { storage: 1, log: 1, stateless: 1 },
} as const;

interface Outcome {
  objects: readonly number[];
  classes: readonly (string | undefined)[];
  isAvailable: boolean | undefined;
  created: number;
  hasCrashed: boolean;
}

async function create(crash?: Crash): Promise<Outcome> {
  const world = await FullWorld.open({ seed: 21, nodes: 3, spec });
  let running = world.startOperator(crash);
  await world.createCluster();
  const hasCrashed = crash !== undefined && (await untilDead(world, running.isDead));
  if (hasCrashed) {
    await running.stop();
    running = world.startOperator();
  }
  await world.untilReconciled(180_000);
  const { status } = await world.cluster();
  const namespace = "default";
  const lists = [
    await world.client.list(pods, { namespace }),
    await world.client.list(persistentVolumeClaims, { namespace }),
    await world.client.list(services, { namespace }),
    await world.client.list(configMaps, { namespace }),
  ];
  const commands = world.activities.filter(
    (activity) => activity.type === "action" && activity.action.type === "configureDatabase",
  );
  await running.stop();
  world.close();
  return {
    objects: lists.map((list) => list.items.length),
    classes: status?.processGroups?.map((group) => group.processClass) ?? [],
    isAvailable: status?.health?.available,
    created: commands.length,
    hasCrashed,
  };
}

async function untilDead(world: FullWorld, isDead: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < 60 && !isDead(); waited += 1) await world.clock.advance(500);
  return isDead();
}

for (const moment of ["before", "after"] as const) {
  test(`[OP48] a crash ${moment} any write of the creation leads to the same end (long)`, async () => {
    const whole = await create();
    let crashes = 0;
    for (let write = 1; write <= 40; write += 1) {
      const outcome = await create({ write, moment });
      if (!outcome.hasCrashed) break;
      crashes += 1;
      const expected = { ...whole, hasCrashed: true };
      assert.deepEqual(outcome, expected, `crash ${moment} write ${write}`);
    }
    assert.ok(crashes >= 12, `${crashes} crashes`);
  });
}
