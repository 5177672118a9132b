// Rule PV6: values for a preview are typed by the schema of the resource.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { customResourceOf } from "../api/crd.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { setValue } from "./set.ts";

const cluster: FoundationDBCluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { namespace: "default", name: "sample" },
  spec: { version: "7.3.63", processCounts: { storage: 3 } },
};

const { schema = {} } = customResourceOf(cluster.apiVersion, cluster.kind) ?? {};
const set = (assignment: string) => setValue(cluster, assignment, schema);

const good: [string, object][] = [
  ["spec.version=7.3.79", { ...cluster.spec, version: "7.3.79" }],
  ["spec.processCounts.storage=5", { ...cluster.spec, processCounts: { storage: 5 } }],
  ["spec.processCounts.log=4", { ...cluster.spec, processCounts: { storage: 3, log: 4 } }],
  ["spec.mainContainer.enableTls=true", { ...cluster.spec, mainContainer: { enableTls: true } }],
  [
    "spec.databaseConfiguration.redundancy_mode=triple",
    { ...cluster.spec, databaseConfiguration: { redundancy_mode: "triple" } },
  ],
  [
    'spec.processes.general.customParameters=["knob_a=1"]',
    { ...cluster.spec, processes: { general: { customParameters: ["knob_a=1"] } } },
  ],
  [
    "spec.processes.general.customParameters[0]=knob_a=1",
    { ...cluster.spec, processes: { general: { customParameters: ["knob_a=1"] } } },
  ],
];

for (const [assignment, spec] of good) {
  test(`[PV6] --set ${assignment} is taken`, () => {
    assert.deepEqual(set(assignment), { cluster: { ...cluster, spec } });
  });
}

const bad: [string, RegExp][] = [
  ["spec.processCounts", /write it as path=value/],
  ["spec.procesCounts.storage=5", /spec has no field procesCounts: there is processCounts/],
  ["spec.processCounts.storages=5", /spec.processCounts has no field storages: there is storage/],
  ["spec.processCounts.storage=many", /it is a whole number/],
  ["spec.mainContainer.enableTls=yes", /it is a boolean: true or false/],
  ["status.health=1", /the path has to begin with spec/],
  ["metadata.name=other", /only metadata.labels.NAME/],
  ["spec.processes.general.customParameters=knob", /it is a list: write it as JSON/],
  ["spec.processCounts.storage=0x10", /it is a whole number from -\d+ to 2000, in digits/],
  ["spec.processCounts.storage=1e3", /it is a whole number/],
  ["spec.processCounts.storage=", /it is a whole number/],
  ["spec.processCounts.storage=99999999999999999999999", /it is a whole number/],
  ["spec.__proto__.storage=1", /no field has the name __proto__/],
  ["metadata.labels.__proto__=x", /no field has the name __proto__/],
  ["spec.constructor=1", /spec has no field constructor/],
  ["spec..version=7.3.79", /the path has to begin with spec/],
  ["spec.processes.general.customParameters[7]=knob_a=1", /the next one is 0/],
];

for (const [assignment, expected] of bad) {
  test(`[PV6] --set ${assignment} is refused`, () => {
    const reading = set(assignment);
    assert.match("problem" in reading ? reading.problem : "taken", expected);
  });
}

test("[PV17] long paths and values are shown in part, and deep ones refused", () => {
  const problemOf = (assignment: string): string => {
    const reading = set(assignment);
    return "problem" in reading ? reading.problem : "taken";
  };
  assert.ok(problemOf(`spec.${"a.".repeat(50_000)}b=1`).length < 500);
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  assert.match(
    problemOf(`spec.processes.general.podTemplate=${deep}`),
    /^--set .{100,130}…: it is nested more than 100 levels deep$/,
  );
});

test("[PV6] a label is text, and its name may have dots", () => {
  const reading = set(String.raw`metadata.labels.example\.org/team=7`);
  assert.ok("cluster" in reading);
  assert.deepEqual(reading.cluster.metadata.labels, { "example.org/team": "7" });
});
