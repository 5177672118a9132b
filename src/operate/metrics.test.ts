// Tests of the operator's metrics.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { apiVersion } from "../api/cluster.ts";
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import { MetricsRegistry } from "../env/metrics.ts";
import type { Stored } from "../kube/resource.ts";
import { conditionTypes } from "../model/process-group.ts";
import type { Action } from "../plan/action.ts";
import { chain } from "../plan/chain.ts";
import type { DatabaseObservation } from "../plan/snapshot.ts";
import { clusterWaitReasons } from "../plan/reasons/registry.ts";
import { registerClusterMetrics } from "./metrics-cluster.ts";
import { OperatorMetrics } from "./metrics.ts";

/** Value by series, without help and type. */
function samples(registry: MetricsRegistry): Map<string, number> {
  const lines = registry.text().split("\n");
  return new Map(
    lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const at = line.lastIndexOf(" ");
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

function seriesOf(registry: MetricsRegistry, name: string): string[] {
  return [...samples(registry).keys()].filter((series) => series.startsWith(`${name}{`));
}

const nowMs = Date.parse("2026-01-01T01:00:00Z");
const whose = 'namespace="shop",name="orders"';

function clusterWith(status: ClusterStatus, spec: object = {}): Stored<FoundationDBCluster> {
  return {
    ...{ apiVersion, kind: "FoundationDBCluster" },
    metadata: {
      ...{ name: "orders", namespace: "shop", generation: 4 },
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { version: "7.3.63", processCounts: { storage: 5 }, ...spec },
    status,
  };
}

function registryOf(clusters: readonly Stored<FoundationDBCluster>[]): MetricsRegistry {
  const registry = new MetricsRegistry();
  registerClusterMetrics(registry, { clusters: () => clusters, nowMs: () => nowMs });
  return registry;
}

test("[E30] the names and values that dashboards of the Go operator know", () => {
  const cluster = clusterWith(
    {
      generations: { reconciled: 3 },
      health: { available: true, healthy: false, fullReplication: true, dataMovementPriority: 140 },
      processGroups: [
        { processGroupID: "storage-1", processClass: "storage" },
        {
          ...{ processGroupID: "storage-2", processClass: "storage" },
          removalTimestamp: "2026-01-01T00:00:00Z",
          exclusionTimestamp: "2026-01-01T00:00:00Z",
          processGroupConditions: [{ type: "PodFailing", timestamp: 1 }],
        },
      ],
    },
    { processGroupsToRemove: ["storage-2"], processGroupsToRemoveWithoutExclusion: ["a", "b"] },
  );
  const found = samples(registryOf([cluster]));
  const storage = `${whose},process_class="storage"`;
  const expected = {
    [`cluster_created_time{${whose}}`]: 1_767_225_600,
    [`cluster_status{${whose},status_type="health"}`]: 0,
    [`cluster_status{${whose},status_type="available"}`]: 1,
    [`cluster_status{${whose},status_type="replication"}`]: 1,
    [`cluster_status{${whose},status_type="datamovementpriority"}`]: 140,
    [`cluster_latest_reconciled_status{${whose}}`]: 3,
    [`cluster_reconciled_status{${whose}}`]: 0,
    [`process_groups_to_remove_total{${whose}}`]: 1,
    [`process_group_to_remove_without_exclusion_total{${whose}}`]: 2,
    [`process_group_total{${storage},condition="Ready"}`]: 1,
    [`process_group_total{${storage},condition="PodFailing"}`]: 1,
    [`process_group_marked_removal{${storage}}`]: 1,
    [`process_group_marked_excluded{${storage}}`]: 1,
    [`desired_process_group_total{${storage}}`]: 5,
  };
  for (const [series, value] of Object.entries(expected)) {
    assert.equal(found.get(`fdb_operator_${series}`), value, series);
  }
});

test("[HIB15] a database that sleeps is told as such, and not as one whose upgrade is stuck", () => {
  const status = {
    runningVersion: "7.1.57",
    hibernation: { since: "2026-01-01T00:00:00Z", generation: 3 },
  };
  const told = (spec: object): (number | undefined)[] => {
    const found = samples(registryOf([clusterWith(status, spec)]));
    return ["hibernated", "upgrading"].map((name) =>
      found.get(`fdb_operator_cluster_${name}{${whose}}`),
    );
  };
  assert.deepEqual(told({ hibernate: true }), [1, 0]);
  assert.deepEqual(told({ hibernate: false }), [0, 1]);
});

test("[E31] what the cluster waits for is a gauge by reason, with the age of the oldest wait", () => {
  const wait = (reason: string, since: string) => ({ step: "addPods", reason, message: "", since });
  const blockedBy = [
    wait("VolumePending", "2026-01-01T00:50:00Z"),
    wait("VolumePending", "2026-01-01T00:40:00Z"),
  ];
  const found = samples(registryOf([clusterWith({ blockedBy })]));
  assert.equal(found.get(`fdb_operator_blocked{${whose},reason="VolumePending"}`), 2);
  assert.equal(found.get(`fdb_operator_wait_age_seconds{${whose},reason="VolumePending"}`), 1200);
  assert.equal(found.get(`fdb_operator_blocked{${whose},reason="LockHeld"}`), 0);
});

test("[E32] every known label value has a series from the start, of classes that the cluster has or wants", () => {
  const tester = { processGroupID: "test-1", processClass: "test" };
  const registry = registryOf([clusterWith({ processGroups: [tester] })]);
  // Storage, log and stateless are wanted; the tester is there.
  const all = 4 * conditionTypes.length;
  assert.equal(seriesOf(registry, "fdb_operator_process_group_total").length, all);
  assert.equal(seriesOf(registry, "fdb_operator_blocked").length, clusterWaitReasons.length + 1);
  const { registry: own } = new OperatorMetrics();
  const steps = new Set(chain.map(({ name }) => name));
  assert.equal(seriesOf(own, "fdb_operator_steps_total").length, 3 * steps.size);
  const actions = seriesOf(own, "fdb_operator_actions_total");
  assert.ok(actions.includes('fdb_operator_actions_total{type="killProcesses",outcome="refused"}'));
  assert.equal(samples(own).get("fdb_operator_reconcile_duration_seconds_count"), 0);
});

test("[E33] the series of a cluster that is gone vanish", () => {
  const clusters = [clusterWith({})];
  const registry = registryOf(clusters);
  assert.ok(samples(registry).size > 100);
  clusters.pop();
  assert.equal(samples(registry).size, 0);
  const metrics = new OperatorMetrics();
  metrics.observed("shop/orders", missing);
  assert.ok(metrics.registry.text().includes(whose));
  metrics.forget("shop/orders");
  assert.ok(!metrics.registry.text().includes(whose));
});

const missing: DatabaseObservation = {
  ...{ kind: "missing", reason: "Asking", message: "", sinceMs: 0 },
};

function seen(generation: number): DatabaseObservation {
  return { kind: "seen", status: { cluster: { generation } }, observedMs: 0 };
}

test("[E34] recoveries are counted by the generations that statuses show", () => {
  const metrics = new OperatorMetrics();
  const count = (): number | undefined =>
    samples(metrics.registry).get(`fdb_operator_recoveries_total{${whose}}`);
  for (const [observation, expected] of [
    [missing, 0],
    [seen(4), 0],
    [seen(4), 0],
    [missing, 0],
    [seen(6), 1],
    [seen(0), 1],
    [seen(6), 1],
    [seen(12), 2],
  ] as const) {
    metrics.observed("shop/orders", observation);
    assert.equal(count(), expected);
  }
});

test("[E34] actions count by type and outcome, and coordinator changes by cluster", () => {
  const metrics = new OperatorMetrics();
  const base = { step: "changeCoordinators", evidenceMs: 0, needsLock: false };
  const change: Action = { ...base, type: "changeCoordinators", addresses: [] };
  metrics.actionEnded("shop/orders", change, "refused");
  metrics.actionEnded("shop/orders", change, "done");
  const found = samples(metrics.registry);
  const series = 'fdb_operator_actions_total{type="changeCoordinators"';
  assert.equal(found.get(`${series},outcome="refused"}`), 1);
  assert.equal(found.get(`${series},outcome="done"}`), 1);
  assert.equal(found.get(`fdb_operator_coordinator_changes_total{${whose}}`), 1);
  const { actions, actionsRefused, actionsFailed } = metrics.counters();
  assert.deepEqual([actions, actionsRefused, actionsFailed], [1, 1, 0]);
});

test("[E34] a step acted, waited or passed", () => {
  const metrics = new OperatorMetrics();
  const create = { step: "addPods" } as Action;
  const wait = { step: "addPVCs" } as never;
  metrics.planned({ actions: [create], waits: [wait, { step: "addPods" } as never] });
  const found = samples(metrics.registry);
  const of = (step: string, outcome: string): number | undefined =>
    found.get(`fdb_operator_steps_total{step="${step}",outcome="${outcome}"}`);
  assert.deepEqual([of("addPods", "acted"), of("addPods", "waited")], [1, 0]);
  assert.deepEqual([of("addPVCs", "waited"), of("addServices", "passed")], [1, 1]);
});

test("[CERT5] [CERT7] when certificates expire and whether one is outdated are metrics of clusters that show some", () => {
  const expires = "2026-02-01T00:00:00Z";
  const outdated = {
    ...({ type: "CertificateOutdated", status: "True", reason: "CertificateOutdated" } as const),
    ...{ message: "", lastTransitionTime: expires },
  };
  const shown = { certificates: { expires, issuer: "CN=a" } };
  for (const [status, expected] of [
    [{}, []],
    [shown, [Date.parse(expires) / 1000, 0]],
    [{ ...shown, conditions: [outdated] }, [Date.parse(expires) / 1000, 1]],
  ] as const) {
    const registry = new MetricsRegistry();
    registerClusterMetrics(registry, { clusters: () => [clusterWith(status)], nowMs: () => nowMs });
    const found = [...samples(registry)].filter(([series]) => series.includes("_certificate_"));
    assert.deepEqual(
      found.map(([, value]) => value),
      expected,
    );
  }
});
