// Which process groups are meant, as a table.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { labelConflict, podNamesOf, selectGroups, selectionMistake } from "./selection.ts";
import type { SelectionFlags } from "./selection.ts";

const clusterLabel = "foundationdb.org/fdb-cluster-name";
const condition = (type: "MissingProcesses" | "IncorrectCommandLine" | "Fenced") => ({
  type,
  timestamp: 1,
});

const cluster: FoundationDBCluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { name: "sample", namespace: "default" },
  spec: { version: "7.3.63" },
  status: {
    processGroups: [
      { processGroupID: "storage-1", processClass: "storage" },
      {
        processGroupID: "storage-2",
        processClass: "storage",
        processGroupConditions: [condition("MissingProcesses")],
      },
      {
        processGroupID: "a-log-1",
        processClass: "log",
        processGroupConditions: [condition("IncorrectCommandLine")],
      },
      {
        processGroupID: "cluster_controller-1",
        processClass: "cluster_controller",
        removalTimestamp: "2026-01-01T00:00:00Z",
        processGroupConditions: [condition("MissingProcesses")],
      },
    ],
  },
};

const pod = (name: string, phase: string, rack: string): Stored<Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { rack } },
  spec: { containers: [] },
  status: { phase },
});
const pods = [
  pod("sample-storage-1", "Running", "1"),
  pod("sample-storage-2", "Pending", "1"),
  pod("sample-log-1", "Running", "2"),
];

const cases: readonly (readonly [
  string,
  Partial<SelectionFlags>,
  string[],
  string[],
  string[]?,
])[] = [
  ["[PL20] names of pods", {}, ["sample-storage-2", "sample-log-1"], ["a-log-1", "storage-2"]],
  ["[PL20] ids, twice", {}, ["storage-1", "sample-storage-1"], ["storage-1"]],
  [
    "[PL20] a class with an underscore",
    {},
    ["sample-cluster-controller-1"],
    ["cluster_controller-1"],
  ],
  ["[PL22] a name that is unknown", {}, ["other-1", "storage-1"], ["storage-1"], ["other-1"]],
  ["[PL20] a class", { processClass: "storage" }, [], ["storage-1", "storage-2"]],
  ["[PL20] a class without processes", { processClass: "test" }, [], []],
  ["[PL20] labels", { matchLabels: { rack: "1" } }, [], ["storage-1", "storage-2"]],
  [
    "[PL20] a condition counts where the pod runs",
    { processCondition: ["MissingProcesses", "IncorrectCommandLine"] },
    [],
    ["a-log-1"],
  ],
  [
    "[PL24] all",
    { allProcesses: true },
    [],
    ["a-log-1", "cluster_controller-1", "storage-1", "storage-2"],
  ],
  ["[PL24] all that failed and are not on their way", { removeAllFailed: true }, [], ["storage-2"]],
];

test("[FENCE5] a fenced one is not among those that failed", () => {
  const processGroups = (cluster.status?.processGroups ?? []).map((group) =>
    group.processGroupID === "storage-2"
      ? { ...group, processGroupConditions: [condition("MissingProcesses"), condition("Fenced")] }
      : group,
  );
  const fenced = { ...cluster, status: { ...cluster.status, processGroups } };
  const flags = { clusterLabel: "", removeAllFailed: true };
  assert.deepEqual(selectGroups(fenced, pods, flags, []).ids, []);
});

for (const [title, flags, names, ids, unknown = []] of cases) {
  test(title, () => {
    const found = selectGroups(
      cluster,
      pods,
      { clusterLabel, fdbCluster: "sample", ...flags },
      names,
    );
    assert.deepEqual(found, { ids, unknown });
  });
}

const mistakes: readonly (readonly [
  string,
  Partial<SelectionFlags>,
  string[],
  RegExp | undefined,
])[] = [
  ["[PL20] nothing at all", {}, [], /^say which/],
  ["[PL21] names alone", {}, ["a"], undefined],
  [
    "[PL21] a class without a cluster",
    { processClass: "log" },
    [],
    /--process-class needs a cluster/,
  ],
  [
    "[PL21] labels without a cluster",
    { matchLabels: { a: "b" } },
    [],
    /--match-labels needs a cluster/,
  ],
  [
    "[PL20] class and condition",
    { fdbCluster: "a", processClass: "log", processCondition: ["Ready"] },
    [],
    /exclude each other/,
  ],
  ["[PL20] names and a class", { fdbCluster: "a", processClass: "log" }, ["b"], /not both/],
  [
    "[PL20] names and a condition",
    { fdbCluster: "a", processCondition: ["Ready"] },
    ["b"],
    /not both/,
  ],
  [
    "[PL23] a condition that is none",
    { fdbCluster: "a", processCondition: ["Sad"] },
    [],
    /no condition Sad; there are IncorrectPodSpec/,
  ],
  ["[PL24] all failed", { fdbCluster: "a", removeAllFailed: true }, [], undefined],
  [
    "[PL24] all processes without a cluster",
    { allProcesses: true },
    [],
    /--all-processes needs a cluster/,
  ],
];

for (const [title, flags, names, expected] of mistakes) {
  test(`${title}: a mistake or not`, () => {
    const found = selectionMistake({ clusterLabel, ...flags }, names);
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", expected);
  });
}

test("[PL20] labels that contradict the cluster's own are refused", () => {
  assert.equal(labelConflict(cluster, { rack: "1" }), undefined);
  assert.equal(labelConflict(cluster, undefined), undefined);
  assert.match(labelConflict(cluster, { [clusterLabel]: "other" }) ?? "", /contradicts/);
});

test("[PL20] process groups lead to their pods", () => {
  const names = podNamesOf(cluster, ["a-log-1", "gone-1", "cluster_controller-1"]);
  assert.deepEqual(names, ["sample-log-1", "sample-cluster-controller-1"]);
});
