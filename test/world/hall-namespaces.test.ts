// One database of three resources in three namespaces, each in one hall that its processes learn from a label of the
// node: what each of them knows of the others. Rules: spec/halls.md [HALL16], [HALL40], [HALL41].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { nodes } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { hallNodes, threeHalls, zoneLabel } from "./hall-harness.ts";
import { frugalProcesses, minuteMs, TestWorld } from "./world-harness.ts";
import type { ClusterName } from "./world-harness.ts";

const containers = frugalProcesses?.["general"]?.podTemplate?.spec?.containers ?? [];
const halls = ["zone-1", "zone-2", "zone-3"] as const;

function placeOf(hall: string): ClusterName {
  return { name: hall, namespace: hall };
}

/** Hall modes need all halls at once, so a database that is spread by resources begins without one. */
async function createTriple(world: TestWorld, key: string): Promise<void> {
  let seed = {};
  for (const [index, hall] of halls.entries()) {
    await world.createNamespace(hall);
    const spec: Partial<ClusterSpec> = {
      databaseConfiguration: { redundancy_mode: "triple" },
      processGroupIDPrefix: hall,
      localities: [{ key, topologyKey: zoneLabel }],
      processCounts: { storage: 3, log: 3, stateless: 3 },
      processes: {
        general: { podTemplate: { spec: { containers, nodeSelector: { [zoneLabel]: hall } } } },
      },
      ...seed,
    };
    await world.createCluster(spec, placeOf(hall));
    if (index > 0) continue;
    const chosen = async (): Promise<boolean> => {
      const { connectionString } = (await world.cluster(placeOf(hall))).status ?? {};
      seed = { seedConnectionString: connectionString };
      return connectionString !== undefined;
    };
    await world.until(chosen, "coordinators are chosen", 10 * minuteMs, placeOf(hall));
  }
  for (const hall of halls) await world.untilReconciled(20 * minuteMs, placeOf(hall));
}

async function coordinators(world: TestWorld): Promise<Record<string, number>> {
  const { status } = await world.cluster(placeOf("zone-1"));
  const names = coordinatorsOf(status?.connectionString ?? "");
  const found: Record<string, number> = {};
  for (const name of names) {
    const hall = halls.find((each) => name.includes(`.${each}.`)) ?? "";
    found[hall] = (found[hall] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(found).sort());
}

for (const [mode, key] of [
  ["three_data_hall", "data_hall"],
  ["three_datacenter", "dcid"],
] as const) {
  test(`[HALL40] ${mode} from a label, each hall a resource of its own: nine coordinators, and no hall is missing (long)`, async () => {
    await TestWorld.run({ nodes: 15, zones: 3 }, async (world) => {
      await createTriple(world, key);
      for (const hall of halls) {
        await world.changeSpec({ databaseConfiguration: { redundancy_mode: mode } }, placeOf(hall));
      }
      await world.clock.advance(5 * minuteMs);
      for (const hall of halls) {
        await world.untilReconciled(20 * minuteMs, placeOf(hall));
        const { status } = await world.cluster(placeOf(hall));
        assert.equal(conditionIn(status, "Warning"), undefined);
      }
      assert.deepEqual(await coordinators(world), { "zone-1": 3, "zone-2": 3, "zone-3": 3 });
      world.assertDataSafe();
    });
  });
}

test("[HALL41] a hall that loses its zones under a running database is the condition Warning", async () => {
  await TestWorld.runWithCluster({ nodes: 9, zones: 3, spec: threeHalls }, async (world) => {
    const [, ...others] = await hallNodes(world, "zone-3");
    for (const name of others) {
      const labels = { [zoneLabel]: "zone-4" };
      await world.client.patch(nodes, { name }, { metadata: { labels } }, { type: "merge" });
    }
    await world.clock.advance(5 * minuteMs);
    const { status } = await world.cluster();
    const told = conditionIn(status, "Warning");
    assert.equal(told?.reason, "HallsMissing");
    assert.match(told?.message ?? "", /hall zone-3 has 1 zone, at least 2 needed/);
    world.assertDataSafe();
  });
});
