// Step addPods while the ConfigMap is not what it should be. Rule: spec/plan.md [P118].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { clusterFileKey } from "../../src/build/config-map.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { PlanWorld } from "./plan-world.ts";

const spec = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const;

/** A settled cluster that has lost the pods of two classes, and whose ConfigMap somebody else keeps. */
function behind(told: (connectionString: string) => string): PlanWorld {
  const world = new PlanWorld(spec);
  assert.ok(world.settle().isReconciled);
  const { configMap, cluster } = world;
  assert.ok(configMap !== undefined);
  const clusterFile = told(cluster.status?.connectionString ?? "");
  world.configMap = { ...configMap, data: { ...configMap.data, [clusterFileKey]: clusterFile } };
  const coordinator = cluster.status?.connectionString ?? "";
  for (const name of [...world.pods.keys()]) {
    if (!name.includes("-log-") && !coordinator.includes(name)) world.pods.delete(name);
  }
  return world;
}

function made(plan: Plan): string[] {
  return plan.actions.flatMap((action) =>
    action.type === "createPod" ? [(action.object.metadata.name ?? "").replace(/-\d+$/, "")] : [],
  );
}

function gone(connectionString: string): string {
  return connectionString.replace(/@.*/, "@10.9.9.9:4501");
}

test("[P118] a pod that would read of coordinators that are gone alone is not made before the ConfigMap is right", () => {
  const world = behind(gone);
  const plan = world.plan();
  assert.ok(!made(plan).includes("sample-stateless"));
  assert.ok(plan.actions.some(({ type }) => type === "updateConfigMap"));
  const wait = plan.waits.find(({ reason }) => reason === "ConfigMapOutdated");
  assert.match(wait?.message ?? "", /coordinators that are gone: sample-stateless-\d+ would not/);
  world.pass();
  assert.deepEqual(made(world.pass()), ["sample-stateless"]);
});

test("[P118] a pod whose volume has a cluster file is made meanwhile", () => {
  assert.ok(made(behind(gone).plan()).includes("sample-storage"));
});

test("[P118] one former coordinator that serves is enough to find the others", () => {
  const world = behind((connectionString) => `${connectionString},10.9.9.9:4501`);
  assert.ok(made(world.plan()).includes("sample-stateless"));
});

test("[P118] a pod is made while nobody can tell which coordinators serve", () => {
  const world = behind(gone);
  world.isDatabaseReachable = false;
  assert.ok(made(world.plan()).includes("sample-stateless"));
});
