// The status is lost just as a database wakes whose spec was changed in its sleep: claims and the connection string tell where
// its data lies and how it is found, and no second database is created. Rules: spec/hibernation.md [HIB12], spec/plan.md [P98], [P114], [P115].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import { pods } from "../../src/kube/resource.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { adopt, afterLoss, before, forgetLayouts, made, noteLayout } from "./adoption-harness.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

const quick: Partial<ClusterSpec> = {
  ...small,
  minimumUptimeSecondsForBounce: 30,
  automationOptions: { waitBetweenRemovalsSeconds: 0 },
};

const addresses = { useDNSInClusterFile: false } as const;
const ofServices = { ...addresses, publicIPSource: "service" } as const;
const ofPods = { useDNSInClusterFile: true, publicIPSource: "pod" } as const;

const changes: readonly [what: string, from: Partial<ClusterSpec>, to: Partial<ClusterSpec>][] = [
  ["split to unified", { imageType: "split" }, { imageType: "unified" }],
  ["unified to split", { imageType: "unified" }, { imageType: "split" }],
  ["two servers in a pod to one", { storageServersPerPod: 2 }, { storageServersPerPod: 1 }],
  ["one server in a pod to two", { imageType: "split" }, { storageServersPerPod: 2 }],
  ["names to addresses", {}, { routing: addresses }],
  ["addresses of services to names", { routing: ofServices }, { routing: ofPods }],
  ["another IP family", {}, { routing: { podIPFamily: 6 } }],
  [
    "all at once",
    { version: "7.1.57", imageType: "split", logServersPerPod: 2, routing: ofServices },
    { version: "7.3.63", imageType: "unified", logServersPerPod: 1, routing: ofPods },
  ],
];

for (const [what, from, to] of changes) {
  test(`[HIB12] [P98] [P114] changed in a sleep, and the status is lost as the database wakes: ${what} (long)`, async () => {
    await TestWorld.runWithCluster({ spec: { ...quick, ...from }, nodes: 9 }, async (world) => {
      const { connectionString } = (await world.cluster()).status ?? {};
      await world.changeSpec({ hibernate: true });
      const isAsleep = async (): Promise<boolean> =>
        conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
      await world.until(isAsleep, "the database sleeps", 10 * minuteMs);
      await world.world.stopOperator();
      await world.changeSpec({ hibernate: false, ...to });
      const { status: _, ...rest } = await world.cluster();
      await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
      const count = world.activities.length;
      world.world.startOperator();
      const isBack = async (): Promise<boolean> =>
        (await world.cluster()).status?.health?.available === true;
      await world.until(isBack, "the database serves", 10 * minuteMs);
      const woken = (await world.cluster()).status?.connectionString;
      assert.equal(woken, connectionString, "the same coordinators");
      await world.untilReconciled(90 * minuteMs);
      const created = world.activities
        .slice(count)
        .flatMap((activity) => (activity.type === "action" ? activity.action : []))
        .filter((action) => action.type === "configureDatabase" && action.isNew);
      assert.deepEqual(created, []);
      await assertAllCopies(world);
    });
  });
}

for (const [from, to] of [
  ["split", "unified"],
  ["unified", "split"],
] as const) {
  test(`[P98] claims that tell no layout, and the status is lost with all pods: ${from} to ${to} (long)`, async () => {
    const spec = { ...quick, imageType: from };
    await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
      await forgetLayouts(world);
      await world.world.stopOperator();
      for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
      await world.changeSpec({ imageType: to });
      const { status: _, ...rest } = await world.cluster();
      await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
      world.world.startOperator();
      await world.untilReconciled(60 * minuteMs);
      assert.equal(world.world.fdb.truth.databases().length, 1, "no second database");
      await assertAllCopies(world);
    });
  });
}

test("[P114] the IP family is left to Kubernetes just as pods start for the old one, and the status is lost (long)", async () => {
  const spec = { ...quick, routing: { podIPFamily: 4 } };
  await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
    await world.world.stopOperator();
    for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
    const { status: _, ...rest } = await world.cluster();
    await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
    world.world.startOperator();
    await world.clock.advance(500);
    await world.changeSpec({ routing: { podIPFamily: null } });
    await world.untilReconciled(60 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[P115] who gives up adopting disks with the wrong image creates no database beside the old one", async () => {
  await afterLoss(
    async (world, lost) => {
      const { connectionString: seedConnectionString } = lost;
      await world.createCluster({ ...before, adopt, seedConnectionString, imageType: "split" });
      await world.clock.advance(5 * minuteMs);
      await world.changeSpec({ adopt: null, seedConnectionString: null });
      await noteLayout(world, "1");
      const find = async () =>
        (await world.cluster()).status?.blockedBy?.find(({ message }) =>
          message.includes(annotationKeys.diskLayout),
        );
      await world.until(
        async () => (await find()) !== undefined,
        "the claims speak",
        10 * minuteMs,
      );
      const wait = await find();
      assert.equal(wait?.reason, "DatabaseNotReady");
      assert.match(
        wait.remedy ?? "",
        /^To bring that data back, set spec.adopt, and spec.imageType/,
      );
      await world.clock.advance(10 * minuteMs);
      assert.deepEqual(made(world, lost).creations, []);
      await world.changeSpec({ adopt, imageType: "unified" });
      await world.untilReconciled(20 * minuteMs);
      assert.deepEqual(made(world, lost).creations, []);
      await assertAllCopies(world);
    },
    { ...before, imageType: "unified" },
    forgetLayouts,
  );
});
