// Mistakes in a resource that keep its database from being created: once corrected, everything is made right by itself,
// and no volume goes before there is a database that proves it empty.
// Rules: spec/plan.md [P114], spec/restart.md [T100], spec/removal.md [R110], spec/halls.md [HALL12], [HALL19], [HALL39].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { nodes as nodeKind } from "../../src/kube/resource.ts";
import { emulatedNodes } from "../../src/sim/world.ts";
import {
  assertHallsAreTrue,
  groupsByHall,
  hallLocality,
  hallNodes,
  threeHalls,
  zoneLabel,
} from "./hall-harness.ts";
import { acts, untilBlocked } from "./restart-harness.ts";
import { frugalProcesses, minuteMs, small, TestWorld } from "./world-harness.ts";
import type { ClusterName, TestWorldOptions } from "./world-harness.ts";

const containers = frugalProcesses?.["general"]?.podTemplate?.spec?.containers ?? [];

function withHall(value: string): typeof containers {
  return containers.map((container) => ({ ...container, env: [{ name: "HALL", value }] }));
}

function processes(pod: object, more: object = {}): ClusterSpec["processes"] {
  return { general: { podTemplate: { spec: { containers, ...pod } }, ...more } };
}

function volume(spec: object): ClusterSpec["processes"] {
  return processes({}, { volumeClaimTemplate: { spec } });
}

function sized(storage: string): ClusterSpec["processes"] {
  return volume({ resources: { requests: { storage } } });
}

/** No volume was deleted before the database was created. */
function assertVolumesStayed(world: TestWorld): void {
  const done = world.activities.flatMap((activity) =>
    activity.type === "action" && activity.error === undefined ? [activity.action.type] : [],
  );
  const createdAt = done.indexOf("configureDatabase");
  const removedAt = done.indexOf("removeProcessGroups");
  assert.ok(createdAt >= 0, "the database was created");
  assert.ok(removedAt === -1 || removedAt > createdAt, "nothing was removed before");
}

interface Mistake {
  name: string;
  options?: TestWorldOptions;
  wrong: Partial<ClusterSpec>;
  right: object;
}

const nine: TestWorldOptions = { nodes: 9, zones: 3 };
const crowded: TestWorldOptions = {
  nodes: emulatedNodes(9, 3).map((node) => ({
    ...node,
    capacity: { cpu: "8", memory: "64Gi", pods: "3" },
  })),
};
const nowhere: Partial<ClusterSpec> = { ...threeHalls, localities: [] };
const datacenters = { redundancy_mode: "three_datacenter" } as const;
/** A mode that cannot be set keeps the database from being created, whatever else is wrong. */
const never = { ...small, databaseConfiguration: { redundancy_mode: "three_data_hall" } } as const;
const double = { databaseConfiguration: { redundancy_mode: "double" } };
const addresses = { routing: { useDNSInClusterFile: false } };

const mistakes: readonly Mistake[] = [
  {
    name: "no data hall",
    options: nine,
    wrong: nowhere,
    right: { localities: hallLocality },
  },
  {
    name: "no data hall, and coordinators known by their addresses",
    options: nine,
    wrong: { ...nowhere, ...addresses },
    right: { localities: hallLocality },
  },
  {
    name: "no datacenter",
    options: nine,
    wrong: { ...nowhere, databaseConfiguration: datacenters },
    right: { localities: [{ key: "dcid", topologyKey: zoneLabel }] },
  },
  {
    name: "one data hall for all by value",
    options: nine,
    wrong: { ...threeHalls, localities: [{ key: "data_hall", value: "az1" }] },
    right: { localities: hallLocality },
  },
  {
    name: "one data hall for all by value, and coordinators known by their addresses",
    options: nine,
    wrong: { ...threeHalls, ...addresses, localities: [{ key: "data_hall", value: "az1" }] },
    right: { localities: hallLocality },
  },
  {
    name: "one data hall for all by a variable",
    options: nine,
    wrong: {
      ...threeHalls,
      localities: [{ key: "data_hall", envValue: "HALL" }],
      processes: processes({ containers: withHall("az1") }),
    },
    right: { localities: hallLocality, processes: processes({}) },
  },
  {
    name: "no data hall and volumes of a wrong size, where successors have no room",
    options: crowded,
    wrong: { ...nowhere, processes: sized("16Gi") },
    right: { localities: hallLocality, processes: sized("32Gi") },
  },
  { name: "a mode that needs halls", wrong: never, right: double },
  {
    name: "a mode that needs more zones than there are",
    options: { nodes: 2 },
    wrong: { ...small, databaseConfiguration: { redundancy_mode: "triple" } },
    right: { databaseConfiguration: { redundancy_mode: "single" } },
  },
  {
    name: "the image type",
    wrong: { ...never, imageType: "split" },
    right: { ...double, imageType: "unified" },
  },
  {
    name: "the prefix",
    wrong: { ...never, processGroupIDPrefix: "wrong" },
    right: { ...double, processGroupIDPrefix: "right" },
  },
  {
    name: "TLS",
    wrong: { ...never, mainContainer: { enableTls: true } },
    right: { ...double, mainContainer: { enableTls: false } },
  },
  { name: "names", wrong: never, right: { ...double, ...addresses } },
  { name: "addresses", wrong: { ...never, ...addresses }, right: { ...double, routing: null } },
  {
    name: "addresses of services",
    wrong: { ...never, routing: { ...addresses.routing, publicIPSource: "service" } },
    right: { ...double, routing: null },
  },
  {
    name: "the node selector",
    options: nine,
    wrong: { ...never, processes: processes({ nodeSelector: { [zoneLabel]: "zone-1" } }) },
    right: { ...double, processes: processes({ nodeSelector: { [zoneLabel]: "zone-2" } }) },
  },
  {
    name: "a node selector that no node has",
    wrong: { ...small, processes: processes({ nodeSelector: { disk: "none" } }) },
    right: { processes: processes({ nodeSelector: { disk: null } }) },
  },
  {
    name: "the storage class",
    wrong: { ...small, processes: volume({ storageClassName: "none" }) },
    right: { processes: volume({ storageClassName: null }) },
  },
  {
    name: "the size of volumes",
    wrong: { ...never, processes: sized("16Gi") },
    right: { ...double, processes: sized("32Gi") },
  },
  {
    name: "servers per pod",
    wrong: { ...never, storageServersPerPod: 2 },
    right: { ...double, storageServersPerPod: 1 },
  },
  {
    name: "the fault domain",
    wrong: {
      ...small,
      faultDomain: { key: "foundationdb.org/kubernetes-cluster", value: "a", zoneCount: 3 },
    },
    right: { faultDomain: null },
  },
  {
    name: "the version",
    wrong: { ...never, version: "7.1.57" },
    right: { ...double, version: "7.3.63" },
  },
];

for (const { name, options = {}, wrong, right } of mistakes) {
  test(`[T100] [R110] corrected before the database exists: ${name} (long)`, async () => {
    await TestWorld.run(options, async (world) => {
      await world.createCluster(wrong);
      await world.clock.advance(5 * minuteMs);
      assert.ok(!world.world.fdb.truth.databases().some(({ isConfigured }) => isConfigured));
      await world.changeSpec(right);
      await world.untilReconciled(30 * minuteMs);
      assertVolumesStayed(world);
      await world.clock.advance(2 * minuteMs);
      world.assertDataSafe();
      const { status } = await world.cluster();
      assert.equal(conditionIn(status, "Reconciled")?.status, "True");
    });
  });
}

test("[HALL12] nothing is placed while a hall offers one zone, and everything when nodes are added", async () => {
  const nodes = emulatedNodes(9, 3).filter(({ name }) => name !== "node-6" && name !== "node-9");
  await TestWorld.run({ nodes }, async (world) => {
    await world.createCluster(threeHalls);
    const wait = await untilBlocked(world, "HallsMissing");
    assert.match(wait.message, /hall zone-3 has 1 zone, at least 2 needed/);
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(await world.pods(), []);
    for (const name of ["node-10", "node-11"]) {
      const added = world.world.kubelet.addNode({ name, zone: "zone-3" });
      await world.during(added, minuteMs, "another node");
    }
    await world.untilReconciled(10 * minuteMs);
    await assertHallsAreTrue(world);
    assert.equal(acts(world, "removeProcessGroups").length, 0);
    world.assertDataSafe();
  });
});

test("[HALL39] processes of a hall that share a zone are spread when other nodes take pods again (long)", async () => {
  await TestWorld.run(nine, async (world) => {
    const [, ...closed] = await hallNodes(world, "zone-3");
    const close = async (unschedulable: boolean): Promise<void> => {
      for (const name of closed) {
        await world.client.patch(
          nodeKind,
          { name },
          { spec: { unschedulable } },
          { type: "merge" },
        );
      }
    };
    await close(true);
    await world.createCluster(threeHalls);
    const wait = await untilBlocked(world, "ConfigurationUnsafe");
    assert.match(wait.message, /hall zone-3 has 1 zone, at least 2 needed/);
    await close(false);
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await groupsByHall(world), {
      log: [3, 3, 3],
      stateless: [2, 2, 2],
      storage: [2, 2, 2],
    });
    assertVolumesStayed(world);
    world.assertDataSafe();
  });
});

/** The resource of one hall of three. */
function hallResource(hall: string, zone: string): Partial<ClusterSpec> {
  return {
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    processGroupIDPrefix: zone,
    localities: [{ key: "data_hall", value: hall }],
    processCounts: { storage: 3, log: 3, stateless: 3 },
    processes: processes({ nodeSelector: { [zoneLabel]: zone } }),
  };
}

const halls = ["az1", "az2", "az3"] as const;

async function createHalls(
  world: TestWorld,
  common: object,
  wrong: Record<string, object>,
): Promise<void> {
  let seed = {};
  for (const [index, hall] of halls.entries()) {
    const name: ClusterName = { name: hall };
    const own = { ...hallResource(hall, `zone-${index + 1}`), ...common };
    const spec = { ...own, ...seed, ...wrong[hall] };
    await world.createCluster(spec, name);
    if (index > 0) continue;
    const chosen = async (): Promise<boolean> => {
      const { connectionString } = (await world.cluster(name)).status ?? {};
      seed = { seedConnectionString: connectionString };
      return connectionString !== undefined;
    };
    await world.until(chosen, "coordinators are chosen", 5 * minuteMs, name);
  }
}

const hallMistakes = [
  {
    who: "az1",
    how: "by value, with coordinators known by their addresses",
    common: addresses,
    wrong: { localities: [{ key: "data_hall", value: "az2" }] },
    right: { localities: [{ key: "data_hall", value: "az1" }] },
  },
  {
    who: "az2",
    how: "by value",
    common: {},
    wrong: { localities: [{ key: "data_hall", value: "az1" }] },
    right: { localities: [{ key: "data_hall", value: "az2" }] },
  },
  {
    who: "az2",
    how: "by a variable",
    common: {},
    wrong: {
      localities: [{ key: "data_hall", envValue: "HALL" }],
      processes: processes({
        containers: withHall("az3"),
        nodeSelector: { [zoneLabel]: "zone-2" },
      }),
    },
    right: {
      processes: processes({
        containers: withHall("az2"),
        nodeSelector: { [zoneLabel]: "zone-2" },
      }),
    },
  },
] as const;

for (const { who, how, common, wrong, right } of hallMistakes) {
  test(`[T100] the data hall of ${who}, one of three resources, ${how}: corrected before the database exists (long)`, async () => {
    await TestWorld.run(nine, async (world) => {
      await createHalls(world, common, { [who]: wrong });
      await world.clock.advance(5 * minuteMs);
      assert.ok(!world.world.fdb.truth.databases().some(({ isConfigured }) => isConfigured));
      await world.changeSpec(right, { name: who });
      for (const name of halls) await world.untilReconciled(20 * minuteMs, { name });
      assertVolumesStayed(world);
      world.assertDataSafe();
    });
  });
}
