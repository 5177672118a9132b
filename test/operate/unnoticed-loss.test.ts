// What an operator that has just started leaves alone, since FoundationDB may not have noticed yet what was lost before.
// Rules: spec/safety.md [S162], spec/drains.md [DRAIN23].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { disruptionBudget } from "../../src/build/disruption-budget.ts";
import { normalCluster } from "../../src/build/normalise.ts";
import { lowerLimitsRefusal } from "../../src/plan/safety/lower-limits.ts";
import { quarantineRefusal } from "../../src/plan/safety/quarantine.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { sampleDatabase, sampleGroup, sampleNowMs, viewOf } from "../fixtures/sample-view.ts";
import { PlanWorld } from "./plan-world.ts";

const calm: PlanWorld["statusOverlay"] = {
  fault_tolerance: {
    max_zone_failures_without_losing_availability: 1,
    max_zone_failures_without_losing_data: 1,
  },
  data: { team_trackers: [{ primary: true, state: { min_replicas_remaining: 2 } }] },
  logs: [{ log_replication_factor: 2, log_fault_tolerance: 1 }],
};

/** What is written of the budget of a cluster at rest, whose budget has this number of pods less than there are. */
function written(
  world: PlanWorld,
  fewer: number | undefined,
  sinceMs: number,
  expectedPods?: number,
): unknown[] {
  const cluster = normalCluster(world.cluster);
  const status = expectedPods === undefined ? {} : { status: figures(expectedPods) };
  const own =
    fewer === undefined
      ? []
      : [{ ...disruptionBudget(cluster, world.pods.size - fewer), ...status }];
  const seen: Partial<Snapshot> = {
    disruptionBudgets: own,
    watchedSinceMs: world.nowMs - sinceMs,
  };
  return world.plan(seen).actions.flatMap((action) => {
    if (action.type === "createDisruptionBudget") return [action.object.spec?.minAvailable];
    return action.type === "updateDisruptionBudget" ? [action.spec.minAvailable] : [];
  });
}

/** As the API server's controller finds them: how many pods the budget covers. */
function figures(expectedPods: number) {
  const counts = { currentHealthy: expectedPods, desiredHealthy: 0, disruptionsAllowed: 0 };
  return { ...counts, expectedPods };
}

test("[DRAIN23] [S162] an operator that has just started opens no budget, and leaves an open one open", () => {
  const world = new PlanWorld({
    databaseConfiguration: { redundancy_mode: "double" },
    automationOptions: { drains: { enabled: true } },
  });
  world.settle();
  world.statusOverlay = calm;
  const all = world.pods.size;
  const rows: readonly [fewer: number | undefined, sinceMs: number, written: readonly number[]][] =
    [
      [undefined, 89_000, [all]],
      [undefined, 90_000, [all - 1]],
      [0, 89_000, []],
      [0, 90_000, [all - 1]],
      [1, 89_000, []],
      [2, 89_000, [all]],
    ];
  for (const [fewer, sinceMs, expected] of rows) {
    assert.deepEqual(written(world, fewer, sinceMs), expected, `${fewer} fewer, ${sinceMs} ms`);
  }
});

test("[DRAIN23] a budget that was closed for fewer pods is not taken for one that is open for more", () => {
  const world = new PlanWorld({
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { stateless: 3 },
    automationOptions: { drains: { enabled: true } },
  });
  world.settle();
  world.statusOverlay = calm;
  const all = world.pods.size;
  world.changeSpec({ processCounts: { stateless: 4 } });
  assert.deepEqual(written(world, 0, 89_000, all), [all + 1]);
  assert.deepEqual(written(world, 0, 89_000, all - 1), [all + 1], "one was gone by then");
  assert.deepEqual(written(world, 0, 90_000, all), []);
});

test("[S162] no limit is lowered and nothing is deleted from quarantine before a loss must have been noticed", () => {
  const sample = sampleDatabase();
  const groups = [sampleGroup(sample, "storage-1")];
  for (const [ageMs, reason] of [
    [89_000, "BudgetExhausted"],
    [90_000, undefined],
  ] as const) {
    const view = { ...viewOf(sample), watchedSinceMs: sampleNowMs - ageMs };
    assert.equal(lowerLimitsRefusal(view, sample.status, groups)?.reason, reason);
    assert.equal(quarantineRefusal(view, sample.status, [])?.reason, reason);
  }
});
