// Who is replaced in halls whose logs share a zone, under a limit of replacements. Proves [HALL39] of spec/halls.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { replaceMisconfiguredProcessGroups } from "../../src/plan/replacement/replace-misconfigured-process-groups.ts";
import { groupsIn, hallScene, hallSpec } from "./hall-scene.ts";

/** One log of az2 is to go; those that stay share a zone of az2, and of az3. */
function replacedUnder(maxConcurrentReplacements: number | undefined): string[] {
  const old = {
    ...{ processGroupID: "old-1", processClass: "log", hall: "az2" },
    removalTimestamp: "2026-01-01T00:00:00Z",
  };
  const groups = [old, ...groupsIn("log", { az1: 2, az2: 2, az3: 2 })];
  const zones = ["az2-x", "az1-1", "az1-2", "az2-1", "az2-1", "az3-1", "az3-1"];
  const processes = Object.fromEntries(
    groups.map(({ processGroupID: id, hall = "" }, index) => {
      const locality = { instance_id: id, data_hall: hall, zoneid: zones[index] ?? "" };
      return [id, { class_type: "log", address: `10.1.0.${index}:4501`, locality, roles: [] }];
    }),
  );
  const database: Snapshot["database"] = {
    kind: "seen",
    observedMs: 0,
    status: {
      client: {
        database_status: { available: true, healthy: true },
        coordinators: { quorum_reachable: true },
      },
      cluster: { configuration: { redundancy_mode: "three_data_hall" }, processes },
    },
  };
  const automationOptions =
    maxConcurrentReplacements === undefined ? {} : { maxConcurrentReplacements };
  const spec = hallSpec({ processCounts: { storage: 6, log: 6 }, automationOptions });
  const nowMs = Date.parse("2026-01-01T01:00:00Z");
  const { snapshot, draft } = hallScene(spec, groups, { database, nowMs });
  const status = { ...snapshot.cluster.status, configured: true };
  const cluster = { ...snapshot.cluster, status };
  const result = replaceMisconfiguredProcessGroups({ ...snapshot, cluster }, { ...draft, groups });
  const marked = (result.groups ?? []).filter(isMarkedForRemoval);
  return marked.map(({ processGroupID }) => processGroupID).filter((id) => id !== "old-1");
}

for (const [limit, expected] of [
  [undefined, ["log-3", "log-5"]],
  [1, ["log-3"]],
  [0, []],
] as const) {
  test(`[HALL39] ${expected.length} of those that share a zone of their hall are replaced where maxConcurrentReplacements is ${limit ?? "not given"}`, () => {
    assert.deepEqual(replacedUnder(limit), expected);
  });
}
