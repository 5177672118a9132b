// Changes of a running cluster's spec that need restarts, new pods or removals. Until somebody carries these out, the
// cluster says what is pending, stays available and loses nothing. Rules: spec/world.md [W91], [W92].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pods } from "../../src/kube/resource.ts";
import { frugalProcesses, keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

const volumeClaimTemplate = { spec: { resources: { requests: { storage: "256G" } } } };
const general = frugalProcesses?.general;

const wishes: [title: string, change: object, reasons: readonly string[]][] = [
  ["another patch version", { version: "7.3.69" }, ["PodChangePending", "ProcessNeedsRestart"]],
  ["another minor version", { version: "7.4.6" }, ["PodChangePending"]],
  ["the other image type", { imageType: "split" }, ["PodChangePending"]],
  [
    "another pod template",
    { processes: { general: { podTemplate: { spec: { hostNetwork: true } } } } },
    ["PodChangePending"],
  ],
  [
    "larger volumes",
    { processes: { general: { ...general, volumeClaimTemplate } } },
    ["ReplacementPending"],
  ],
  ["another prefix", { processGroupIDPrefix: "west" }, ["ReplacementPending"]],
  ["two storage servers per pod", { storageServersPerPod: 2 }, ["PodChangePending"]],
  [
    "addresses instead of names",
    { routing: { useDNSInClusterFile: false } },
    ["CoordinatorsUnfit", "PodChangePending", "ServiceSurplus"],
  ],
  [
    "public addresses of services",
    { routing: { publicIPSource: "service" } },
    ["PodChangePending"],
  ],
  [
    "TLS",
    { mainContainer: { enableTls: true } },
    ["CoordinatorsUnfit", "PodChangePending", "ProcessNeedsRestart"],
  ],
  [
    "another knob",
    { processes: { storage: { customParameters: ["knob_a_b=1"] } } },
    ["ProcessNeedsRestart"],
  ],
  ["three copies", { databaseConfiguration: { redundancy_mode: "triple" } }, ["CoordinatorsUnfit"]],
];

for (const [title, change, reasons] of wishes) {
  test(`[W91] ${title}: reported, and nothing breaks`, async () => {
    await TestWorld.runWithCluster({ spec: small }, async (world) => {
      const uids = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
      await world.changeSpec(change);
      await world.clock.advance(30 * minuteMs);
      const { metadata, status } = await world.cluster();
      const report = await world.report();
      assert.equal(status?.health?.available, true, report);
      assert.notEqual(status?.generations?.reconciled, metadata.generation, report);
      const found = (status?.blockedBy ?? []).map(({ reason }) => reason);
      assert.ok(found.length > 0, report);
      for (const reason of found) assert.ok(reasons.includes(reason), `${reason}\n${report}`);
      const now = new Set((await world.pods()).map((pod) => pod.metadata.uid));
      assert.ok(
        uids.every((uid) => now.has(uid)),
        "every pod is still there",
      );
      world.assertDataSafe();
      const mark = world.requests.length;
      await world.clock.advance(30 * minuteMs);
      assert.ok(world.writesSince(mark).length <= 2, world.writesSince(mark).join("\n"));
    });
  });
}

test("[W92] a pod that somebody deletes comes back as the spec wants it by then", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.changeSpec({
      processes: { general: { podTemplate: { spec: { priority: null } } } },
    });
    const annotations = { team: "storage" };
    await world.changeSpec({
      processes: { general: { podTemplate: { metadata: { annotations } } } },
    });
    await world.untilReconciled();
    await world.changeSpec({
      processes: { general: { podTemplate: { spec: { terminationGracePeriodSeconds: 7 } } } },
    });
    await world.clock.advance(minuteMs);
    for (const pod of await world.pods()) {
      await world.client.delete(pods, keyOfObject(pod));
      await world.clock.advance(2 * minuteMs);
    }
    await world.untilReconciled(10 * minuteMs);
    for (const pod of await world.pods()) {
      assert.equal(pod.spec?.terminationGracePeriodSeconds, 7);
      assert.equal(pod.metadata.annotations?.["team"], "storage");
    }
    world.assertDataSafe();
  });
});

test("[P90] [P91] process groups that need successors are named and do not make the cluster degraded", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const ids = (await world.cluster()).status?.processGroups?.map((group) => group.processGroupID);
    const processes = { general: { ...general, volumeClaimTemplate } };
    await world.changeSpec({ processes, processGroupIDPrefix: "west" });
    await world.clock.advance(minuteMs);
    const { status } = await world.cluster();
    const messages = status?.blockedBy?.map(({ reason, message }) => `${reason}: ${message}`) ?? [];
    assert.deepEqual(messages, [
      `ReplacementPending: The ids of ${ids?.slice(0, 3).join(", ")} and 6 more do not begin with the prefix "west"`,
      `ReplacementPending: The volumes of ${ids?.slice(0, 3).join(", ")} and 3 more were made from an older specification`,
    ]);
    const degraded = status?.conditions?.find(({ type }) => type === "Degraded");
    assert.equal(degraded?.status, "False", degraded?.message);
    await world.changeSpec({ processGroupsToRemove: ids });
    await world.until(async () => {
      const groups = (await world.cluster()).status?.processGroups ?? [];
      return groups.filter((group) => group.processGroupID?.startsWith("west-")).length === 9;
    }, "successors are there");
    world.assertDataSafe();
  });
});
