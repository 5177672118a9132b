// What holds for every plan, whatever the cluster and the damage: it is a function of its snapshot, carrying it out leaves
// nothing to do, and no process group ever has two pods.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { seededRandom } from "../../src/env/random.ts";
import { PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { PlanWorld } from "./plan-world.ts";

const specs: fc.Arbitrary<Partial<ClusterSpec>> = fc.record({
  processCounts: fc.record({
    storage: fc.integer({ min: 3, max: 6 }),
    log: fc.integer({ min: 3, max: 5 }),
    stateless: fc.integer({ min: 1, max: 6 }),
  }),
  databaseConfiguration: fc.record({
    redundancy_mode: fc.constantFrom("single" as const, "double" as const, "triple" as const),
    logs: fc.integer({ min: 1, max: 4 }),
  }),
  routing: fc.record({
    useDNSInClusterFile: fc.boolean(),
    publicIPSource: fc.constantFrom("pod" as const, "service" as const),
  }),
  processGroupIDPrefix: fc.constantFrom("", "dc1", "storage-a"),
  mainContainer: fc.record({ enableTls: fc.boolean() }),
});

/** Objects that are lost and labels that are edited, by chance. */
function damage(world: PlanWorld, seed: number): void {
  const random = seededRandom(seed);
  for (const [name, pod] of world.pods) {
    const chance = random.next();
    if (chance < 0.2) world.pods.delete(name);
    else if (chance < 0.4) {
      world.pods.set(name, { ...pod, metadata: { ...pod.metadata, labels: {} } });
    }
  }
  // A claim that held data is not made again, so claims are left alone here. A service of a process group carries its address, which no repair can bring back.
  if (random.next() < 0.3) world.services.delete("sample");
  if (random.next() < 0.3) world.configMap = undefined;
}

const options = { seed: 1, numRuns: 25 };

test("[P38] every cluster comes up, is repaired after damage, and is then left alone", () => {
  fc.assert(
    fc.property(specs, fc.nat(), (spec, seed) => {
      const world = new PlanWorld(spec);
      world.seed = seed;
      assert.ok(world.settle().isReconciled, JSON.stringify(world.waits));
      assert.deepEqual(world.plan().actions, []);
      const groups = world.cluster.status?.processGroups?.map((group) => group.processGroupID);
      damage(world, seed);
      assert.ok(world.settle().isReconciled, JSON.stringify(world.waits));
      assert.deepEqual(world.plan().actions, []);
      assert.deepEqual(
        world.cluster.status?.processGroups?.map((group) => group.processGroupID),
        groups,
      );
    }),
    options,
  );
});

test("[P50] no process group ever has two pods, even when a pass is carried out in part", () => {
  fc.assert(
    fc.property(specs, fc.nat(), (spec, seed) => {
      const world = new PlanWorld(spec);
      const random = seededRandom(seed);
      for (let count = 0; count < 12; count += 1) {
        world.seed = Math.floor(random.next() * 1e9);
        const plan = world.plan();
        const isStored = random.next() < 0.7;
        if (isStored) world.cluster = { ...world.cluster, status: plan.status };
        // Nothing is done unless the decision was stored; a crash may end the pass at any action.
        const done = isStored ? Math.floor(random.next() * (plan.actions.length + 1)) : 0;
        for (const action of plan.actions.slice(0, done)) world.apply(action);
        world.nowMs += 2_000;
        world.runPods();
        const ids = [...world.pods.values()].map(
          (pod) => pod.metadata.labels?.["foundationdb.org/fdb-process-group-id"],
        );
        assert.equal(new Set(ids).size, ids.length);
        const { storage = 0, log = 0, stateless = 0 } = spec.processCounts ?? {};
        assert.ok(world.pods.size <= storage + log + stateless);
      }
    }),
    options,
  );
});

test("[P9] what is kept between passes never changes a plan", () => {
  fc.assert(
    fc.property(specs, fc.nat(), (spec, seed) => {
      const world = new PlanWorld(spec);
      world.seed = seed;
      for (let count = 0; count < 6; count += 1) {
        const remembered = world.plan();
        const fresh = world.plan({ memory: new PlanMemory() });
        assert.deepEqual(fresh, remembered);
        world.pass();
        world.nowMs += 2_000;
        world.runPods();
      }
    }),
    { seed: 1, numRuns: 10 },
  );
});

test("[P8] another seed draws other ids, the same seed the same", () => {
  const ids = (seed: number): string => {
    const world = new PlanWorld();
    world.seed = seed;
    return JSON.stringify(world.plan().status.processGroups?.map((group) => group.processGroupID));
  };
  assert.equal(ids(1), ids(1));
  assert.notEqual(ids(1), ids(2));
});
