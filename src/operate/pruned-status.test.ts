// What the API server left out of a status.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import type { Stored } from "../kube/resource.ts";
import { prunedFields, tellPruned } from "./pruned-status.ts";

const written: ClusterStatus = {
  configured: true,
  processGroups: [
    { processGroupID: "log-1", processClass: "log", volumeClaim: "a", faultDomain: undefined },
    { processGroupID: "log-2", processClass: "log", volumeClaim: "b" },
    { processGroupID: "stateless-1", processClass: "stateless" },
  ],
  blockedBy: [],
};

test("[OP73] what is missing is named once, and what was never there is not", () => {
  assert.deepEqual(prunedFields(written, structuredClone(written)), []);
  const { blockedBy: _, ...rest } = written;
  const processGroups = written.processGroups?.map(({ volumeClaim: __, ...group }) => group);
  const stored = { ...rest, processGroups: processGroups ?? [] };
  assert.deepEqual(prunedFields(written, stored), [
    "status.blockedBy",
    "status.processGroups[].volumeClaim",
  ]);
  assert.deepEqual(prunedFields(written, undefined), ["status"]);
});

test("[OP73] it is told once", () => {
  const told: string[] = [];
  const tellers = {
    recorder: { record: (_: unknown, __: string, reason: string) => void told.push(reason) },
    log: { error: () => {} },
  };
  const state = { isStatusPruned: false };
  const cluster: Stored<FoundationDBCluster> = {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample", namespace: "default" },
    spec: { version: "7.3.63" },
  };
  for (const fields of [["a"], ["a"], [], ["a"], ["a", "b"]]) {
    tellPruned(tellers, state, cluster, fields);
  }
  assert.equal(told.length, 2);
});
