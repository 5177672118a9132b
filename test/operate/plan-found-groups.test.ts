// A process group that the status of the resource has lost and that its objects bring back.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PlanWorld } from "./plan-world.ts";

test("[S165] a process group that was found again counts as reported where the operator saw it report", () => {
  const world = new PlanWorld({
    processCounts: { storage: 1, log: 1, stateless: 1 },
    databaseConfiguration: { redundancy_mode: "single" },
  });
  assert.ok(world.settle().isReconciled);
  const log = world.cluster.status?.processGroups?.find((one) => one.processClass === "log");
  const { processGroupID: id = "" } = log ?? {};
  world.cluster = { ...world.cluster, status: undefined };
  world.statusOverlay = { processes: {} };
  const place = { faultDomain: "zone-7", firstReported: undefined, listedMs: 0 };
  const zones = (reportedPlaces: ReadonlyMap<string, typeof place>) =>
    world.plan({ reportedPlaces }).status.processGroups?.map((group) => group.faultDomain);
  assert.deepEqual(zones(new Map()), [undefined, undefined, undefined]);
  assert.deepEqual(zones(new Map([[id, place]])), ["zone-7", undefined, undefined]);
});
