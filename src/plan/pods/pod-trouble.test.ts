// Tests of what is said about pods whose own status does not say what is wrong.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { apiVersion } from "../../api/cluster.ts";
import type { Node, PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import { nodeTrouble } from "../view/node-trouble.ts";
import { claimTrouble, holdersOf, suspectParameters } from "./pod-trouble.ts";
import type { DatabaseObservation, Snapshot } from "../snapshot.ts";

const pod: Stored<Pod> = {
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p" } },
  spec: { containers: [], nodeName: "n1" },
};

function nodeWith(status: string, message: string): Stored<Node> {
  const conditions = [{ type: "Ready", status, message }];
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n1" }, status: { conditions } };
}

function snapshotWith(part: Partial<Snapshot>): Snapshot {
  return part as Snapshot;
}

test("[E42] a node that is not ready or gone is the trouble of its pods", () => {
  const trouble = (node?: Stored<Node>): string | undefined =>
    nodeTrouble({ nodes: new Map() }, { pod, node });
  assert.equal(trouble(nodeWith("True", "")), undefined);
  assert.equal(
    trouble(nodeWith("Unknown", "Kubelet stopped posting node status.")),
    "node n1 is not ready: Kubelet stopped posting node status.",
  );
  assert.equal(trouble(), "node n1 does not exist any more");
});

test("[E42] nothing is said of nodes that nobody may look at, or of a pod without one", () => {
  assert.equal(nodeTrouble({ nodes: undefined }, { pod, node: undefined }), undefined);
  const homeless = { ...pod, spec: { containers: [] } };
  assert.equal(nodeTrouble({ nodes: new Map() }, { pod: homeless, node: undefined }), undefined);
});

test("[E43] finalizers are named as what holds an object back", () => {
  assert.equal(holdersOf(pod), "");
  const held = { ...pod, metadata: { name: "p", finalizers: ["a.io/b", "c.io/d"] } };
  assert.equal(holdersOf(held), "held back by a.io/b and c.io/d");
});

function claimWith(part: Partial<Stored<PersistentVolumeClaim>>): Stored<PersistentVolumeClaim> {
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } },
    spec: { storageClassName: "nvme" },
    status: { phase: "Pending" },
    ...part,
  };
}

const unbound = "pod has unbound immediate PersistentVolumeClaims";

test("[E44] a claim that is not bound names its storage class, one that goes names its holder", () => {
  assert.equal(claimTrouble(claimWith({}), unbound), `${unbound} (storage class nvme)`);
  assert.equal(
    claimTrouble(claimWith({ spec: {} }), unbound),
    `${unbound} (it names no storage class)`,
  );
  const metadata = { name: "data", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b"] };
  assert.equal(
    claimTrouble(claimWith({ metadata }), 'persistentvolumeclaim "data" is being deleted'),
    "the claim data is being deleted, held back by a/b",
  );
});

test("[E44] a claim is not blamed for other troubles of the scheduler", () => {
  assert.equal(
    claimTrouble(claimWith({}), "0/3 nodes are available: 3 Insufficient cpu"),
    undefined,
  );
  assert.equal(claimTrouble(claimWith({ status: { phase: "Bound" } }), unbound), undefined);
  assert.equal(claimTrouble(undefined, unbound), undefined);
});

test("[E45] custom parameters are suspected when a running pod has no processes", () => {
  const cluster = (customParameters: string[]) => ({
    ...{ apiVersion, kind: "FoundationDBCluster", metadata: { name: "a" } },
    spec: { version: "7.3.63", processes: { log: { customParameters } } },
  });
  const nowMs = 1_700_000_000_000;
  let database: DatabaseObservation = { kind: "seen", status: {}, observedMs: 1 };
  const of = (
    parameters: string[],
    processClass: string,
    forSeconds = 120,
    podSeconds = 600,
  ): string => {
    const timestamp = nowMs / 1000 - forSeconds;
    const creationTimestamp = formatTime(nowMs - podSeconds * 1000);
    return suspectParameters(
      snapshotWith({ cluster: cluster(parameters), nowMs, database }),
      {
        ...{ processClass, processGroupID: `${processClass}-1` },
        processGroupConditions: [{ type: "MissingProcesses", timestamp }],
      },
      { ...pod, metadata: { ...pod.metadata, creationTimestamp } },
    );
  };
  assert.equal(of(["knob_a=1"], "log"), "fdbserver may refuse a custom parameter: knob_a=1");
  assert.equal(of([], "log"), "");
  assert.equal(of(["knob_a=1"], "storage"), "");
  assert.equal(of(["knob_a=1"], "log", 119), "", "a restart takes its time");
  assert.equal(of(["knob_a=1"], "log", 600, 119), "", "the pod was recreated just now");
  database = { kind: "missing", reason: "Unreachable", message: "timed out", sinceMs: 1 };
  assert.equal(of(["knob_a=1"], "log"), "", "no status came that could show the processes");
});
