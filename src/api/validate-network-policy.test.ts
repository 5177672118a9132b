// What is refused of a wish for a network policy. Rules: spec/network.md [NET20]-[NET22].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "./cluster.ts";
import { describeProblem } from "./problem.ts";
import { networkPolicyProblems } from "./validate-network-policy.ts";

function problemsOf(spec: Partial<ClusterSpec>): string[] {
  return networkPolicyProblems({ version: "7.3.63", ...spec }).map(describeProblem);
}

type Wish = NonNullable<ClusterSpec["networkPolicy"]>;
type Peer = NonNullable<Wish["clients"]>[number];

const peers: readonly [title: string, peer: Peer, field: string | undefined][] = [
  ["an empty one", {}, "spec.networkPolicy.clients[0]"],
  [
    "a block and a selector",
    { ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} },
    "spec.networkPolicy.clients[0]",
  ],
  [
    "a wrong block",
    { ipBlock: { cidr: "10.0.0.0" } },
    "spec.networkPolicy.clients[0].ipBlock.cidr",
  ],
  [
    "an exception elsewhere",
    { ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/9"] } },
    "spec.networkPolicy.clients[0].ipBlock.except[0]",
  ],
  [
    "an exception that is all of it",
    { ipBlock: { cidr: "10.0.0.0/8", except: ["10.0.0.0/8"] } },
    "spec.networkPolicy.clients[0].ipBlock.except[0]",
  ],
  [
    "a wrong key",
    { podSelector: { matchLabels: { "a b": "c" } } },
    "spec.networkPolicy.clients[0].podSelector.matchLabels",
  ],
  [
    "a wrong value",
    { namespaceSelector: { matchLabels: { a: "b c" } } },
    "spec.networkPolicy.clients[0].namespaceSelector.matchLabels.a",
  ],
  [
    "a wrong operator",
    { podSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
    "spec.networkPolicy.clients[0].podSelector.matchExpressions[0].operator",
  ],
  [
    "no values",
    { podSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    "spec.networkPolicy.clients[0].podSelector.matchExpressions[0].values",
  ],
  [
    "values too many",
    { podSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
    "spec.networkPolicy.clients[0].podSelector.matchExpressions[0].values",
  ],
  ["everything", { namespaceSelector: {} }, undefined],
  ["a block", { ipBlock: { cidr: "::/0", except: ["fd00::/8"] } }, undefined],
];

for (const [title, peer, field] of peers) {
  test(`[NET20] a peer: ${title}`, () => {
    const found = problemsOf({ networkPolicy: { enabled: true, clients: [peer] } });
    assert.deepEqual(
      found.map((text) => text.slice(0, text.indexOf(": "))),
      field === undefined ? [] : [field],
    );
  });
}

test("[NET21] pods in the network of their nodes are refused with a policy, and only with one", () => {
  const processes = { general: { podTemplate: { spec: { containers: [], hostNetwork: true } } } };
  assert.deepEqual(problemsOf({ processes }), []);
  assert.deepEqual(problemsOf({ processes, networkPolicy: { enabled: false } }), []);
  const [found = ""] = problemsOf({ processes, networkPolicy: { enabled: true } });
  assert.match(found, /^spec\.processes\.general\.podTemplate\.spec\.hostNetwork: /);
});

const shared: readonly [title: string, spec: Partial<ClusterSpec>][] = [
  ["a seed", { seedConnectionString: "a:b@10.0.0.1:4501" }],
  ["a datacenter", { dataCenter: "dc1" }],
  ["zones by number", { faultDomain: { zoneCount: 3 } }],
  ["halls", { databaseConfiguration: { redundancy_mode: "three_data_hall" } }],
  ["global mode", { automationOptions: { synchronizationMode: "global" } }],
];

for (const [title, spec] of shared) {
  test(`[NET22] other resources have to be named, or said not to be there: ${title}`, () => {
    const [found = ""] = problemsOf({ ...spec, networkPolicy: { enabled: true } });
    assert.match(found, /^spec\.networkPolicy\.peers: /);
    assert.deepEqual(problemsOf({ ...spec, networkPolicy: { enabled: true, peers: [] } }), []);
    assert.deepEqual(problemsOf({ ...spec, networkPolicy: { enabled: false } }), []);
  });
}
