// Databases that come back from their disks, and what gets in the way: of the readers, of the labels, of the addresses.
// Rules: spec/adoption.md [ADO1]-[ADO4], [ADO13]-[ADO15], [ADO25].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  adopt,
  afterLoss,
  before,
  cordonAll,
  loseAllButDisks,
  made,
  nameLabel,
  patchClaim,
  readerPods,
  untilWait,
} from "./adoption-harness.ts";
import { pods } from "../../src/kube/resource.ts";
import { assertAllCopies, groups } from "./removal-harness.ts";
import { minuteMs, securedProcesses, TestWorld } from "./world-harness.ts";

const namespace = "default";
const key = { namespace, name: "sample" };

const ownLabels = { app: "books" };
const kinds: readonly (readonly [string, Partial<ClusterSpec>])[] = [
  ["found by its owner", { labels: { filterOnOwnerReference: true } }],
  ["with labels of its own", { labels: { matchLabels: ownLabels, resourceLabels: ownLabels } }],
];

for (const [title, fields] of kinds) {
  test(`[ADO1] a cluster whose objects are ${title} gets its process groups back, and no others`, async () => {
    const spec = { ...before, ...fields };
    const matchLabels = fields.labels?.matchLabels ?? { [nameLabel]: "sample" };
    await afterLoss(async (world, lost) => {
      await world.createCluster({ ...spec, adopt: { volumes: { matchLabels } } });
      await world.untilReconciled(20 * minuteMs);
      assert.equal(made(world, lost).pods.length, 9);
      assert.equal((await groups(world)).length, 9);
      await assertAllCopies(world);
    }, spec);
  });
}

test("[ADO2] a claim of the cluster that the selector leaves out is told: a server would start on it", async () => {
  await afterLoss(async (world, lost) => {
    const mine = { mine: "yes" };
    const [first = "", ...rest] = lost.claims.keys();
    for (const name of rest) await patchClaim(world, name, { labels: mine });
    const spec = { ...before, processCounts: { storage: 3, log: 2, stateless: 3 } };
    await world.createCluster({ ...spec, adopt: { volumes: { matchLabels: mine } } });
    const told = await untilWait(world, "AdoptionRefused");
    assert.match(told, new RegExp(`does not name ${first}, whose labels are those of this`));
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual([made(world, lost).pods, await readerPods(world)], [[], []]);
    await patchClaim(world, first, { labels: { [nameLabel]: null } });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(made(world, lost).creations, []);
    await assertAllCopies(world);
  });
});

test("[ADO13] [ADO14] readers that find no node are told, and tried again", async () => {
  await afterLoss(async (world) => {
    await cordonAll(world, true);
    await world.createCluster({ ...before, adopt });
    await untilWait(world, "VolumesBeingRead");
    await world.clock.advance(7 * minuteMs);
    const told = await untilWait(world, "ConnectionStringLost");
    assert.match(told, /pod sample-log-\d+-data-reader-\w+ has not ended, Unschedulable/);
    await cordonAll(world, false);
    await world.untilReconciled(30 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[ADO13] readers of a resource that was deleted without what it owned are in nobody's way", async () => {
  await afterLoss(async (world) => {
    await world.createCluster({ ...before, adopt });
    const areThere = async (): Promise<boolean> => (await readerPods(world)).length === 6;
    await world.until(areThere, "readers");
    await world.client.delete(foundationDbClusters, key, { propagationPolicy: "Orphan" });
    const isGone = async (): Promise<boolean> =>
      (await world.client.find(foundationDbClusters, key)) === undefined;
    await world.until(isGone, "the resource is gone");
    await world.createCluster({ ...before, adopt });
    await world.untilReconciled(20 * minuteMs);
    await assertAllCopies(world);
  });
});

/** Its server is down and does not come back while coordinators change, and then all is lost. */
async function changeCoordinatorsWithout(world: TestWorld): Promise<void> {
  const connectionString = async (): Promise<string> =>
    (await world.cluster()).status?.connectionString ?? "";
  const older = await connectionString();
  const name = /@([^.]+)/.exec(older)?.[1] ?? "";
  const pod = { namespace, name };
  const hold = (finalizers: readonly string[] | null) =>
    world.client.patch(pods, pod, { metadata: { finalizers } }, { type: "merge" });
  await hold(["example.com/hold"]);
  await world.client.delete(pods, pod);
  await world.until(async () => (await connectionString()) !== older, "coordinators change");
  await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
  await hold(null);
}

for (const isLatest of [true, false]) {
  const which = isLatest ? "the latest string" : "an older string whose coordinators are all there";
  test(`[ADO14] [ADO25] volumes disagree after a change of coordinators: ${which} brings the database back`, async () => {
    await afterLoss(
      async (world, lost) => {
        world.world.startOperator();
        await world.createCluster({ ...before, adopt });
        const told = await untilWait(world, "AdoptionRefused");
        const [latest, older, ...others] = told.replace(/^[^:]*: /, "").split("; ");
        assert.match(latest ?? "", /\(with 3 of its 3 coordinators\)$/);
        assert.match(older ?? "", /\(with 1 of its 3 coordinators\)$/);
        assert.ok(older?.startsWith(lost.connectionString));
        assert.deepEqual([others, made(world, lost).pods], [[], []]);
        const newest = latest?.replace(/ .*/, "");
        const seedConnectionString = isLatest ? newest : lost.connectionString;
        await world.changeSpec({ seedConnectionString });
        await world.untilReconciled(20 * minuteMs);
        assert.equal(world.world.fdb.truth.databases().length, 1, "one database, the old one");
        assert.deepEqual(made(world, lost).creations, []);
        await assertAllCopies(world);
      },
      before,
      changeCoordinatorsWithout,
    );
  });
}

for (const [was, is] of [
  [true, false],
  [false, true],
] as const) {
  test(`[ADO4] servers listen as the connection string says: TLS was ${was} and is to be ${is} (long)`, async () => {
    const specOf = (enableTls: boolean): Partial<ClusterSpec> => ({
      ...before,
      processes: securedProcesses,
      mainContainer: { enableTls },
      sidecarContainer: { enableTls },
    });
    await afterLoss(
      async (world) => {
        await world.createCluster({ ...specOf(is), adopt });
        await world.untilReconciled(30 * minuteMs);
        const { connectionString = "" } = (await world.cluster()).status ?? {};
        assert.equal(connectionString.includes(":tls"), is);
        await assertAllCopies(world);
      },
      specOf(was),
      undefined,
      { hasCertificates: true },
    );
  });
}

test("[ADO4] one of several resources of a database is adopted, although its coordinators are elsewhere", async () => {
  await TestWorld.run({ nodes: 12 }, async (world) => {
    const east = { name: "east" };
    await world.createCluster({ ...before, processGroupIDPrefix: "east" }, east);
    await world.untilReconciled(10 * minuteMs, east);
    const seedConnectionString = (await world.cluster(east)).status?.connectionString ?? "";
    const spec: Partial<ClusterSpec> = { ...before, processGroupIDPrefix: "west" };
    await world.createCluster({ ...spec, seedConnectionString });
    await world.untilReconciled(10 * minuteMs);
    const ids = (await groups(world, "storage")).map(({ processGroupID }) => processGroupID);
    await loseAllButDisks(world);
    await world.createCluster({ ...spec, adopt });
    await world.untilReconciled(20 * minuteMs);
    const now = (await groups(world, "storage")).map(({ processGroupID }) => processGroupID);
    assert.deepEqual(now, ids);
    assert.equal((await world.cluster()).status?.connectionString, seedConnectionString);
    await assertAllCopies(world);
  });
});
