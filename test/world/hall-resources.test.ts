// Several resources of one database over halls, mistakes in a running one, and localities as the database shows them.
// Rules: spec/halls.md [HALL24]-[HALL28].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { databaseNodeRules, databasePodRules } from "../../src/operate/permissions.ts";
import { coordinatorsByHall, runExample, statusOf, threeHalls, zoneLabel } from "./hall-harness.ts";
import { acts } from "./restart-harness.ts";
import { frugalProcesses, minuteMs, small, TestWorld } from "./world-harness.ts";

/** The resource of one hall, whose pods stay in one zone of the nodes. */
function hallResource(hall: string, zone: string): Partial<ClusterSpec> {
  const template = frugalProcesses?.["general"]?.podTemplate;
  const spec = { ...template?.spec, containers: template?.spec?.containers ?? [] };
  const nodeSelector = { [zoneLabel]: zone };
  return {
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    processGroupIDPrefix: hall,
    localities: [{ key: "data_hall", value: hall }],
    processCounts: { storage: 3, log: 3, stateless: 3 },
    processes: { general: { podTemplate: { spec: { ...spec, nodeSelector } } } },
  };
}

const halls = ["az1", "az2", "az3"] as const;

test("[HALL25] a resource that does not agree about the mode reports it and reverts nothing (long)", async () => {
  await TestWorld.run({ nodes: 9, zones: 3 }, async (world) => {
    let seed = {};
    for (const [index, hall] of halls.entries()) {
      await world.createCluster(
        { ...hallResource(hall, `zone-${index + 1}`), ...seed },
        { name: hall },
      );
      if (index > 0) continue;
      const chosen = async (): Promise<boolean> => {
        const seedConnectionString = (await world.cluster({ name: hall })).status?.connectionString;
        seed = seedConnectionString === undefined ? {} : { seedConnectionString };
        return seedConnectionString !== undefined;
      };
      await world.until(chosen, "coordinators are chosen", 5 * minuteMs, { name: hall });
    }
    for (const name of halls) await world.untilReconciled(30 * minuteMs, { name });
    await world.clock.advance(2 * minuteMs);
    const read = async (): Promise<string> =>
      (await world.cluster({ name: "az1" })).status?.databaseConfiguration?.redundancy_mode ?? "";
    assert.equal(await read(), "three_data_hall");

    await world.changeSpec(
      { databaseConfiguration: { redundancy_mode: "triple" } },
      { name: "az2" },
    );
    await world.untilReconciled(30 * minuteMs, { name: "az2" });
    await world.clock.advance(10 * minuteMs);
    assert.equal(await read(), "triple", "the others did not revert it");
    for (const name of ["az1", "az3"]) {
      const { status } = await world.cluster({ name });
      const conflict = status?.blockedBy?.find(({ reason }) => reason === "ConfigurationConflict");
      assert.match(conflict?.message ?? "", /Another instance set redundancy mode triple/);
      const events = (await world.events("ConfigurationConflict")).filter(
        ({ involvedObject }) => involvedObject.name === name,
      );
      assert.equal(events.length, 1);
    }
    await world.changeSpec(
      { databaseConfiguration: { redundancy_mode: "three_data_hall" } },
      { name: "az2" },
    );
    for (const name of halls) await world.untilReconciled(30 * minuteMs, { name });
    assert.equal(await read(), "three_data_hall");
    world.assertDataSafe();
  });
});

test("[HALL26] a bad edit of a running cluster changes nothing", async () => {
  await TestWorld.runWithCluster({ nodes: 9, zones: 3, spec: threeHalls }, async (world) => {
    const before = world.activities.length;
    const pods = (await world.pods()).map(({ metadata }) => metadata.uid);
    await world.changeSpec({ dataHall: "az1" });
    await world.clock.advance(5 * minuteMs);
    const { status } = await world.cluster();
    const reconciled = conditionIn(status, "Reconciled");
    assert.equal(reconciled?.reason, "InvalidSpec");
    assert.match(
      reconciled?.message ?? "",
      /spec\.dataHall.*data_hall is also given by spec\.localities\[0\], and differently/,
    );
    const actions = world.activities.slice(before).filter(({ type }) => type === "action");
    assert.deepEqual(actions, []);
    assert.deepEqual(
      (await world.pods()).map(({ metadata }) => metadata.uid),
      pods,
    );
    world.assertDataSafe();
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[HALL27] own localities are shown by the database (${imageType} image)`, async () => {
    const template = frugalProcesses?.["general"]?.podTemplate?.spec?.containers ?? [];
    const env = [{ name: "RACK", value: "r7" }];
    const containers = template.map((container) => ({ ...container, env }));
    const initContainers = [{ name: "foundationdb-kubernetes-init", env }];
    const spec: Partial<ClusterSpec> = {
      ...small,
      imageType,
      localities: [
        { key: "rack", envValue: "RACK" },
        { key: "owner", value: "blue" },
      ],
      processes: { general: { podTemplate: { spec: { containers, initContainers } } } },
    };
    await TestWorld.runWithCluster({ spec }, async (world) => {
      const { cluster } = await statusOf(world);
      for (const { locality } of Object.values(cluster?.processes ?? {})) {
        assert.deepEqual([locality?.["rack"], locality?.["owner"]], ["r7", "blue"]);
      }
      const [rack] = spec.localities ?? [];
      await world.changeSpec({ localities: [rack, { key: "owner", value: "green" }] });
      await world.untilReconciled(20 * minuteMs);
      const restarted = acts(world, "killProcesses").flatMap((kill) => kill.processGroupIds);
      assert.equal(restarted.length, new Set(restarted).size, "own keys come by one restart");
    });
  });
}

test("[HALL28] the examples give the pods the rights that they need, and no more", async () => {
  for (const name of ["three-data-hall", "three-datacenter"]) {
    const file = join(import.meta.dirname, "..", "..", "examples", `${name}.yaml`);
    const objects = parseAllDocuments(readFileSync(file, "utf8")).map(
      (document) => document.toJS() as { kind: string; rules?: unknown },
    );
    const rulesOf = (kind: string): unknown => objects.find((each) => each.kind === kind)?.rules;
    assert.deepEqual(rulesOf("ClusterRole"), databaseNodeRules);
    assert.deepEqual(rulesOf("Role"), databasePodRules);
  }
});

test("[HALL15] the example three-datacenter: three coordinators in each datacenter", async () => {
  await runExample("three-datacenter", {}, async (world) => {
    const nine = { "zone-1": 3, "zone-2": 3, "zone-3": 3 };
    assert.deepEqual(await coordinatorsByHall(world, "dcid"), nine);
    const copies = world.world.fdb.truth.replicas().map(({ replicas }) => replicas.length);
    assert.ok(copies.every((count) => count === 6));
  });
});
