// Whom peers let in, as far as the operator can tell. Rules: spec/network.md [NET12], [NET13].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { NetworkPolicyPeer, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { admission, podsByAddress } from "./admitted.ts";
import type { Admission } from "./admitted.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "there", labels: { app: "db" } },
  status: { podIP: "10.1.0.5", podIPs: [{ ip: "10.1.0.5" }, { ip: "fd00::5" }] },
} as Stored<Pod>;
const name = "kubernetes.io/metadata.name";
const there = { matchLabels: { [name]: "there" } };
const app = { matchLabels: { app: "db" } };

const cases: readonly [
  title: string,
  peers: NetworkPolicyPeer[],
  seen: Admission,
  unseen: Admission,
][] = [
  ["nobody", [], "no", "no"],
  ["a block with it", [{ ipBlock: { cidr: "10.1.0.0/16" } }], "yes", "yes"],
  [
    "a block with its address of the other family",
    [{ ipBlock: { cidr: "fd00::/16" } }],
    "no",
    "no",
  ],
  ["a block without it", [{ ipBlock: { cidr: "10.2.0.0/16" } }], "no", "no"],
  [
    "a block that leaves it out",
    [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/24"] } }],
    "no",
    "no",
  ],
  ["its labels in another namespace", [{ podSelector: app }], "no", "unknown"],
  ["its labels and namespace", [{ podSelector: app, namespaceSelector: there }], "yes", "unknown"],
  [
    "other labels",
    [{ podSelector: { matchLabels: { app: "web" } }, namespaceSelector: there }],
    "no",
    "unknown",
  ],
  ["its namespace", [{ namespaceSelector: there }], "yes", "unknown"],
  ["all namespaces", [{ namespaceSelector: {} }], "yes", "unknown"],
  [
    "another namespace",
    [{ namespaceSelector: { matchLabels: { [name]: "here" } } }],
    "no",
    "unknown",
  ],
  [
    "namespaces by labels that nobody sees",
    [{ namespaceSelector: { matchLabels: { team: "a" } } }],
    "unknown",
    "unknown",
  ],
  [
    "one that does and one that nobody can judge",
    [{ namespaceSelector: { matchLabels: { team: "a" } } }, { namespaceSelector: there }],
    "yes",
    "unknown",
  ],
];

for (const [title, peers, seen, unseen] of cases) {
  test(`[NET12] [NET13] a pod, and an address that nobody sees: ${title}`, () => {
    assert.equal(admission(peers, { host: "10.1.0.5", pod }, "here"), seen);
    assert.equal(admission(peers, { host: "10.1.0.5" }, "here"), unseen);
  });
}

test("[NET12] a pod calls from its own address, not from that of its service", () => {
  const block = (cidr: string): NetworkPolicyPeer[] => [{ ipBlock: { cidr } }];
  assert.equal(admission(block("10.9.0.0/16"), { host: "10.9.0.1", pod }, "here"), "no");
  assert.equal(admission(block("10.1.0.0/16"), { host: "10.9.0.1", pod }, "here"), "yes");
});

test("[NET12] a pod is known by every address, also that of its service", () => {
  const annotations = {
    "foundationdb.org/public-ip-source": "service",
    "foundationdb.org/public-ip": "10.9.0.1",
  };
  const served = { ...pod, metadata: { ...pod.metadata, annotations } };
  assert.deepEqual([...podsByAddress([served]).keys()], ["10.1.0.5", "fd00::5", "10.9.0.1"]);
});
