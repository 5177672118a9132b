// Upgrades between protocols in global mode: nothing is prepared while others may restart our processes.
// Rules: spec/upgrade.md [U57], [U59].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Plan } from "../../src/plan/chain.ts";
import { GlobalWorld } from "./global-world.ts";
import { waitOf } from "./removal-world.ts";

function isPreparing(plan: Plan): boolean {
  return plan.actions.some(
    ({ type }) => type === "updatePodImage" || type === "registerPendingUpgrade",
  );
}

test("[U59] own restart entries, and sets that were not read, hold the preparation of an upgrade", () => {
  const world = GlobalWorld.global({ ignoreUpgradabilityChecks: true });
  const id = world.id("storage");
  for (const set of ["pendingForRestart", "readyForRestart"] as const) world.put(set, `dc1/${id}`);
  world.put("readyForRestart", "dc2/dc2-storage-1");
  world.changeSpec({ version: "7.4.6" });
  const held = world.plan();
  assert.equal(isPreparing(held), false);
  assert.match(waitOf(held, "CoordinationSettling"), new RegExp(`may still restart ${id}:`));
  const taken = held.actions.flatMap((action) =>
    action.type === "updateCoordination" ? [...(action.updates.readyForRestart?.keys() ?? [])] : [],
  );
  assert.deepEqual(taken, [id]);
  world.isRead = false;
  assert.equal(isPreparing(world.plan()), false);
  assert.match(waitOf(world.plan(), "CoordinationSettling"), /have not been read/);
  world.isRead = true;
  for (const set of ["pendingForRestart", "readyForRestart"] as const) world.drop(set, `dc1/${id}`);
  assert.equal(isPreparing(world.plan()), true);
});
