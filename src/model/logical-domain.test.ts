// Names of logical fault domains. Rules: spec/packing.md [PACK10], [PACK11].
import assert from "node:assert/strict";
import { test } from "node:test";
import { logicalDomains } from "./logical-domain.ts";

const place = { prefix: "", processClass: "storage", hall: "" };

test("[PACK10] a logical fault domain is called after its class and counted from 0", () => {
  assert.deepEqual(logicalDomains(place, 3), ["storage-0", "storage-1", "storage-2"]);
  assert.deepEqual(logicalDomains({ ...place, processClass: "cluster_controller" }, 1), [
    "cluster_controller-0",
  ]);
});

test("[PACK11] the prefix of the resource stands before, the hall between", () => {
  assert.deepEqual(logicalDomains({ ...place, prefix: "dc1" }, 1), ["dc1-storage-0"]);
  assert.deepEqual(logicalDomains({ ...place, hall: "az2" }, 2), [
    "storage-az2-0",
    "storage-az2-1",
  ]);
  assert.deepEqual(logicalDomains({ prefix: "p", processClass: "log", hall: "a" }, 1), [
    "p-log-a-0",
  ]);
});
