// Who is looked at first when an operator begins.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { firstLooks } from "./first-looks.ts";

function clusterOf(name: string, groups: number, reconciled: number): Stored<FoundationDBCluster> {
  const processGroups = Array.from({ length: groups }, (_, index) => ({
    processGroupID: `${name}-storage-${index}`,
    processClass: "storage",
  }));
  return {
    metadata: { namespace: "db", name, generation: 2 },
    spec: {},
    status: { processGroups, generations: { reconciled } },
  } as unknown as Stored<FoundationDBCluster>;
}

function podOf(isReady: boolean): Stored<Pod> {
  const status = { phase: "Running", containerStatuses: [{ ready: isReady }] };
  return { metadata: { namespace: "db", name: "pod" }, status } as unknown as Stored<Pod>;
}

test("[RUN36] clusters that lack pods come first, then those with an open change", () => {
  const clusters = [
    clusterOf("well", 2, 2),
    clusterOf("changing", 2, 1),
    clusterOf("not-ready", 2, 2),
    clusterOf("lost", 2, 2),
    clusterOf("new", 0, 1),
  ];
  const pods = new Map([
    ["db/well", [podOf(true), podOf(true)]],
    ["db/changing", [podOf(true), podOf(true)]],
    ["db/not-ready", [podOf(true), podOf(false)]],
    ["db/lost", [podOf(true)]],
  ]);
  const caches = {
    clusters: { list: () => clusters },
    pods: { byIndex: (_: string, key: string) => pods.get(key) ?? [] },
  };
  const found = firstLooks(caches as unknown as Parameters<typeof firstLooks>[0]);
  assert.deepEqual(found, ["db/not-ready", "db/lost", "db/changing", "db/new"]);
});
