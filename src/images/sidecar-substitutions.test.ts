// The variables of the split image's sidecar.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findSubstitutions, renderMonitorConf } from "./sidecar-substitutions.ts";

const base = {
  environment: {},
  hostName: "pod",
  ownAddress: "10.1.0.1",
  ownVersion: "7.3.63",
  mainContainerVersion: "7.3.63",
  mainContainerConfDirectory: "/var/dynamic-conf",
  publicIpFamily: "",
  variables: [],
};

test("[KUBELET41] variables and what stands in for missing ones", () => {
  assert.deepEqual(findSubstitutions(base), {
    value: {
      FDB_PUBLIC_IP: "10.1.0.1",
      FDB_MACHINE_ID: "pod",
      FDB_ZONE_ID: "pod",
      FDB_INSTANCE_ID: "",
      FDB_POD_IP: "10.1.0.1",
      BINARY_DIR: "/usr/bin",
    },
  });
  const other = findSubstitutions({
    ...base,
    ownVersion: "7.4.5",
    variables: ["RACK"],
    environment: { RACK: "r" },
  });
  assert.ok("value" in other);
  assert.equal(other.value["BINARY_DIR"], "/var/dynamic-conf/bin/7.4.5");
  assert.equal(other.value["RACK"], "r");
  assert.ok("problem" in findSubstitutions({ ...base, variables: ["RACK"] }));
});

test("[KUBELET41] with an IP family the first address of that family, IPv6 in brackets", () => {
  const environment = { FDB_PUBLIC_IP: "10.1.0.1,fd00::1", FDB_POD_IP: "fd00::2,10.1.0.2" };
  const addresses = (publicIpFamily: string) => {
    const result = findSubstitutions({ ...base, environment, publicIpFamily });
    return "value" in result
      ? [result.value["FDB_PUBLIC_IP"], result.value["FDB_POD_IP"]]
      : result.problem;
  };
  assert.deepEqual(addresses("4"), ["10.1.0.1", "10.1.0.2"]);
  assert.deepEqual(addresses("6"), ["[fd00::1]", "[fd00::2]"]);
  assert.equal(addresses("5"), "unsupported IP family 5");
});

test("[KUBELET42] rendering replaces names as text, the longer one first", () => {
  const values = { A: "1", A_LONG: "2" };
  assert.equal(renderMonitorConf("x = $A_LONG/$A $B $$A", values), "x = 2/1 $B $1");
});
