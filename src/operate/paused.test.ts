// What is written about a cluster that is left alone. Rules: spec/explain.md [E52].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { apiVersion } from "../api/cluster.ts";
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import { pausedStatus } from "./paused.ts";

const nowMs = 1_700_000_000_000;

function cluster(generation: number, status?: ClusterStatus): FoundationDBCluster {
  return {
    ...{ apiVersion, kind: "FoundationDBCluster", metadata: { name: "sample", generation } },
    spec: { version: "7.3.63", skip: true },
    ...(status === undefined ? {} : { status }),
  };
}

test("[E52] a cluster that is left alone says so once, and which generation is in force", () => {
  const before: ClusterStatus = { generations: { reconciled: 8 }, runningVersion: "7.3.63" };
  const status = pausedStatus(cluster(9, before), nowMs);
  assert.deepEqual(status, {
    ...before,
    conditions: [
      {
        ...{ type: "Paused", status: "True", reason: "Skipped", observedGeneration: 9 },
        lastTransitionTime: "2023-11-14T22:13:20Z",
        message:
          "The operator leaves the cluster alone while spec.skip is true: generation 8 is in force, not 9",
      },
    ],
  });
  assert.equal(pausedStatus(cluster(9, status), nowMs + 1000), undefined);
  const next = pausedStatus(cluster(10, status), nowMs + 1000);
  assert.equal(next?.conditions?.length, 1);
  assert.match(next?.conditions?.[0]?.message ?? "", /generation 8 is in force, not 10$/);
});

test("[E52] where the newest generation is in force, nothing more is said", () => {
  const status = pausedStatus(cluster(3, { generations: { reconciled: 3 } }), nowMs);
  assert.match(status?.conditions?.[0]?.message ?? "", /while spec\.skip is true$/);
});
