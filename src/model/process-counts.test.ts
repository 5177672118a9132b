// How many process groups of each class a cluster wants.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { kubernetesClusterKey } from "./fault-domain.ts";
import { desiredProcessCounts, totalProcessCount } from "./process-counts.ts";
import type { CountInput, CountOptions } from "./process-counts.ts";

function counts(input: CountInput, options?: CountOptions): number[] {
  const { storage = 0, log = 0, stateless = 0 } = desiredProcessCounts(input, options);
  return [storage, log, stateless];
}

test("[M40] zero is inferred, negative is none, and only positive counts remain", () => {
  const wanted = desiredProcessCounts({
    processCounts: { storage: -1, log: 2, test: 1, proxy: 0 },
  });
  assert.deepEqual(Object.entries(wanted), [
    ["test", 1],
    ["stateless", 9],
    ["log", 2],
  ]);
  assert.equal(totalProcessCount(wanted), 12);
});

test("[M41] storage and logs follow the roles", () => {
  const mode = (redundancy_mode: string): number[] =>
    counts({ databaseConfiguration: { redundancy_mode } });
  assert.deepEqual(mode("single"), [1, 3, 8]);
  assert.deepEqual(mode("double"), [3, 4, 9]);
  assert.deepEqual(mode("triple"), [5, 5, 10]);
  assert.deepEqual(mode("three_data_hall"), [5, 6, 10]);
  assert.deepEqual(mode("three_data_hall_fallback"), [5, 6, 10]);
  assert.deepEqual(mode("three_datacenter"), [6, 6, 10]);
});

test("[M42] a role with a class of its own needs no stateless process", () => {
  const stateless = (processCounts: CountInput["processCounts"]): number | undefined =>
    desiredProcessCounts({ processCounts }).stateless;
  assert.equal(stateless({ master: 1, cluster_controller: 1, ratekeeper: 1 }), 6);
  assert.equal(stateless({ proxy: 2, resolution: 1, data_distributor: 1 }), 4);
  assert.equal(
    desiredProcessCounts({ databaseConfiguration: { usable_regions: 2, log_routers: 30 } })
      .stateless,
    31,
  );
});

const regions = [
  {
    datacenters: [
      { id: "dc1", priority: 1 },
      { id: "dc3", priority: 1, satellite: 1 },
    ],
    satellite_logs: 3,
  },
  {
    datacenters: [{ id: "dc2" }, { id: "dc1", priority: 1, satellite: 1 }],
    satellite_logs: 4,
  },
];

test("[M43] a satellite gets logs only, and a main datacenter carries its satellite logs", () => {
  const databaseConfiguration = { usable_regions: 2, regions };
  assert.deepEqual(counts({ databaseConfiguration, dataCenter: "dc3" }), [0, 4, 0]);
  assert.deepEqual(counts({ databaseConfiguration, dataCenter: "dc1" }), [3, 8, 9]);
  assert.deepEqual(counts({ databaseConfiguration, dataCenter: "dc2" }), [3, 4, 9]);
  const processCounts = { log: 2 };
  assert.deepEqual(counts({ databaseConfiguration, dataCenter: "dc3", processCounts }), [3, 2, 9]);
});

test("[M44] counts are divided among Kubernetes clusters", () => {
  const at = (zoneIndex: number, zoneCount?: number): number[] =>
    counts({ faultDomain: { key: kubernetesClusterKey, zoneIndex, zoneCount } });
  assert.deepEqual(
    [0, 1, 2].map((index) => at(index, 3)),
    [
      [1, 2, 3],
      [1, 1, 3],
      [1, 1, 3],
    ],
  );
  assert.deepEqual(at(0), [1, 2, 3]);
  assert.deepEqual(at(-1, 3), [0, 0, 0]);
  assert.deepEqual(counts({ faultDomain: { zoneIndex: -1 } }), [0, 0, 0]);
});

test("[M45] a spread over halls rounds up to a multiple of three", () => {
  const databaseConfiguration = { redundancy_mode: "three_data_hall" };
  assert.deepEqual(counts({ databaseConfiguration }, { isSpreadOverHalls: true }), [6, 9, 12]);
  const processCounts = { storage: 7 };
  assert.deepEqual(
    counts({ databaseConfiguration, processCounts }, { isSpreadOverHalls: true }),
    [7, 9, 12],
  );
});
