// Names of logical fault domains. Rules: spec/packing.md [PACK10], [PACK11].
import assert from "node:assert/strict";
import { test } from "node:test";
import { isLogicalDomain, logicalDomains } from "./logical-domain.ts";

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

test("[PACK10] [PACK11] a name is known as one of the domains or not", () => {
  for (const where of [place, { prefix: "p", processClass: "log", hall: "a" }]) {
    for (const name of logicalDomains(where, 12)) assert.ok(isLogicalDomain(where, 12, name), name);
    const [first = ""] = logicalDomains(where, 1);
    for (const other of [
      logicalDomains(where, 13)[12] ?? "",
      `${first}0`,
      "storage-",
      "",
      "log-0",
    ]) {
      assert.ok(!isLogicalDomain(where, 12, other), other);
    }
  }
});
