// Drains that something of a person holds up: a finalizer on our budget, pods that are kept. Rules: spec/drains.md [DRAIN21], [DRAIN22].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { podDisruptionBudgets, pods } from "../../src/kube/resource.ts";
import {
  budgetOf,
  cordon,
  podsOn,
  setNode,
  untilWait,
  waitOf,
  withDrains,
} from "./drain-harness.ts";
import { keyOfObject, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };

test("[DRAIN21] a budget that a finalizer keeps in its deletion holds no update up, and is told (long)", async () => {
  await withDrains({}, async (world) => {
    const finalizers = ["example.com/audit"];
    await world.client.patch(
      podDisruptionBudgets,
      key,
      { metadata: { finalizers } },
      { type: "merge" },
    );
    await world.client.delete(podDisruptionBudgets, key);
    await world.clock.advance(minuteMs);
    const warning = conditionIn((await world.cluster()).status, "Warning");
    assert.equal(warning?.reason, "DisruptionBudgetStuck");
    assert.match(warning?.message ?? "", /sample is being deleted.*example\.com\/audit/);
    const before = new Set((await world.pods()).map(({ metadata }) => metadata.uid));
    const podTemplate = { spec: { terminationGracePeriodSeconds: 31 } };
    await world.changeSpec({ processes: { general: { podTemplate } } });
    await world.untilReconciled(60 * minuteMs);
    const now = (await world.pods()).map(({ metadata }) => metadata.uid);
    assert.ok(
      now.every((uid) => !before.has(uid)),
      "all pods were made anew",
    );
    world.assertDataSafe();
    await world.client.patch(
      podDisruptionBudgets,
      key,
      { metadata: { finalizers: null } },
      { type: "merge" },
    );
    await world.clock.advance(minuteMs);
    assert.equal((await budgetOf(world)).metadata.deletionTimestamp, undefined);
    assert.equal(conditionIn((await world.cluster()).status, "Warning"), undefined);
  });
});

test("[DRAIN21] a budget that stays though drains were turned off is told until it is gone", async () => {
  await withDrains({}, async (world) => {
    const keep = { metadata: { finalizers: ["example.com/audit"] } };
    await world.client.patch(podDisruptionBudgets, key, keep, { type: "merge" });
    await world.changeSpec({ automationOptions: { drains: { enabled: false } } });
    await world.clock.advance(2 * minuteMs);
    const warning = conditionIn((await world.cluster()).status, "Warning");
    assert.equal(warning?.reason, "DisruptionBudgetStuck");
    assert.match(warning?.message ?? "", /example\.com\/audit\. It counts until it is gone$/);
    const free = { metadata: { finalizers: null } };
    await world.client.patch(podDisruptionBudgets, key, free, { type: "merge" });
    await world.clock.advance(2 * minuteMs);
    assert.equal(conditionIn((await world.cluster()).status, "Warning"), undefined);
  });
});

async function startDrain(world: TestWorld, isIsolating: boolean): Promise<string> {
  const node = (await world.pods("storage"))[0]?.spec?.nodeName ?? "";
  if (isIsolating) {
    for (const pod of await podsOn(world, node)) {
      const annotations = { "foundationdb.org/isolate-process-group": "true" };
      const body = { metadata: { annotations } };
      await world.client.patch(pods, keyOfObject(pod), body, { type: "merge" });
    }
  }
  await cordon(world, node);
  await setNode(world, node, { metadata: { annotations: { "foundationdb.org/drain": "true" } } });
  return node;
}

const cases: readonly (readonly [string, Partial<ClusterSpec>, RegExp])[] = [
  [
    "removalMode None",
    { automationOptions: { removalMode: "None" } },
    /their pods stay on purpose: .*storage-\d+ \(automationOptions\.removalMode: None\)/,
  ],
  [
    "a pod that is isolated",
    {},
    /their pods stay on purpose: .*storage-\d+ \(the annotation foundationdb\.org\/isolate-process-group\)/,
  ],
];

for (const [title, spec, text] of cases) {
  const isIsolating = spec.automationOptions === undefined;
  test(`[DRAIN22] what is kept on a drained node is said to stay: ${title}`, async () => {
    await withDrains({ mode: "single", isLocal: true, spec }, async (world) => {
      await startDrain(world, isIsolating);
      await untilWait(world, "EvictionsHeld");
      const reason = isIsolating ? "RemovalPending" : "RemovalBlocked";
      await world.until(
        async () => (await waitOf(world, reason)) !== undefined,
        "its data is elsewhere",
        10 * minuteMs,
      );
      const { blockedBy = [] } = (await world.cluster()).status ?? {};
      const wait = blockedBy.find((each) => each.reason === "EvictionsHeld");
      assert.match(wait?.message ?? "", text);
      assert.match(wait?.remedy ?? "", /the drain does not end by itself/);
    });
  });

  test(`[DRAIN22] what is kept on a drained node is not said to be moved: ${title}`, async () => {
    await withDrains({ isLocal: true, spec }, async (world) => {
      const node = await startDrain(world, isIsolating);
      const told: string[] = [];
      for (let round = 0; round < 60; round += 1) {
        const message = (await waitOf(world, "EvictionsHeld"))?.message;
        if (message !== undefined) told.push(message);
        await world.clock.advance(2_000);
      }
      assert.ok(
        told.some((each) => each.includes("moves data away from")),
        told.join("\n"),
      );
      for (const each of told) assert.doesNotMatch(each, /moves them itself/);
      assert.ok((await podsOn(world, node)).length > 0, "they are there");
    });
  });
}
