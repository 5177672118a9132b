// A table of nodes, and of what is taken for the wish to leave them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Node, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { nodeWishes } from "./drained-nodes.ts";

const nowMs = 1_000_000;

function node(spec: Node["spec"], annotations: Record<string, string> = {}): Stored<Node> {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n", annotations }, spec: spec ?? {} };
}

function pod(reason: string, isDeleted = true): Stored<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", ...(isDeleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec: { nodeName: "n", containers: [] },
    status: { conditions: [{ type: "DisruptionTarget", status: "True", reason }] },
  };
}

const cordoned = { unschedulable: true };
const asked = { "foundationdb.org/drain": "true" };
const evicted = pod("EvictionByEvictionAPI");

const rows: readonly {
  readonly title: string;
  readonly node: Stored<Node>;
  readonly pod?: Stored<Pod>;
  readonly evictedMs?: number;
  readonly finds: "leaving" | "nothing" | "open";
}[] = [
  { title: "a cordon alone", node: node(cordoned), finds: "nothing" },
  { title: "a pod that runs", node: node(cordoned), pod: pod("", false), finds: "nothing" },
  { title: "an evicted pod", node: node(cordoned), pod: evicted, finds: "leaving" },
  { title: "an eviction without a cordon", node: node({}), pod: evicted, finds: "nothing" },
  {
    title: "a pod that its kubelet ended",
    node: node(cordoned),
    pod: pod("TerminationByKubelet"),
    finds: "nothing",
  },
  { title: "a pod that is gone", node: node(cordoned), evictedMs: 59_999, finds: "leaving" },
  { title: "one of long ago", node: node(cordoned), evictedMs: 60_000, finds: "nothing" },
  {
    title: "Cluster Autoscaler",
    node: node({ taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] }),
    finds: "leaving",
  },
  {
    title: "a candidate of Cluster Autoscaler",
    node: node({
      taints: [{ key: "DeletionCandidateOfClusterAutoscaler", effect: "PreferNoSchedule" }],
    }),
    finds: "nothing",
  },
  {
    title: "Karpenter",
    node: node({ taints: [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" }] }),
    finds: "leaving",
  },
  {
    title: "another taint",
    node: node({ ...cordoned, taints: [{ key: "other", effect: "NoSchedule" }] }),
    finds: "nothing",
  },
  { title: "the annotation with a cordon", node: node(cordoned, asked), finds: "leaving" },
  { title: "the annotation alone", node: node({}, asked), finds: "open" },
  {
    title: "the annotation with another value",
    node: node(cordoned, { "foundationdb.org/drain": "false" }),
    finds: "nothing",
  },
];

for (const row of rows) {
  test(`[DRAIN10] [DRAIN11] [DRAIN12] ${row.title}: ${row.finds}`, () => {
    const found = nodeWishes({
      nodes: new Map([["n", row.node]]),
      pods: new Map(row.pod === undefined ? [] : [["p", row.pod]]),
      evictedFrom: new Map(row.evictedMs === undefined ? [] : [["n", nowMs - row.evictedMs]]),
      nowMs,
    });
    assert.deepEqual([...found.leaving], row.finds === "leaving" ? ["n"] : []);
    assert.deepEqual(found.open, row.finds === "open" ? ["n"] : []);
  });
}
