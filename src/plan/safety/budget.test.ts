// The disruption budget: what it starts from, and everything that is taken off it.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { fenceAnnotations } from "../../build/fence.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Node } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { affordableZones, disruptionBudget, takeDownProblem } from "./budget.ts";
import {
  emptySampleProcess,
  killSample,
  sampleDatabase,
  sampleEntry,
  sampleGroup,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import type { SafetyView } from "./view.ts";

function setTolerance(sample: Sample, data: number, availability = data): void {
  const { cluster } = sample.status;
  if (cluster === undefined) return;
  cluster.fault_tolerance = {
    max_zone_failures_without_losing_data: data,
    max_zone_failures_without_losing_availability: availability,
  };
}

function setMode(sample: Sample, mode: string): void {
  const configuration = sample.status.cluster?.configuration;
  if (configuration) configuration.redundancy_mode = mode;
}

test("[S30] the budget is the lower of the two figures of FoundationDB", () => {
  const sample = sampleDatabase();
  setMode(sample, "triple");
  setTolerance(sample, 2);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 2);
  setTolerance(sample, 2, 1);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
  setTolerance(sample, 1, -1);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 0);
});

test("[S30] it is never more than the mode promises, and nothing when the figures are missing", () => {
  const sample = sampleDatabase();
  setTolerance(sample, 5);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
  delete sample.status.cluster?.fault_tolerance;
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 0);
  const silence = { kind: "missing" as const, reason: "Unreachable" as const };
  const database = { ...silence, message: "", sinceMs: 0 };
  assert.equal(disruptionBudget(viewOf(sampleDatabase(), { database })).zonesAllowed, 0);
});

test("[FENCE4] a fault domain whose server was told to stop counts as down while it still reports, whoever told it", () => {
  const sample = sampleDatabase();
  const [pod] = sample.pods.values();
  assert.ok(pod);
  pod.metadata.annotations = { ...pod.metadata.annotations, ...fenceAnnotations };
  const budget = disruptionBudget(viewOf(sample));
  assert.equal(budget.zonesAllowed, 0);
  assert.match(budget.reason, /was told to stop/);
  // What a person isolates without us may be a pod whose monitor never follows.
  delete pod.metadata.annotations[annotationKeys.fenced];
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
});

const notReadyNode: Stored<Node> = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-2" },
  status: { conditions: [{ type: "Ready", status: "Unknown" }] },
};

const downs: [string, (sample: Sample) => Partial<SafetyView> | void, RegExp][] = [
  ["[S31] a pod that is gone", ({ pods }) => void pods.delete("sample-log-2"), /log-2 is gone/],
  [
    "[S31] a pod that is being deleted",
    ({ pods }) => {
      const pod = pods.get("sample-log-2");
      if (pod) {
        const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
        pods.set("sample-log-2", { ...pod, metadata });
      }
    },
    /log-2 is being deleted/,
  ],
  [
    "[S31] a pod that is not ready",
    ({ pods }) => {
      const pod = pods.get("sample-log-2");
      if (pod) pods.set("sample-log-2", { ...pod, status: { ...pod.status, phase: "Pending" } });
    },
    /log-2 is not ready/,
  ],
  [
    "[S32] a node that is not ready",
    () => ({ nodes: new Map([["node-2", notReadyNode]]) }),
    /node/,
  ],
  ["[S33] a process that is missing", (sample) => killSample(sample, "log-2"), /does not report/],
  [
    "[S34] our own act that is not over",
    () => ({ ledger: [sampleEntry({ zones: ["zone-2"] })] }),
    /our own act/,
  ],
  [
    "[S35] a loss of another instance",
    () => ({ lostZones: new Map([["zone-9", "dc2-log-1 does not report"]]) }),
    /dc2-log-1/,
  ],
];

for (const [title, change, expected] of downs) {
  test(`${title} uses up the budget`, () => {
    const sample = sampleDatabase();
    assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
    const overrides = change(sample) ?? {};
    const budget = disruptionBudget(viewOf(sample, overrides));
    assert.equal(budget.zonesAllowed, 0);
    assert.match(budget.reason, expected);
    assert.match(takeDownProblem(budget, ["zone-1"]) ?? "", expected);
  });
}

test("[S36] groups that never reported, that left, or that are tests are no loss", () => {
  const sample = sampleDatabase();
  delete sampleGroup(sample, "storage-1").faultDomain;
  sample.pods.delete("sample-storage-1");
  sampleGroup(sample, "storage-2").exclusionTimestamp = "2026-01-01T00:00:00Z";
  sample.pods.delete("sample-storage-2");
  sampleGroup(sample, "storage-3").processClass = "test";
  sample.pods.delete("sample-storage-3");
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
});

test("[S36] a process that somebody excluded and that holds nothing is no loss", () => {
  const sample = sampleDatabase();
  emptySampleProcess(sample, "storage-1");
  sample.pods.delete("sample-storage-1");
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
});

test("[S37] a zone under maintenance counts as down, and FoundationDB's figure leaves it out already", () => {
  const sample = sampleDatabase();
  setTolerance(sample, 0);
  if (sample.status.cluster) sample.status.cluster.maintenance_zone = "zone-2";
  const budget = disruptionBudget(viewOf(sample));
  assert.equal(budget.zonesAllowed, 0);
  assert.equal(takeDownProblem(budget, ["zone-2"]), undefined);
  assert.notEqual(takeDownProblem(budget, ["zone-1"]), undefined);
});

test("[S38] a zone that is down already costs nothing more, unless too much is down", () => {
  const sample = sampleDatabase();
  sample.pods.delete("sample-log-2");
  assert.equal(takeDownProblem(disruptionBudget(viewOf(sample)), ["zone-2"]), undefined);
  sample.pods.delete("sample-log-3");
  assert.match(
    takeDownProblem(disruptionBudget(viewOf(sample)), ["zone-2"]) ?? "",
    /can lose 1 zone/,
  );
});

test("[S39] as many zones as fit are chosen, in their order", () => {
  const sample = sampleDatabase();
  setMode(sample, "triple");
  setTolerance(sample, 2);
  const zones = ["zone-1", "zone-2", "zone-3"];
  assert.deepEqual(affordableZones(disruptionBudget(viewOf(sample)), zones), ["zone-1", "zone-2"]);
  sample.pods.delete("sample-log-3");
  assert.deepEqual(affordableZones(disruptionBudget(viewOf(sample)), zones), ["zone-1", "zone-3"]);
});

const worlds = fc.record({
  mode: fc.constantFrom("single", "double", "triple", "three_data_hall", "unknown"),
  data: fc.integer({ min: -1, max: 4 }),
  availability: fc.integer({ min: -1, max: 4 }),
  gone: fc.subarray(["storage-1", "storage-2", "storage-3", "log-1", "log-2"]),
  silent: fc.subarray(["storage-1", "log-2", "log-3", "stateless-1"]),
  acts: fc.subarray(["zone-1", "zone-2", "zone-3", "zone-4"]),
  wanted: fc.subarray(["zone-1", "zone-2", "zone-3", "zone-4", "zone-5"]),
});

test("[S39] the budget is never negative, never overdrawn, and the same for the same world", () => {
  fc.assert(
    fc.property(worlds, ({ mode, data, availability, gone, silent, acts, wanted }) => {
      const sample = sampleDatabase();
      setMode(sample, mode);
      setTolerance(sample, data, availability);
      for (const id of gone) sample.pods.delete(`sample-${id}`);
      for (const id of silent) killSample(sample, id);
      const view = viewOf(sample, { ledger: acts.map((zone) => sampleEntry({ zones: [zone] })) });
      const budget = disruptionBudget(view);
      assert.deepEqual(budget, disruptionBudget(view));
      assert.ok(budget.zonesAllowed >= 0);
      const chosen = affordableZones(budget, wanted);
      const down = new Set([...budget.downZones, ...chosen]);
      if (chosen.length > 0) assert.ok(down.size <= Math.max(0, Math.min(data, availability)));
      const fresh = chosen.filter((zone) => !budget.downZones.has(zone));
      assert.ok(fresh.length <= budget.zonesAllowed);
    }),
    { seed: 1, numRuns: 300 },
  );
});

/** All process groups of one number are one logical fault domain each of their class, and nodes are as given. */
function packedView(sample: Sample, readiness: Readonly<Record<string, string>>): SafetyView {
  for (const [index, group] of sample.groups.entries()) {
    const distributionKey = group.processClass === "storage" ? "storage-0" : `other-${index}`;
    sample.groups[index] = {
      ...group,
      ...{ distributionKey, faultDomain: distributionKey, firstReported: "2026-01-01T00:00:00Z" },
    };
  }
  const nodes = [...sample.pods.values()].map(({ spec }) => spec?.nodeName ?? "");
  return viewOf(sample, {
    nodes: new Map(
      nodes.map((name) => [
        name,
        {
          ...{ apiVersion: "v1", kind: "Node", metadata: { name } },
          status: { conditions: [{ type: "Ready", status: readiness[name] ?? "True" }] },
        },
      ]),
    ),
  });
}

/** Only storage pods run on these two nodes. */
function storageAlone(sample: Sample): void {
  for (const [name, pod] of sample.pods) {
    const isStorage = name.includes("-storage-");
    if (isStorage || pod.spec === undefined) continue;
    sample.pods.set(name, { ...pod, spec: { ...pod.spec, nodeName: `other-${name}` } });
  }
}

test("[PACK57] with logical fault domains a host that is down is a loss, however few zones it costs", () => {
  const sample = sampleDatabase();
  setMode(sample, "triple");
  setTolerance(sample, 2);
  storageAlone(sample);
  const one = disruptionBudget(packedView(sample, { "node-1": "Unknown" }));
  assert.deepEqual([[...one.downZones], [...one.downHosts]], [["storage-0"], ["node-1"]]);
  assert.equal(takeDownProblem(one, ["log-1"]), undefined);
  const two = disruptionBudget(packedView(sample, { "node-1": "Unknown", "node-2": "False" }));
  assert.deepEqual([two.downZones.size, two.downHosts.size, two.zonesAllowed], [1, 2, 0]);
  assert.match(takeDownProblem(two, ["log-1"]) ?? "", /hosts down: node-1 and node-2/);
  assert.equal(
    takeDownProblem(two, ["storage-0"]),
    undefined,
    "the rest of a lost zone costs nothing",
  );
});

test("[PACK57] a new process group whose pod has not started is no loss", () => {
  const sample = sampleDatabase();
  const view = packedView(sample, {});
  const [first] = sample.groups;
  assert.ok(first !== undefined);
  const { firstReported: _, ...fresh } = first;
  sample.groups[0] = fresh;
  sample.pods.delete(`sample-${first.processGroupID}`);
  assert.deepEqual([...disruptionBudget(view).downZones], []);
});
