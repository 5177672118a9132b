// A database that sleeps and wakes: what stays, what is refused, what is said meanwhile. Rules: spec/hibernation.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { deletionProtection, foundationDbClusters } from "../../src/api/cluster.ts";
import { hibernationConsents } from "../../src/api/hibernation.ts";
import { nodes, persistentVolumeClaims } from "../../src/kube/resource.ts";
import { exampleCluster } from "./example.ts";
import { assertAllCopies, commandsOf, groups, recoveries } from "./removal-harness.ts";
import { pageOf } from "./stuck-case.ts";
import { frugalProcesses, hourMs, minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";
import type { ClusterName, TestWorldOptions } from "./world-harness.ts";

const namespace = "default";
const spread = { nodes: 9 };

function withCluster(
  spec: Partial<ClusterSpec>,
  body: (world: TestWorld) => Promise<void>,
  options: TestWorldOptions = {},
): Promise<void> {
  return TestWorld.runWithCluster({ ...spread, ...options, spec: { ...small, ...spec } }, body);
}

async function condition(world: TestWorld, type: string, name: ClusterName = {}) {
  return conditionIn((await world.cluster(name)).status, type);
}

function untilAsleep(world: TestWorld, limitMs = 10 * minuteMs, name: ClusterName = {}) {
  const isSo = async (): Promise<boolean> =>
    (await condition(world, "Hibernated", name))?.status === "True";
  return world.until(isSo, "the database sleeps", limitMs, name);
}

async function waitOf(world: TestWorld, reason: string, name: ClusterName = {}) {
  const { status } = await world.cluster(name);
  return status?.blockedBy?.find((wait) => wait.reason === reason);
}

async function untilWait(
  world: TestWorld,
  reason: string,
  message: RegExp,
  name: ClusterName = {},
) {
  const isSo = async (): Promise<boolean> =>
    message.test((await waitOf(world, reason, name))?.message ?? "");
  await world.until(isSo, `${reason}: ${message.source}`, 5 * minuteMs, name);
  return waitOf(world, reason, name);
}

async function claims(world: TestWorld): Promise<string[]> {
  const labelSelector = "foundationdb.org/fdb-process-group-id";
  const { items } = await world.client.list(persistentVolumeClaims, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.uid ?? "").sort();
}

async function wakeUp(world: TestWorld): Promise<void> {
  await world.changeSpec({ hibernate: false });
  await world.untilReconciled(10 * minuteMs);
}

/** The operator goes on refusing, and the database serves. */
async function assertAwake(world: TestWorld, reason: string): Promise<void> {
  await world.clock.advance(10 * minuteMs);
  assert.ok((await waitOf(world, reason)) !== undefined, `${reason} lasts`);
  assert.deepEqual(commandsOf(world, "deletePods"), []);
  world.assertDataSafe();
}

test("[HIB1] [HIB9] [HIB11] [HIB13] [HIB14] [HIB19] a night's sleep: nothing is written meanwhile, and all is as before with one recovery", async () => {
  await withCluster({}, async (world) => {
    const before = await world.cluster();
    const [ids, volumes, count] = [
      (await groups(world)).map(({ processGroupID }) => processGroupID),
      await claims(world),
      recoveries(world),
    ];
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    assert.deepEqual(await world.pods(), []);
    assert.equal(commandsOf(world, "deletePods").length, 1, "one stop for all");
    await world.untilReconciled();
    assert.match(await pageOf(world), /Asleep since 20/);
    assert.equal((await condition(world, "Available"))?.reason, "Hibernated");
    assert.equal((await condition(world, "Degraded"))?.status, "False");
    const stops = await world.events("Hibernated");
    assert.deepEqual(
      stops.map(({ type }) => type),
      ["Normal"],
    );
    const [mark, said] = [world.requests.length, (await world.cluster()).status];
    await world.clock.advance(9 * hourMs);
    const writes = world.writesSince(mark).filter((text) => !text.includes("leases"));
    assert.deepEqual(writes, [], "a converged sleeping cluster causes no write");
    assert.deepEqual((await world.cluster()).status, said);
    assert.deepEqual(await world.pods(), []);

    await wakeUp(world);
    const { status } = await world.cluster();
    assert.equal(status?.connectionString, before.status?.connectionString);
    assert.equal(status?.hibernation, undefined);
    assert.equal(conditionIn(status, "Hibernated"), undefined);
    assert.deepEqual(
      (await groups(world)).map(({ processGroupID }) => processGroupID),
      ids,
    );
    assert.deepEqual(await claims(world), volumes);
    await assertAllCopies(world);
    await world.clock.advance(5 * minuteMs);
    assert.equal(recoveries(world), count + 1, "one recovery");
    assert.deepEqual(await world.events("DatabaseUnavailable"), []);
    assert.deepEqual(await world.events("StatusMissing"), []);
    assert.deepEqual(await world.events("ReplacingProcesses"), []);
    await assertAllCopies(world);
  });
});

test("[HIB3] coordinators by address: refused, until they have names (long)", async () => {
  await withCluster({ routing: { useDNSInClusterFile: false } }, async (world) => {
    await world.changeSpec({ hibernate: true });
    const wait = await untilWait(world, "HibernationRefused", /known by addresses/);
    assert.match(wait?.remedy ?? "", /useDNSInClusterFile/);
    await assertAwake(world, "HibernationRefused");
    assert.match(await pageOf(world), /serves reads and writes, but the operator is stuck/);
    await world.changeSpec({ routing: { useDNSInClusterFile: true } });
    await untilAsleep(world, 30 * minuteMs);
    await wakeUp(world);
    await assertAllCopies(world);
  });
});

test("[HIB3] [HIB19] addresses of services survive a sleep, with the split image as well", async () => {
  const spec: Partial<ClusterSpec> = {
    imageType: "split",
    routing: { publicIPSource: "service", useDNSInClusterFile: false },
  };
  await withCluster(spec, async (world) => {
    const [before, count] = [(await world.cluster()).status?.connectionString, recoveries(world)];
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    await world.clock.advance(3 * hourMs);
    await wakeUp(world);
    assert.equal((await world.cluster()).status?.connectionString, before);
    assert.equal(recoveries(world), count + 1, "one recovery");
    await assertAllCopies(world);
  });
});

test("[HIB4] data that lies in a pod alone is not put to sleep", async () => {
  const template = structuredClone(frugalProcesses["general"]?.podTemplate);
  if (template?.spec) template.spec.volumes = [{ name: "data", emptyDir: {} }];
  const general = template === undefined ? {} : { podTemplate: template };
  await withCluster({ processes: { general } }, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilWait(world, "HibernationRefused", /lies in its pod alone/);
    await assertAwake(world, "HibernationRefused");
  });
});

test("[HIB5] a client that is connected is waited for, until somebody accepts it", async () => {
  await withCluster({}, async (world) => {
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    const client = { address: "10.77.0.9:4000", logGroup: "shop", versions: ["7.3.63"] };
    world.world.fdb.addClient(connectionString, client);
    await world.changeSpec({ hibernate: true });
    const wait = await untilWait(world, "HibernationUnconfirmed", /10\.77\.0\.9/);
    assert.match(wait?.remedy ?? "", /add ConnectedClients to spec\.hibernateDespite/);
    await assertAwake(world, "HibernationUnconfirmed");
    await world.changeSpec({ hibernateDespite: ["ConnectedClients"] });
    await untilAsleep(world);
    await wakeUp(world);
    await assertAllCopies(world);
  });
});

test("[HIB7] [HIB24] resources that share a database sleep when all of them accept it, and wake together (long)", async () => {
  await TestWorld.run({ nodes: 12 }, async (world) => {
    const [west, east] = [{ name: "west" }, { name: "east" }];
    const spec: Partial<ClusterSpec> = { ...small, automationOptions: {} };
    await world.createCluster({ ...spec, processGroupIDPrefix: "west" }, west);
    await world.untilReconciled(10 * minuteMs, west);
    const { status } = await world.cluster(west);
    const seedConnectionString = status?.connectionString ?? "";
    const second = { ...spec, processGroupIDPrefix: "east", seedConnectionString };
    await world.createCluster(second, east);
    await world.untilReconciled(10 * minuteMs, east);
    await world.changeSpec({ hibernate: true }, west);
    await world.changeSpec({ hibernate: true }, east);
    for (const name of [west, east]) {
      await untilWait(world, "HibernationUnconfirmed", /Processes of other resources/, name);
    }
    await world.clock.advance(5 * minuteMs);
    assert.equal((await world.pods()).length, 18);
    await world.changeSpec({ hibernateDespite: ["SharedDatabase"] }, west);
    await untilAsleep(world, 10 * minuteMs, west);
    await world.changeSpec({ hibernateDespite: ["SharedDatabase"] }, east);
    // All coordinators were of the resource that sleeps.
    const wait = await untilWait(world, "HibernationUnconfirmed", /No coordinator answers/, east);
    assert.match(wait?.remedy ?? "", /add ConnectedClients and RunningBackup to/);
    await world.changeSpec({ hibernateDespite: [...hibernationConsents] }, east);
    await untilAsleep(world, 10 * minuteMs, east);
    assert.deepEqual(await world.pods(), []);
    await world.clock.advance(hourMs);
    // One of them alone does not serve, and says what helps.
    await world.changeSpec({ hibernate: false }, east);
    const alone = await untilWait(world, "DatabaseUnavailable", /is not available/, east);
    assert.match(alone?.remedy ?? "", /^Should other resources of the database sleep, wake them/);
    await world.changeSpec({ hibernate: false }, west);
    for (const name of [west, east]) await world.untilReconciled(10 * minuteMs, name);
    await assertAllCopies(world);
  });
});

test("[HIB2] an upgrade and a replacement are finished before the database sleeps (long)", async () => {
  await withCluster({ version: "7.1.57" }, async (world) => {
    const [first] = await groups(world, "storage");
    const id = first?.processGroupID ?? "";
    await world.changeSpec({ version: "7.3.63", processGroupsToRemove: [id], hibernate: true });
    await untilWait(world, "HibernationHeld", /./);
    await untilAsleep(world, 60 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.runningVersion, "7.3.63");
    assert.ok((await groups(world)).every(({ processGroupID }) => processGroupID !== id));
    assert.equal((await groups(world)).length, 9);
    await wakeUp(world);
    await assertAllCopies(world);
  });
});

test("[HIB2] while a node is gone the database does not sleep; a new cluster is created first", async () => {
  await TestWorld.run(spread, async (world) => {
    await world.client.create(foundationDbClusters, exampleCluster("hibernation.yaml"));
    await untilAsleep(world);
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(10 * minuteMs);
    const [pod] = await world.pods("storage");
    const node = pod?.spec?.nodeName ?? "";
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "the loss of a node");
    await world.clock.advance(minuteMs);
    const count = commandsOf(world, "deletePods").length;
    await world.changeSpec({ hibernate: true });
    await untilWait(world, "HibernationHeld", /./);
    await world.clock.advance(5 * minuteMs);
    assert.equal(commandsOf(world, "deletePods").length, count);
  });
});

test("[HIB10] a wish that is taken back half-way brings the pods back", async () => {
  await withCluster({}, async (world) => {
    await world.changeSpec({ hibernate: true });
    const isGoing = async (): Promise<boolean> =>
      (await world.cluster()).status?.hibernation !== undefined;
    await world.until(isGoing, "the stop has been decided");
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(10 * minuteMs);
    assert.equal((await world.cluster()).status?.hibernation, undefined);
    assert.equal((await world.pods()).length, 9);
    await assertAllCopies(world);
  });
});

test("[HIB12] [HIB14] version, counts and volumes that change meanwhile are brought about after waking (long)", async () => {
  await withCluster({ version: "7.1.57" }, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    const requests = { storage: "256G" };
    const general = { volumeClaimTemplate: { spec: { resources: { requests } } } };
    const processCounts = { storage: 4, log: 4, stateless: 2 };
    const mark = world.writesSince(0).length;
    await world.changeSpec({ version: "7.3.63", processCounts, processes: { general } });
    await world.clock.advance(3 * hourMs);
    const writes = world.writesSince(0).slice(mark);
    const others = writes.filter((text) => !text.includes("leases"));
    assert.deepEqual(new Set(others), new Set(["update foundationdbclusters/status sample"]));
    assert.equal(others.length, 1, "that the new generation waits is told once");
    assert.deepEqual(await world.pods(), []);
    assert.match(
      await pageOf(world),
      /Asleep since .* Generation 3 is brought about when it wakes/,
    );
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(60 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.runningVersion, "7.3.63");
    assert.equal((await world.pods("storage")).length, 4);
    await assertAllCopies(world);
  });
});

test("[HIB12] names that are given up meanwhile stay until the database serves again (long)", async () => {
  await withCluster({}, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    await world.changeSpec({ routing: { useDNSInClusterFile: false } });
    await world.clock.advance(hourMs);
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled(30 * minuteMs);
    assert.doesNotMatch((await world.cluster()).status?.connectionString ?? "", /svc/);
    await assertAllCopies(world);
  });
});

const otherLayouts: [string, Partial<ClusterSpec>, Partial<ClusterSpec>][] = [
  ["split to unified", { imageType: "split" }, { imageType: "unified" }],
  ["unified to split", { imageType: "unified" }, { imageType: "split" }],
  ["one server in a pod to two", {}, { storageServersPerPod: 2, logServersPerPod: 2 }],
];

for (const [title, before, after] of otherLayouts) {
  test(`[HIB12] [P98] pods that wake find their data, though the spec wants another layout of the volumes by then (${title}) (long)`, async () => {
    await withCluster(before, async (world) => {
      await world.changeSpec({ hibernate: true });
      await untilAsleep(world);
      await world.changeSpec(after);
      await world.clock.advance(hourMs);
      // Several looks at a database that sleeps, and another operator, change nothing in what is remembered.
      await world.world.stopOperator();
      world.world.startOperator();
      await world.clock.advance(hourMs);
      await world.changeSpec({ hibernate: false });
      await world.untilReconciled(60 * minuteMs);
      assert.deepEqual(
        (await groups(world)).filter((group) => group.diskLayout),
        [],
      );
      await assertAllCopies(world);
    });
  });
}

test("[HIB13] a spec that is refused in a sleep does not make the database one that is down", async () => {
  await withCluster({}, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    const maintenanceWindows = [{ cron: "* * * * *", duration: "1h" }];
    await world.changeSpec({ automationOptions: { maintenanceWindows } });
    await world.clock.advance(10 * minuteMs);
    assert.equal((await condition(world, "Reconciled"))?.reason, "InvalidSpec");
    assert.equal((await condition(world, "Available"))?.reason, "Hibernated");
    assert.equal((await condition(world, "Hibernated"))?.status, "True");
    await world.changeSpec({ automationOptions: { maintenanceWindows: null }, hibernate: false });
    await world.untilReconciled(10 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[HIB16] a claim that is deleted while the database sleeps is told", async () => {
  await withCluster({}, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    const labelSelector = "foundationdb.org/fdb-process-class=storage";
    const { items } = await world.client.list(persistentVolumeClaims, { namespace, labelSelector });
    const name = nameOf(items[0] ?? { metadata: {} });
    await world.client.delete(persistentVolumeClaims, { namespace, name });
    const isTold = async (): Promise<boolean> =>
      (await condition(world, "Degraded"))?.status === "True";
    await world.until(isTold, "the loss is told");
    assert.match(await pageOf(world), new RegExp(`Asleep since .* But .*${name}`));
    assert.deepEqual(await world.pods(), []);
  });
});

test("[HIB17] a sleeping cluster that is protected is kept when it is deleted, and goes without protection", async () => {
  await withCluster({}, async (world) => {
    const key = { namespace, name: "sample" };
    const annotate = (value: string | null) =>
      world.client.patch(
        foundationDbClusters,
        key,
        { metadata: { annotations: { [deletionProtection]: value } } },
        { type: "merge" },
      );
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    await annotate("true");
    await world.clock.advance(minuteMs);
    await world.client.delete(foundationDbClusters, key);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await condition(world, "DeletionHeld"))?.status, "True");
    assert.equal((await claims(world)).length, 6);
    await annotate(null);
    const isGone = async (): Promise<boolean> => (await claims(world)).length === 0;
    await world.until(isGone, "everything is gone", 10 * minuteMs);
  });
});

test("[HIB18] a database that does not come back is waking for ten minutes, and down after that", async () => {
  await withCluster({}, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    const { items } = await world.client.list(nodes, {});
    for (const node of items) {
      const key = { name: nameOf(node) };
      await world.client.patch(nodes, key, { spec: { unschedulable: true } }, { type: "merge" });
    }
    await world.changeSpec({ hibernate: false });
    await world.clock.advance(5 * minuteMs);
    assert.equal((await condition(world, "Available"))?.reason, "Waking");
    assert.match(await pageOf(world), /wakes from its sleep/);
    await world.clock.advance(6 * minuteMs);
    assert.equal(await condition(world, "Hibernated"), undefined);
    assert.doesNotMatch(await pageOf(world), /wakes from its sleep/);
    assert.notEqual((await condition(world, "Available"))?.status, "True");
  });
});

test("[HIB10] [HIB12] a database that is to sleep again before it serves wakes by its old names first (long)", async () => {
  await withCluster({}, async (world) => {
    await world.changeSpec({ hibernate: true });
    await untilAsleep(world);
    const before = (await world.cluster()).status?.hibernation?.since;
    await world.changeSpec({ routing: { useDNSInClusterFile: false } });
    await world.clock.advance(minuteMs);
    await world.changeSpec({ hibernate: false });
    await world.until(async () => (await world.pods()).length === 9, "the pods are there");
    await world.changeSpec({ hibernate: true });
    // With the new routing its coordinators get addresses, which would not survive.
    await untilWait(world, "HibernationRefused", /known by addresses/);
    assert.equal((await world.cluster()).status?.hibernation, undefined);
    await assertAllCopies(world);
    await world.changeSpec({ routing: { useDNSInClusterFile: true } });
    await untilAsleep(world, 30 * minuteMs);
    assert.notEqual((await world.cluster()).status?.hibernation?.since, before);
    await wakeUp(world);
    await assertAllCopies(world);
  });
});
