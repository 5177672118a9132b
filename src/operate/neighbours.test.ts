// Which process groups of other resources of the same database count, by what their resources say.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster, ProcessGroupStatus } from "../api/cluster.ts";
import type { Stored } from "../kube/resource.ts";
import type { StatusProcess } from "../model/database-status.ts";
import { neighboursOf } from "./neighbours.ts";

const own = "shared:abc@10.0.0.1:4501,10.0.0.2:4501";

function resource(
  name: string,
  connectionString: string | undefined,
  ...processGroups: ProcessGroupStatus[]
): Stored<FoundationDBCluster> {
  return {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion: "1" },
    spec: { version: "7.3.63", skip: true },
    status: { connectionString, processGroups },
  } as Stored<FoundationDBCluster>;
}

const log: ProcessGroupStatus = {
  processGroupID: "dc1-log-1",
  processClass: "log",
  faultDomain: "node-1",
};

function found(
  connectionString: string | undefined,
  other: Stored<FoundationDBCluster>,
  processes: readonly StatusProcess[] = [],
) {
  const cluster = resource("dc2", own, { ...log, processGroupID: "dc2-log-1" });
  const clusters = { list: () => [cluster, other] };
  return [...neighboursOf(cluster, connectionString, clusters, processes)];
}

test("[S164] process groups of another resource of the database count with their fault domains, also of a paused one", () => {
  const packed = { ...log, distributionKey: "log-0", faultDomain: "log-0" };
  const reported = {
    ...packed,
    processGroupID: "dc1-log-2",
    firstReported: "2026-01-01T00:00:00Z",
  };
  const moved = "shared:def@10.0.0.2:4501,10.0.0.3:4501";
  assert.deepEqual(found(own, resource("dc1", moved, log, packed, reported)), [
    ["dc1-log-1", "node-1"],
    ["dc1-log-2", "log-0"],
  ]);
});

test("[S169] a paused resource that names none of the coordinators any more is known by a process that reports", () => {
  const down = { ...log, processGroupID: "dc1-log-2", faultDomain: "node-2" };
  const left = "shared:old@10.0.0.8:4501,10.0.0.9:4501";
  const paused = resource("dc1", left, { ...log, addresses: ["10.0.1.1"] }, down);
  const reporting = (id: string, address: string): StatusProcess[] => [
    { address, locality: { instance_id: id } },
  ];
  const known = reporting("dc1-log-1", "10.0.1.1:4501:tls");
  assert.deepEqual(found(own, paused, known), [
    ["dc1-log-1", "node-1"],
    ["dc1-log-2", "node-2"],
  ]);
  assert.deepEqual(found(own, paused), []);
  assert.deepEqual(found(own, paused, reporting("dc1-log-1", "10.0.1.2:4501")), []);
  assert.deepEqual(found(own, paused, reporting("dc1-log-2", "10.0.1.1:4501")), []);
  const other = left.replace("shared", "other");
  assert.deepEqual(
    found(own, { ...paused, status: { ...paused.status, connectionString: other } }, known),
    [],
  );
  assert.deepEqual(found(own, { ...paused, spec: { version: "7.3.63" } }, known), []);
});

for (const [what, group] of [
  ["that never reported", { faultDomain: undefined }],
  ["that left", { exclusionTimestamp: "2026-01-01T00:00:00Z" }],
  ["that goes without exclusion", { exclusionSkipped: true }],
  ["of class test", { processClass: "test" }],
] as const) {
  test(`[S36] [S164] a process group ${what} is nothing to miss`, () => {
    const given = { ...log, ...group } as ProcessGroupStatus;
    assert.deepEqual(found(own, resource("dc1", own, given)), []);
  });
}

test("[S164] other databases have no part in it", () => {
  assert.deepEqual(found(own, resource("dc1", "other:abc@10.0.0.1:4501", log)), []);
  assert.deepEqual(found(own, resource("dc1", undefined, log)), []);
  assert.deepEqual(found(undefined, resource("dc1", own, log)), []);
});
