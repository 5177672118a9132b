// Where data lies on a volume is written on its claim when the claim is made, and at no other time.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { annotationKeys } from "../../src/build/labels.ts";
import { describeAction } from "../../src/plan/describe-action.ts";
import { shapeOfPod } from "../../src/plan/view/pod-shape.ts";
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

test("[ADO7] pods of a database that serves know best where its data lies, also with spec.adopt and without a status", () => {
  const world = settled();
  annotateClaims(world, "root");
  const { connectionString = "" } = world.cluster.status ?? {};
  world.cluster = { ...world.cluster, status: { connectionString } };
  world.changeSpec({ adopt: { volumes: { matchLabels: { a: "b" } } } });
  const { status, actions } = world.plan();
  assert.deepEqual(
    status.processGroups?.filter((group) => group.diskLayout !== undefined),
    [],
  );
  assert.deepEqual(
    actions.filter(({ type }) => type === "deletePods"),
    [],
  );
});

test("[ADO7] pods on claims that tell another place than the spec are made as those say, and not again while nobody answers", () => {
  const world = settled();
  world.pods.clear();
  annotateClaims(world, "2");
  const { connectionString = "" } = world.cluster.status ?? {};
  world.cluster = { ...world.cluster, status: { connectionString } };
  world.isDatabaseReachable = false;
  world.changeSpec({ adopt: { volumes: { matchLabels: { a: "b" } } } });
  world.settle();
  const servers = [...world.pods.values()]
    .filter(({ metadata }) => /-(storage|log)-/.test(metadata.name ?? ""))
    .map((pod) => shapeOfPod(world, pod).servers);
  assert.deepEqual(servers, [2, 2]);
  const uids = [...world.pods.values()].map(({ metadata }) => metadata.uid);
  world.isDatabaseReachable = true;
  world.configuration = undefined;
  world.nowMs += 1_200_000;
  world.settle();
  assert.deepEqual(
    [...world.pods.values()].map(({ metadata }) => metadata.uid),
    uids,
  );
  annotateClaims(world, undefined);
  world.settle();
  const again = [...world.pods.values()].filter(({ metadata }) => !uids.includes(metadata.uid));
  assert.equal(again.length, 2, "without the annotation the spec counts");
});
