// The unified image's configuration.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  parseMonitorConfiguration,
  resolveArguments,
  usedEnvironment,
} from "./monitor-configuration.ts";
import type { MonitorArgument } from "./monitor-configuration.ts";

const environment = { FDB_PUBLIC_IP: "10.1.0.1,fd00::1", FDB_ZONE_ID: "z", UNUSED: "u" };

function resolve(argument: MonitorArgument, processNumber = 1) {
  const result = resolveArguments(
    { version: "7.3.63", arguments: [argument] },
    processNumber,
    environment,
  );
  return "value" in result ? result.value[0] : result;
}

test("[KUBELET31] a configuration is a JSON object with a version", () => {
  const problem = (text: string): boolean => "problem" in parseMonitorConfiguration(text);
  assert.equal(problem("{"), true);
  assert.equal(problem("[]"), true);
  assert.equal(problem("{}"), true);
  assert.equal(problem('{"version":"seven"}'), true);
  assert.equal(problem('{"version":"7.3.63-rc1"}'), false);
});

test("[KUBELET32] how arguments are resolved", () => {
  assert.equal(resolve({ value: "a" }), "a");
  assert.equal(resolve({ type: "Literal", value: "a" }), "a");
  assert.equal(resolve({ type: "ProcessNumber" }, 3), "3");
  assert.equal(resolve({ type: "ProcessNumber", multiplier: 2, offset: 4499 }, 2), "4503");
  assert.equal(resolve({ type: "Environment", source: "FDB_ZONE_ID" }), "z");
  assert.equal(resolve({ type: "IPList", source: "FDB_PUBLIC_IP", ipFamily: 6 }), "fd00::1");
  assert.equal(
    resolve({
      type: "Concatenate",
      values: [
        { value: "[" },
        { type: "IPList", source: "FDB_PUBLIC_IP", ipFamily: 4 },
        { value: "]" },
      ],
    }),
    "[10.1.0.1]",
  );
  assert.deepEqual(resolve({ type: "Environment", source: "NONE" }), {
    problem: "missing environment variable NONE",
  });
  assert.deepEqual(resolve({ type: "IPList", source: "FDB_ZONE_ID", ipFamily: 4 }), {
    problem: "no IPv4 address in FDB_ZONE_ID: z",
  });
  assert.deepEqual(resolve({ type: "IPList", source: "FDB_PUBLIC_IP", ipFamily: 5 }), {
    problem: "unsupported IP family 5",
  });
});

test("[KUBELET33] the variables that a configuration uses, as it uses them", () => {
  const nested = {
    type: "Concatenate",
    values: [{ type: "IPList", source: "FDB_PUBLIC_IP", ipFamily: 4 }],
  };
  const configuration = {
    version: "7.3.63",
    arguments: [nested, { type: "Environment", source: "FDB_ZONE_ID" }, { value: "x" }],
  };
  assert.deepEqual(usedEnvironment(configuration, environment), {
    FDB_PUBLIC_IP: "10.1.0.1",
    FDB_ZONE_ID: "z",
  });
});
