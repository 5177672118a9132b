// Faults for tests: the lists of the spec; and the swap of two regions.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { withCrashLoop, withNoSchedule } from "./buggify.ts";
import type { FaultFlags } from "./buggify.ts";
import { failedOver } from "./configuration.ts";
import { modernSpec } from "./deprecation.ts";

const flags: FaultFlags = { clusterLabel: "", containerName: "foundationdb" };
const clear = { ...flags, clear: true };
const clean = { ...flags, clean: true };

test("[PL50] a list takes names, gives them back, and is no list when it is empty", () => {
  assert.deepEqual(withNoSchedule({}, ["b", "a"], flags), { noSchedule: ["a", "b"] });
  assert.deepEqual(withNoSchedule({ noSchedule: ["b", "a"] }, ["b"], clear), { noSchedule: ["a"] });
  assert.deepEqual(withNoSchedule({ noSchedule: ["a"] }, ["a"], clear), {});
  const other = { emptyMonitorConf: true };
  assert.deepEqual(withNoSchedule({ ...other, noSchedule: ["a", "b"] }, [], clean), other);
});

test("[PL51] crash loops of other containers stay", () => {
  const sidecar = { containerName: "sidecar", targets: ["a"] };
  const both = withCrashLoop({ crashLoopContainers: [sidecar] }, ["b"], flags);
  const main = { containerName: "foundationdb", targets: ["b"] };
  assert.deepEqual(both, { crashLoopContainers: [sidecar, main] });
  assert.deepEqual(withCrashLoop(both, [], clean), { crashLoopContainers: [sidecar] });
  assert.deepEqual(withCrashLoop(both, ["b"], clear), { crashLoopContainers: [sidecar] });
});

test("[PL45] two regions swap the priorities of their main datacenters", () => {
  const region = (id: string, priority: number) => ({
    datacenters: [
      { id, priority },
      { id: `${id}-sat`, priority: 7, satellite: 1 },
    ],
  });
  const before = { usable_regions: 2, regions: [region("dc1", 1), region("dc2", 0)] };
  const after = failedOver(before, "sample", "dc2");
  assert.deepEqual(after, { usable_regions: 2, regions: [region("dc1", 0), region("dc2", 1)] });
  assert.deepEqual(failedOver(after, "sample", "dc1"), before);
  assert.deepEqual(failedOver(after, "sample", "dc2"), after);
  assert.throws(
    () => failedOver(after, "sample", "dc3"),
    /sample has no main datacenter dc3: there are dc2 and dc1/,
  );
  const equal = { usable_regions: 2, regions: [region("dc1", 1), region("dc2", 1)] };
  assert.throws(() => failedOver(equal, "sample", "dc2"), /both regions have the priority 1/);
  assert.throws(() => failedOver({}, "sample", "dc2"), /sample has no two regions to swap/);
});

test("[PL80] [PL81] a spec says the same without deprecated fields", () => {
  const version = "7.3.63";
  const modern = { version, buggify: { noSchedule: ["a"] } };
  assert.equal(modernSpec(modern, true), modern);
  const old = {
    version,
    imageType: "split" as const,
    buggify: {
      crashLoop: ["b"],
      crashLoopContainers: [{ containerName: "foundationdb", targets: ["a"] }],
    },
    automationOptions: { synronizationMode: "global" as const, useManagementAPI: true },
  };
  const next = {
    version,
    imageType: "split",
    buggify: { crashLoopContainers: [{ containerName: "foundationdb", targets: ["a", "b"] }] },
    automationOptions: { synchronizationMode: "global" },
  };
  assert.deepEqual(modernSpec(old, false), next);
  assert.deepEqual(modernSpec(old, true), { ...next, imageType: "unified" });
});
