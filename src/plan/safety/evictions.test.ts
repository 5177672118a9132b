// A table of budgets, and of whether a running pod may be deleted beside them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Pod, PodDisruptionBudget } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DisruptiveAction } from "../action.ts";
import { evictionRefusal } from "./evictions.ts";

const labels = {
  "foundationdb.org/fdb-cluster-name": "sample",
  "foundationdb.org/fdb-process-group-id": "storage-1",
};

function cluster(enabled: boolean): FoundationDBCluster {
  return {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample", uid: "ours" },
    spec: { version: "7.3.63", automationOptions: { drains: { enabled } } },
  };
}

function pod(name: string, more: object = {}): [string, Stored<Pod>] {
  return [name, { apiVersion: "v1", kind: "Pod", metadata: { name, labels, ...more } }];
}

function budget(minAvailable: number | string, disrupted: readonly string[] = [], uid = "ours") {
  const owner = { apiVersion: "", kind: "FoundationDBCluster", name: "sample", uid };
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "sample", ownerReferences: [owner] },
    spec: { minAvailable },
    status: {
      disruptedPods: Object.fromEntries(disrupted.map((name) => [name, "2026-01-01T00:00:00Z"])),
      ...{ currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0, expectedPods: 2 },
    },
  } satisfies Stored<PodDisruptionBudget>;
}

const deletion: DisruptiveAction = {
  type: "deletePods",
  step: "updatePods",
  because: "update",
  pods: [],
  evidenceMs: 0,
  needsLock: false,
};
const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };

const rows: readonly {
  title: string;
  budgets?: readonly Stored<PodDisruptionBudget>[];
  pods?: readonly [string, Stored<Pod>][];
  action?: DisruptiveAction;
  isOff?: true;
  finds?: RegExp;
}[] = [
  { title: "none may be looked at" },
  { title: "there is none", budgets: [] },
  { title: "it is closed", budgets: [budget(2)] },
  { title: "it is open", budgets: [budget(1)], finds: /still lets others evict/ },
  { title: "somebody made it a share", budgets: [budget("50%")], finds: /still lets others/ },
  { title: "it is another one's", budgets: [budget(0, [], "theirs")] },
  { title: "drains are off", budgets: [budget(1)], isOff: true },
  { title: "a pod was let through", budgets: [budget(2, ["a"])], finds: /pod a is being evicted/ },
  { title: "that pod is going", budgets: [budget(2, ["a"])], pods: [pod("a", going), pod("b")] },
  { title: "that pod is gone", budgets: [budget(2, ["c"])] },
  {
    title: "the pod has ended",
    budgets: [budget(1)],
    action: { ...deletion, because: "terminal" },
  },
];

for (const row of rows) {
  test(`[DRAIN20] ${row.title}: ${row.finds === undefined ? "a pod may go" : "none may go"}`, () => {
    const view = {
      cluster: cluster(row.isOff !== true),
      pods: new Map(row.pods ?? [pod("a"), pod("b")]),
      disruptionBudgets: row.budgets,
    };
    const found = evictionRefusal(view, row.action ?? deletion);
    assert.equal(found?.reason, row.finds === undefined ? undefined : "ActInFlight");
    if (row.finds !== undefined) assert.match(found?.message ?? "", row.finds);
  });
}
