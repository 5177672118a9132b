// The table of who talks to whom as a policy. Rules: spec/network.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../api/cluster.ts";
import { networkPolicySpec, networkTable, operatorNamespaceIn } from "./network-policy.ts";

const around = { operatorNamespace: "operators", serversMaximum: 0, hasStrangePods: false };

function specOf(spec: Partial<ClusterSpec>, change: Partial<typeof around> = {}) {
  const metadata = { name: "sample", namespace: "default" };
  return networkPolicySpec(
    { metadata, spec: { version: "7.3.63", ...spec } },
    { ...around, ...change },
  );
}

function portsOf(spec: Partial<ClusterSpec>, change: Partial<typeof around> = {}) {
  return specOf(spec, change).ingress?.[0]?.ports?.map(({ port }) => port);
}

test("[NET4] both ports of as many processes as the spec or any pod has", () => {
  assert.deepEqual(portsOf({}), [4500, 4501]);
  assert.deepEqual(portsOf({ storageServersPerPod: 2 }), [4500, 4501, 4502, 4503]);
  assert.deepEqual(portsOf({ logServersPerPod: 2 }), [4500, 4501, 4502, 4503]);
  assert.deepEqual(portsOf({}, { serversMaximum: 2 }), [4500, 4501, 4502, 4503]);
  assert.equal(portsOf({ storageServersPerPod: 1_000 })?.length, 200);
});

test("[NET2] [NET5] [NET6] each row of the table that needs a rule is in one, and no other", () => {
  const named = (cidr: string) => [{ ipBlock: { cidr } }];
  const { ingress = [], podSelector } = specOf({
    networkPolicy: {
      ...{ enabled: true, clients: named("10.1.0.0/16"), peers: named("10.2.0.0/16") },
      ...{ operator: named("10.3.0.0/16"), metrics: named("10.4.0.0/16") },
    },
  });
  const exists = (key: string) => ({
    podSelector: { matchExpressions: [{ key, operator: "Exists" }] },
  });
  assert.deepEqual(
    ingress.map(({ from }) => from),
    [
      [
        { podSelector },
        { ipBlock: { cidr: "10.3.0.0/16" } },
        exists("foundationdb.org/deployment-name"),
        exists("foundationdb.org/backup-command-for"),
        { ipBlock: { cidr: "10.2.0.0/16" } },
        { ipBlock: { cidr: "10.1.0.0/16" } },
      ],
      [{ ipBlock: { cidr: "10.3.0.0/16" } }],
      [{ ipBlock: { cidr: "10.4.0.0/16" } }],
    ],
  );
  assert.deepEqual(
    ingress.slice(1).map(({ ports }) => ports),
    [[{ port: 8080, protocol: "TCP" }], [{ port: 8081, protocol: "TCP" }]],
  );
  const plain = specOf({});
  assert.equal(plain.ingress?.length, 2, "nobody is named for metrics");
  for (const { from = [] } of plain.ingress ?? []) assert.ok(from.length > 0);
  assert.equal(operatorNamespaceIn({ metadata: {}, spec: plain }), "operators");
  assert.equal(
    new Set(networkTable.map(({ from, to }) => `${from} ${to}`)).size,
    networkTable.length,
  );
});

test("[NET15] until all pods carry the labels of the cluster every pod of the namespace may be one of them", () => {
  const { ingress, podSelector } = specOf({}, { hasStrangePods: true });
  assert.deepEqual(ingress?.[0]?.from?.[0], { podSelector: {} });
  assert.notDeepEqual(podSelector, {}, "the policy itself stays over the pods of the cluster");
});
