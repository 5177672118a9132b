// Redundancy modes and fault domains.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { faultDomainKeyOf, topologyKeyOf, zoneVariableOf } from "./fault-domain.ts";
import { redundancyForCounts, redundancyModes, redundancyOf } from "./redundancy.ts";

function numbers(mode: string): number[] {
  const { faultTolerance, minimumFaultDomains, storageCopies, defaultLogs, coordinators } =
    redundancyOf(mode);
  return [faultTolerance, minimumFaultDomains, storageCopies, defaultLogs, coordinators];
}

test("[M22] the plain modes", () => {
  assert.deepEqual(numbers("single"), [0, 1, 1, 3, 1]);
  assert.deepEqual(numbers("double"), [1, 2, 2, 3, 3]);
  assert.deepEqual(numbers("triple"), [2, 3, 3, 3, 5]);
});

test("[M23] the modes that spread over halls and datacenters", () => {
  assert.deepEqual(numbers("three_data_hall"), [2, 3, 3, 4, 9]);
  assert.deepEqual(numbers("three_datacenter"), [2, 6, 6, 4, 9]);
  assert.equal(redundancyOf("three_data_hall").spreadLocality, "data_hall");
  assert.equal(redundancyOf("three_datacenter").spreadLocality, "dcid");
});

test("[M24] a fallback keeps counts and coordinators of its full mode", () => {
  assert.deepEqual(numbers("three_data_hall_fallback"), [1, 2, 2, 4, 9]);
  assert.deepEqual(numbers("three_datacenter_fallback"), [1, 4, 4, 4, 9]);
  for (const mode of redundancyModes.filter((name) => name.endsWith("_fallback"))) {
    assert.equal(redundancyForCounts(mode).mode, mode.replace("_fallback", ""));
  }
  assert.equal(redundancyForCounts("triple").mode, "triple");
});

test("[M25] no mode is double and an unknown one promises nothing", () => {
  assert.equal(redundancyOf(undefined).mode, "double");
  assert.equal(redundancyOf("").faultTolerance, 1);
  assert.deepEqual(numbers("quadruple"), numbers("single"));
});

test("[M30] the host is the fault domain unless a key says otherwise", () => {
  assert.equal(faultDomainKeyOf(undefined), "kubernetes.io/hostname");
  assert.equal(topologyKeyOf({ key: "rack" }), "rack");
  assert.equal(topologyKeyOf({ key: "foundationdb.org/none" }), undefined);
  assert.equal(topologyKeyOf({ key: "foundationdb.org/kubernetes-cluster" }), undefined);
});

test("[M31] the zone may come from a variable of the user", () => {
  assert.equal(zoneVariableOf({ valueFrom: "$RACK" }), "RACK");
  assert.equal(zoneVariableOf({ valueFrom: "spec.nodeName" }), "FDB_ZONE_ID");
  assert.equal(zoneVariableOf(undefined), "FDB_ZONE_ID");
});
