// When a cluster is degraded, and when it only changes.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, Condition } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { planCluster } from "../../src/plan/chain.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { PlanWorld } from "./plan-world.ts";

const small = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const satisfies Partial<ClusterSpec>;

function settled(): PlanWorld {
  const world = new PlanWorld(small);
  assert.ok(world.settle().isReconciled);
  return world;
}

function degraded(plan: Plan): Condition | undefined {
  return conditionIn(plan.status, "Degraded");
}

function clusterOf(world: PlanWorld): NonNullable<DatabaseStatus["cluster"]> {
  const seen = world.database();
  assert.ok(seen.kind === "seen" && seen.status.cluster !== undefined);
  return seen.status.cluster;
}

test("[P78] a cluster that grows is not degraded, but one that loses a process is", () => {
  const world = settled();
  world.changeSpec({ processCounts: { ...small.processCounts, storage: 3 } });
  assert.equal(degraded(world.plan())?.status, "False");
  const processes = Object.entries(clusterOf(world).processes ?? {});
  world.statusOverlay = {
    processes: Object.fromEntries(processes.filter(([name]) => !name.includes("storage"))),
  };
  assert.equal(degraded(world.plan())?.status, "True");
});

test("[P94] a database that only moves data away from who leaves is not degraded", () => {
  const world = settled();
  const unhealthy = { database_status: { available: true, healthy: false } };
  const full = {
    full_replication: true,
    data: {
      moving_data: { highest_priority: 700 },
      team_trackers: [{ primary: true, state: { min_replicas_remaining: 1 } }],
    },
    logs: [{ log_replication_factor: 1, log_fault_tolerance: 0 }],
  };
  const judged = (cluster: object): Plan => {
    const seen = world.database();
    assert.ok(seen.kind === "seen");
    const status = {
      client: { ...seen.status.client, ...unhealthy },
      cluster: { ...seen.status.cluster, ...cluster },
    };
    return planCluster(world.snapshot({ database: { ...seen, status } }));
  };
  assert.equal(degraded(judged(full))?.reason, "DatabaseUnhealthy");
  const [leaving] = world.cluster.status?.processGroups ?? [];
  world.changeSpec({ processGroupsToRemove: [leaving?.processGroupID ?? ""] });
  const plan = judged(full);
  assert.equal(degraded(plan)?.status, "False");
  assert.equal(plan.status.health?.dataMovementPriority, 700);
  const short = { ...full, logs: [{ log_replication_factor: 2, log_fault_tolerance: 0 }] };
  assert.equal(degraded(judged(short))?.reason, "DatabaseUnhealthy");
});

test("[P94] a healthy database tells no priority of data movement", () => {
  const world = settled();
  world.statusOverlay = { data: { moving_data: { highest_priority: 120 } } };
  assert.equal(world.plan().status.health?.dataMovementPriority, undefined);
});

test("[P120] a claim of another specification makes no cluster degraded, one that is gone does", () => {
  const world = settled();
  const [name = "", claim] =
    [...world.pvcs].find(([each]) => each.includes("storage")) ?? assert.fail();
  const annotations = { ...claim.metadata.annotations, [annotationKeys.lastAppliedSpec]: "older" };
  world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, annotations } });
  const plan = world.plan();
  const told = plan.status.processGroups?.flatMap((group) => group.processGroupConditions ?? []);
  assert.deepEqual(
    told?.map(({ type }) => type),
    ["MissingPVC"],
    "the process group says so, as with the Go operator",
  );
  assert.deepEqual(degraded(plan)?.status, "False");
  world.pvcs.delete(name);
  assert.equal(degraded(world.plan())?.status, "True");
});
