// Logical fault domains in a whole world. Rules: spec/packing.md [PACK70]-[PACK79].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { threeHalls } from "./hall-harness.ts";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { exampleCluster, runWithExample } from "./example.ts";
import {
  assertAllCopies,
  assertNothingExcluded,
  commandsOf,
  groups,
  person,
} from "./removal-harness.ts";
import { frugalProcesses, hourMs, minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";
import { assertNoSharedHost, assertZones, domainSizes } from "./packing-harness.ts";

const file = "bin-packing.yaml";

test("[PACK70] the example comes up with every class in its logical fault domains", async () => {
  await runWithExample(file, { nodes: 8 }, async (world) => {
    assert.deepEqual(await domainSizes(world, "storage"), {
      "storage-0": 2,
      "storage-1": 2,
      "storage-2": 2,
    });
    assert.deepEqual(await domainSizes(world, "log"), { "log-0": 2, "log-1": 1, "log-2": 1 });
    await assertNoSharedHost(world);
    await assertZones(world);
    world.assertDataSafe();
  });
});

/** The cluster of the example before somebody thought of packing. */
async function runUnpacked(
  options: TestWorldOptions,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  const { distributionConfig: _, ...spec } = exampleCluster(file).spec;
  await TestWorld.runWithCluster({ ...options, spec }, body);
}

/** Looks of half a second each: an exclusion may cost a recovery, and no more. */
const longestRecovery = 20;

/** The database answers and no host is shared, all the way to a settled cluster. */
async function migrate(world: TestWorld, change: object): Promise<void> {
  await world.changeSpec(change);
  let unavailable = 0;
  const isSettled = async (): Promise<boolean> => {
    await assertNoSharedHost(world);
    assert.deepEqual(world.world.fdb.truth.dataLost(), []);
    const isDown = world.world.fdb.truth.databases().some((database) => !database.isAvailable);
    unavailable = isDown ? unavailable + 1 : 0;
    assert.ok(unavailable <= longestRecovery, "the database is away for longer than a recovery");
    const { metadata, status } = await world.cluster();
    const isDone = status?.generations?.reconciled === metadata.generation;
    return isDone && (status?.processGroups ?? []).every((group) => !isMarkedForRemoval(group));
  };
  await world.until(isSettled, "the migration is over", 2 * hourMs);
  await assertZones(world);
  await assertNothingExcluded(world);
  await assertAllCopies(world);
}

const { distributionConfig } = exampleCluster(file).spec;

test("[PACK71] turned on and off for a running cluster it migrates without a loss (long)", async () => {
  await runUnpacked({ nodes: 10 }, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await migrate(world, { distributionConfig });
    assert.deepEqual(await domainSizes(world, "storage"), {
      "storage-0": 2,
      "storage-1": 2,
      "storage-2": 2,
    });
    await migrate(world, { distributionConfig: { enabled: false } });
    assert.deepEqual(await domainSizes(world, "storage"), { "": 6 });
  });
});

test("[PACK44] without a free node turning it on waits and says so, and a new node lets it go on (long)", async () => {
  await runUnpacked(
    { nodes: 6, nodeCapacity: { cpu: "8", memory: "32Gi", pods: "110" } },
    async (world) => {
      await world.changeSpec({ distributionConfig });
      const wait = async () =>
        (await world.cluster()).status?.blockedBy?.find(
          ({ reason }) => reason === "FaultDomainNeedsNode",
        );
      await world.until(
        async () => (await wait()) !== undefined,
        "it says what is missing",
        hourMs,
      );
      await world.clock.advance(5 * minuteMs);
      const found = await wait();
      assert.match(found?.message ?? "", /storage-0 needs a node without a storage pod of another/);
      assert.match(found?.remedy ?? "", /Add a node/);
      await assertNoSharedHost(world);
      world.assertDataSafe();
      for (const name of ["extra-1", "extra-2"]) {
        await world.world.kubelet.addNode({
          name,
          capacity: { cpu: "8", memory: "32Gi", pods: "110" },
        });
      }
      await migrate(world, {});
      assert.deepEqual(await domainSizes(world, "storage"), {
        "storage-0": 2,
        "storage-1": 2,
        "storage-2": 2,
      });
    },
  );
});

/** Three storage pods on each of four nodes. */
const crowded = {
  databaseConfiguration: { redundancy_mode: "double" as const },
  processes: frugalProcesses,
  processCounts: { storage: 12, log: 4, stateless: 3 },
};

test("[PACK78] turned on without a free node and off after half an hour, all 12 of 12 are there again (long)", async () => {
  await TestWorld.runWithCluster({ nodes: 4, spec: crowded }, async (world) => {
    await world.changeSpec({ distributionConfig });
    await world.clock.advance(30 * minuteMs);
    const { status } = await world.cluster();
    assert.ok(status?.blockedBy?.some(({ reason }) => reason === "FaultDomainNeedsNode"));
    await migrate(world, { distributionConfig: { enabled: false } });
    assert.deepEqual(await domainSizes(world, "storage"), { "": 12 });
    assert.deepEqual(await domainSizes(world, "log"), { "": 4 });
    world.assertDataSafe();
  });
});

test("[PACK79] with four nodes taken and one free, turning it on ends in three domains (long)", async () => {
  await TestWorld.runWithCluster({ nodes: 4, spec: crowded }, async (world) => {
    await world.world.kubelet.addNode({ name: "the-free-one" });
    await migrate(world, { distributionConfig });
    assert.deepEqual(await domainSizes(world, "storage"), {
      "storage-0": 4,
      "storage-1": 4,
      "storage-2": 4,
    });
    assert.deepEqual(await domainSizes(world, "log"), { "log-0": 2, "log-1": 1, "log-2": 1 });
    world.assertDataSafe();
  });
});

test("[PACK72] a rolling update takes as many rounds as there are domains, a knob one restart (long)", async () => {
  await runWithExample(file, { nodes: 8 }, async (world) => {
    await world.clock.advance(11 * minuteMs);
    const { processes } = exampleCluster(file).spec;
    const storage = { ...processes?.["general"], podTemplate: slowPods() };
    await migrate(world, { processes: { ...processes, storage } });
    const rounds = commandsOf(world, "deletePods");
    assert.equal(rounds.length, 3, rounds.join("\n"));
    const restarts = commandsOf(world, "killProcesses").length;
    const general = {
      ...processes?.["general"],
      customParameters: ["knob_min_available_space_ratio=0.06"],
    };
    await migrate(world, {
      processes: { general, storage: { ...storage, ...general, podTemplate: slowPods() } },
    });
    assert.equal(commandsOf(world, "killProcesses").length - restarts, 2, "one goes first");
  });
});

function slowPods() {
  const template = exampleCluster(file).spec.processes?.["general"]?.podTemplate;
  return { spec: { ...template?.spec, terminationGracePeriodSeconds: 7 } };
}

test("[PACK73] a failed host: its domains get new members on other hosts, and no host is shared", async () => {
  const replacements = { failureDetectionTimeSeconds: 300, maxConcurrentReplacements: 6 };
  await runWithExample(file, { nodes: 9 }, async (world) => {
    await world.changeSpec({ automationOptions: { replacements } });
    const before = await domainSizes(world, "storage");
    const [pod] = await world.pods("storage");
    const node = pod?.spec?.nodeName ?? "";
    await world.world.kubelet.stopNode(node);
    const lost = (await world.pods()).filter(({ spec }) => spec?.nodeName === node).length;
    const isReplaced = async (): Promise<boolean> =>
      (await groups(world)).filter(isMarkedForRemoval).length === lost;
    await world.until(isReplaced, "its process groups are replaced", hourMs);
    assert.deepEqual(await domainSizes(world, "storage"), before, "successors join their domains");
    await world.world.kubelet.removeNode(node);
    await migrate(world, {});
    assert.deepEqual(await domainSizes(world, "storage"), before);
  });
});

test("[PACK74] several servers in a pod are in one domain", async () => {
  await TestWorld.runWithCluster(
    { nodes: 8, spec: { ...exampleCluster(file).spec, storageServersPerPod: 2 } },
    async (world) => {
      const zones = await person(world, async (client) => {
        const status = await client.status(10_000);
        return Object.values(status.cluster?.processes ?? {})
          .filter((process) => process.class_type === "storage")
          .map((process) => process.locality?.["zoneid"]);
      });
      assert.equal(zones.length, 12);
      assert.deepEqual([...new Set(zones)].sort(), ["storage-0", "storage-1", "storage-2"]);
      await assertNoSharedHost(world);
    },
  );
});

test("[PACK75] a bad edit of a running cluster changes nothing", async () => {
  await runWithExample(file, { nodes: 8 }, async (world) => {
    const before = (await world.cluster()).status?.processGroups;
    const mark = world.requests.length;
    await world.changeSpec({ distributionConfig: { desiredFaultDomains: 1 } });
    await world.clock.advance(10 * minuteMs);
    const writes = world.writesSince(mark).filter((write) => !/events|leases|status/.test(write));
    assert.deepEqual(writes, []);
    const { status } = await world.cluster();
    assert.deepEqual(
      status?.processGroups?.map((group) => [group.processGroupID, group.removalTimestamp]),
      before?.map((group) => [group.processGroupID, undefined]),
    );
    const wait = status?.blockedBy?.find(({ reason }) => reason === "InvalidSpec");
    assert.match(wait?.message ?? "", /double needs at least 2 fault domains/);
    await world.changeSpec({ distributionConfig: { desiredFaultDomains: 3 } });
    await world.untilReconciled();
  });
});

/** Hosts of the coordinators, as the database reports them. */
async function coordinatorHosts(world: TestWorld): Promise<string[]> {
  const status = await person(world, (client) => client.status(10_000));
  return Object.values(status.cluster?.processes ?? {})
    .filter((process) => process.roles?.some(({ role }) => role === "coordinator"))
    .map((process) => process.locality?.["machineid"] ?? "");
}

test("[PACK54] coordinators are on different hosts, also after one was lost", async () => {
  await runWithExample(file, { nodes: 6 }, async (world) => {
    const hosts = await coordinatorHosts(world);
    assert.equal(new Set(hosts).size, 3);
    await world.world.kubelet.stopNode(hosts[0] ?? "");
    const isHealed = async (): Promise<boolean> => {
      const now = await coordinatorHosts(world);
      return now.length === 3 && new Set(now).size === 3 && !now.includes(hosts[0] ?? "");
    };
    await world.until(isHealed, "another host has a coordinator", 15 * minuteMs);
    world.assertDataSafe();
  });
});

test("[PACK55] with three hosts for five coordinators two hosts hold two of them, and a Warning tells it", async () => {
  const spec = {
    ...exampleCluster(file).spec,
    databaseConfiguration: { redundancy_mode: "triple" as const },
    processCounts: { storage: 3, log: 3, stateless: 3 },
  };
  await TestWorld.runWithCluster({ nodes: 3, spec }, async (world) => {
    const hosts = Map.groupBy(await coordinatorHosts(world), (host) => host);
    assert.deepEqual([...hosts.values()].map((found) => found.length).sort(), [1, 2, 2]);
    const [event] = await world.events("CoordinatorsShareHosts");
    assert.equal(event?.type, "Warning");
    assert.match(event?.message ?? "", /too few hosts for 5 coordinators: up to 2 share one/);
    const { status } = await world.cluster();
    const warning = conditionIn(status, "Warning");
    assert.deepEqual(
      [warning?.reason, warning?.message],
      ["CoordinatorsShareHosts", event?.message],
    );
    await assertNoSharedHost(world);
  });
});

test("[PACK55] with two hosts for three coordinators it waits and says how many nodes are missing", async () => {
  const spec = {
    ...exampleCluster(file).spec,
    distributionConfig: { enabled: true },
    processCounts: { storage: 4, log: 4, stateless: 3 },
  };
  await TestWorld.run({ nodes: 2 }, async (world) => {
    await world.createCluster(spec);
    const wait = async () =>
      (await world.cluster()).status?.blockedBy?.find(({ message }) =>
        /coordinators/.test(message),
      );
    await world.until(
      async () => (await wait())?.message.includes("must be added") === true,
      "a wait",
    );
    assert.match(
      (await wait())?.message ?? "",
      /3 coordinators are wanted.*1 node with a storage or log pod must be added/,
    );
  });
});

test("[PACK27] with racks as fault domains, turning it on changes nobody's zone in place (long)", async () => {
  const localities = [{ key: "zone", topologyKey: "topology.kubernetes.io/zone" }];
  const { distributionConfig: _, ...spec } = exampleCluster(file).spec;
  const processCounts = { storage: 4, log: 3, stateless: 3 };
  await TestWorld.runWithCluster(
    { nodes: 8, zones: 4, spec: { ...spec, localities, processCounts } },
    async (world) => {
      await world.clock.advance(2 * minuteMs);
      const restarts = commandsOf(world, "killProcesses").length;
      await world.changeSpec({ distributionConfig: { enabled: true, desiredFaultDomains: 3 } });
      await world.until(
        async () => (await groups(world, "storage")).some(({ firstReported }) => firstReported),
        "a packed one works",
        15 * minuteMs,
      );
      const status = await person(world, (client) => client.status(10_000));
      const zones = Object.values(status.cluster?.processes ?? {})
        .filter((process) => process.class_type === "storage")
        .map((process) => process.locality?.["zoneid"] ?? "");
      const packed = zones.filter((zone) => zone.startsWith("storage-"));
      assert.ok(packed.length > 0 && packed.length < zones.length, zones.join(", "));
      assert.equal(commandsOf(world, "killProcesses").length, restarts);
      world.assertDataSafe();
    },
  );
});

test("[PACK77] over three halls every hall has its own domains, and each lies in one hall", async () => {
  const spec = { ...threeHalls, distributionConfig: { enabled: true } };
  await TestWorld.runWithCluster({ nodes: 9, zones: 3, spec }, async (world) => {
    const sizes = await domainSizes(world, "log");
    const halls = [...new Set((await groups(world)).map(({ hall }) => hall ?? ""))].sort();
    assert.equal(halls.length, 3);
    const wanted = halls.flatMap((hall) => [0, 1, 2].map((number) => [`log-${hall}-${number}`, 1]));
    assert.deepEqual(sizes, Object.fromEntries(wanted));
    for (const { hall, distributionKey, processClass } of await groups(world)) {
      assert.match(distributionKey ?? "", new RegExp(`^${processClass}-${hall}-[0-2]$`));
    }
    await assertNoSharedHost(world);
    await assertZones(world);
    world.assertDataSafe();
  });
});
