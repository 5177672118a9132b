// What is told of coordinators that cannot be reached: which remedy helps where.
import assert from "node:assert/strict";
import { test } from "node:test";
import { remedyForCoordinators } from "./lost-coordinators.ts";
import type { Coordinators } from "./lost-coordinators.ts";

const base: Coordinators = {
  clusterName: "sample",
  connectionString: "sample:abc@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501",
  podNames: ["sample-storage-1", "sample-storage-2"],
  podHosts: ["10.1.0.7", "10.1.0.8"],
  wasSeen: true,
};
const names = "sample:abc@sample-log-1.sample.default.svc.cluster.local:4501";
const [fix, name, stale] = [
  /kubectl fdb fix-coordinator-ips -c sample gives/,
  /kubectl fdb update connection-string -c sample\./,
  /fdb\.cluster of one of its pods into status\.connectionString/,
];

const cases: [string, Partial<Coordinators>, RegExp[]][] = [
  ["addresses that no pod has any more, of a database that was seen", {}, [fix, stale]],
  ["the same of one that is brought back from its disks", { wasSeen: false }, [name]],
  ["names that no pod has", { connectionString: names }, [stale]],
  ["an address that a pod still has", { podHosts: ["10.1.0.2"] }, []],
  ["a name that a pod has", { connectionString: names, podNames: ["sample-log-1"] }, []],
  ["no pods at all: they come first", { podNames: [], podHosts: [] }, []],
  ["a connection string that nobody can read", { connectionString: "?", wasSeen: false }, []],
  [
    "an address in the other family",
    { connectionString: "sample:abc@[2001:db8::1]:4501", podHosts: ["2001:db8::1"] },
    [],
  ],
];

for (const [title, changes, expected] of cases) {
  test(`[E64] the remedy for coordinators that cannot be reached: ${title}`, () => {
    const remedy = remedyForCoordinators({ ...base, ...changes });
    assert.match(remedy, /^Look at the pods of the coordinators/);
    for (const pattern of [fix, name, stale]) {
      assert.equal(pattern.test(remedy), expected.includes(pattern), `${pattern} in: ${remedy}`);
    }
  });
}
