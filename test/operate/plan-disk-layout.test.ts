// Where data lies on a volume is written on its claim when the claim is made, and at no other time.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { annotationKeys } from "../../src/build/labels.ts";
import { describeAction } from "../../src/plan/describe-action.ts";
import { PlanWorld } from "./plan-world.ts";

const spec = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const;

function settled(): PlanWorld {
  const world = new PlanWorld(spec);
  const plan = world.settle();
  assert.ok(plan.isReconciled, JSON.stringify(plan.waits));
  return world;
}

function annotateClaims(world: PlanWorld, layout: string | undefined): void {
  for (const [name, claim] of world.pvcs) {
    const { [annotationKeys.diskLayout]: _, ...rest } = claim.metadata.annotations ?? {};
    const annotations =
      layout === undefined ? rest : { ...rest, [annotationKeys.diskLayout]: layout };
    world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, annotations } });
  }
}

test("[P98] a claim is made with the place of its data", () => {
  const layouts = [...settled().pvcs.values()].map(({ metadata }) => [
    metadata.labels?.["foundationdb.org/fdb-process-class"],
    metadata.annotations?.[annotationKeys.diskLayout],
  ]);
  assert.deepEqual(layouts.sort(), [
    ["log", "1"],
    ["storage", "1"],
  ]);
});

for (const layout of [undefined, "root", "folder"]) {
  test(`[P98] a claim that exists is not written for it: ${layout ?? "none"}`, () => {
    const world = settled();
    annotateClaims(world, layout);
    // A template that names it is not heard.
    const metadata = { annotations: { [annotationKeys.diskLayout]: "7" } };
    world.changeSpec({ processes: { general: { volumeClaimTemplate: { metadata } } } });
    assert.deepEqual(world.plan().actions.map(describeAction), []);
  });
}

test("[P98] a status that is lost forgets nothing that the claims say: pods come back as they were", () => {
  const world = settled();
  world.pods.clear();
  world.isDatabaseReachable = false;
  const { status: _, ...cluster } = world.cluster;
  world.cluster = cluster;
  world.changeSpec({ imageType: "split" });
  const layouts = world
    .plan()
    .status.processGroups?.map((group) => [group.processClass, group.diskLayout]);
  assert.deepEqual(layouts?.filter(([, layout]) => layout !== undefined).sort(), [
    ["log", "1"],
    ["storage", "1"],
  ]);
});
