// What proves that a coordinator is stopped, and what does not.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { doubtOf } from "./stopped-coordinators.ts";
import type { Surroundings } from "./stopped-coordinators.ts";

const host = "sample-log-1.sample.shop.svc.cluster.local:4501";
const cluster = {
  ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" },
  metadata: { name: "sample", namespace: "shop" },
  spec: { version: "7.3.63" },
  status: {
    processGroups: [
      { processGroupID: "log-1", processClass: "log", addresses: ["10.1.0.1"] },
      { processGroupID: "log-2", processClass: "log", addresses: ["10.1.0.2", "10.1.0.3"] },
      { processGroupID: "log-3", processClass: "log", addresses: ["10.1.0.3"] },
    ],
  },
} satisfies FoundationDBCluster;

const pod = (status: object, spec: object = { nodeName: "n1" }, metadata: object = {}) =>
  ({ metadata: { name: "sample-log-1", ...metadata }, spec, status }) as Stored<Pod>;
const claim = (phase: string, spec: object = {}) =>
  ({
    metadata: { name: "sample-log-1-data" },
    spec,
    status: { phase },
  }) as Stored<PersistentVolumeClaim>;
const node = (isReady: boolean, taints: readonly object[] = []) =>
  ({
    metadata: { name: "n1" },
    spec: { taints },
    status: { conditions: [{ type: "Ready", status: isReady ? "True" : "Unknown" }] },
  }) as unknown as Stored<Node>;

const volume = (phase: string, namespace = cluster.metadata.namespace) =>
  ({
    metadata: { name: "pv-1" },
    spec: { claimRef: { namespace, name: "sample-log-1-data" } },
    status: { phase },
  }) as unknown as Stored<PersistentVolume>;

function doubt(
  around: Partial<Omit<Surroundings, "claims">> & { claim?: Stored<PersistentVolumeClaim> },
  coordinator = host,
): string | undefined {
  const { claim: found, ...rest } = around;
  const claims = new Map(found ? [[found.metadata.name ?? "", found]] : []);
  const usual = { cluster, pods: [], nodes: [node(true)], volumes: [] };
  return doubtOf({ ...usual, ...rest, claims }, [coordinator]);
}

const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const outOfService = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };

const cases: readonly (readonly [string, string | undefined, RegExp | undefined])[] = [
  ["nothing is left of it", doubt({}), undefined],
  ["its pod runs", doubt({ pods: [pod({ phase: "Running" })] }), /is there, on node n1/],
  ["nobody knows how its pod is", doubt({ pods: [pod({ phase: "Unknown" })] }), /is there/],
  [
    "its pod is going",
    doubt({ pods: [pod({ phase: "Running" }, { nodeName: "n1" }, going)] }),
    /being deleted/,
  ],
  ["its pod has ended", doubt({ pods: [pod({ phase: "Failed" })] }), undefined],
  ["its pod has no node", doubt({ pods: [pod({ phase: "Pending" }, {})] }), undefined],
  ["its volume is there", doubt({ claim: claim("Bound") }), /start its pod instead/],
  ["its volume is lost", doubt({ claim: claim("Lost") }), undefined],
  ["a claim waits for a volume", doubt({ claim: claim("Pending") }), undefined],
  [
    "a claim is given a volume that outlived another",
    doubt({ claim: claim("Pending", { volumeName: "pvc-1" }) }),
    /start its pod instead/,
  ],
  [
    "its volume outlived the claim",
    doubt({ volumes: [volume("Released")] }),
    /its volume pv-1 is Released, not lost: .* volumes rebind/,
  ],
  ["its volume failed", doubt({ volumes: [volume("Failed")] }), undefined],
  [
    "a volume of another namespace",
    doubt({ volumes: [volume("Released", "elsewhere")] }),
    undefined,
  ],
  ["nobody may look at volumes", doubt({ volumes: undefined }), undefined],
  ["a node is silent", doubt({ nodes: [node(false)] }), /node n1 does not report/],
  ["a node is switched off", doubt({ nodes: [node(false, [outOfService])] }), undefined],
  ["an address of one", doubt({}, "10.1.0.1:4501"), undefined],
  ["an address of two", doubt({}, "10.1.0.3:4501"), /several process groups have had/],
  ["an address of nobody", doubt({}, "10.9.9.9:4501"), /nobody here can tell/],
  [
    "a name of another cluster",
    doubt({}, "other-log-1.other.shop.svc:4501"),
    /nobody here can tell/,
  ],
];

for (const [title, found, text] of cases) {
  test(`[PL78] ${title}: ${text === undefined ? "stopped" : "in doubt"}`, () => {
    if (text === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", text);
  });
}
