// Pods whose servers started with a newer version than the database runs. Rules: spec/upgrade.md [U91].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PlanWorld } from "./plan-world.ts";

for (const [processClass, version, isMadeAgain] of [
  ["storage", "7.1.57", false],
  ["log", "7.1.57", false],
  ["stateless", "7.1.57", true],
  ["storage", "7.3.79", true],
] as const) {
  test(`[U91] a ${processClass} pod that was made for ${version}, which runs, ${isMadeAgain ? "is deleted" : "stays"} when the database does not understand it`, () => {
    const world = new PlanWorld({ version, processCounts: { storage: 3, log: 3, stateless: 1 } });
    assert.ok(world.settle().isReconciled);
    const groups = world.cluster.status?.processGroups ?? [];
    const group = groups.find((one) => one.processClass === processClass);
    const seen = world.database();
    assert.ok(seen.kind === "seen");
    const processes = Object.entries(seen.status.cluster?.processes ?? {}).filter(
      ([, process]) => process.locality?.["instance_id"] !== group?.processGroupID,
    );
    world.statusOverlay = {
      processes: Object.fromEntries(processes),
      incompatible_connections: [`${group?.addresses?.[0] ?? ""}:4501`],
    };
    const { actions, waits } = world.plan();
    const deletions = actions.filter(({ type }) => type === "deletePods");
    assert.equal(deletions.length, isMadeAgain ? 1 : 0);
    const told = waits.filter(({ reason }) => reason === "NewerVersionStarted");
    assert.equal(told.length, isMadeAgain ? 0 : 1);
  });
}
