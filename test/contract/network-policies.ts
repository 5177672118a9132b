// NetworkPolicies: what a server makes of them and what it refuses, and those that this operator writes.
import assert from "node:assert/strict";
import { networkPolicySpec } from "../../src/build/network-policy.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { capability } from "./case.ts";
import { asList, at } from "./target.ts";
import type { Json } from "./target.ts";

function policy(name: string, spec: unknown): Json {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name }, spec };
}

const everything = { podSelector: {} };
const around = { operatorNamespace: "operators", serversMaximum: 1, hasStrangePods: false };

/** The policies that the operator writes, from the plainest to the fullest. */
const wishes: Readonly<Record<string, ClusterSpec>> = {
  plain: { version: "7.3.63", networkPolicy: { enabled: true } },
  "with every list": {
    version: "7.3.63",
    storageServersPerPod: 3,
    networkPolicy: {
      enabled: true,
      clients: [
        { podSelector: { matchLabels: { app: "shop" } } },
        {
          namespaceSelector: { matchExpressions: [{ key: "team", operator: "In", values: ["a"] }] },
          podSelector: {},
        },
      ],
      peers: [{ ipBlock: { cidr: "10.1.0.0/16", except: ["10.1.2.0/24"] } }],
      operator: [{ ipBlock: { cidr: "2001:db8::/64" } }],
      metrics: [{ namespaceSelector: {} }],
    },
  },
};

export const networkPolicyCases = capability("NetworkPolicy", [
  [
    "[KC81] types of a policy and protocols of ports are filled in",
    async (target) => {
      const path = target.path("networkpolicies");
      const ingress = [{ ports: [{ port: 4501 }] }];
      const plain = await target.create(path, policy("in", { ...everything, ingress }));
      assert.deepEqual(plain["spec"], {
        podSelector: {},
        policyTypes: ["Ingress"],
        ingress: [{ ports: [{ port: 4501, protocol: "TCP" }] }],
      });
      assert.equal(at(plain, "metadata.generation"), 1);
      const both = await target.create(path, policy("both", { ...everything, egress: [{}] }));
      assert.deepEqual(at(both, "spec.policyTypes"), ["Ingress", "Egress"]);
    },
  ],
  [
    "[KC81] the policies of the operator are stored as they are written, and can be replaced by a patch",
    async (target) => {
      for (const [title, spec] of Object.entries(wishes)) {
        const name = title.replaceAll(" ", "-");
        const cluster = { metadata: { name: "sample", namespace: target.namespace }, spec };
        const wanted = networkPolicySpec(cluster, around);
        const path = target.path("networkpolicies", name);
        const made = await target.create(target.path("networkpolicies"), policy(name, wanted));
        assert.deepEqual(made["spec"], wanted);
        const wider = networkPolicySpec(cluster, { ...around, hasStrangePods: true });
        const changed = await target.patch("json", path, [
          { op: "test", path: "/metadata/uid", value: at(made, "metadata.uid") },
          {
            ...{ op: "replace", path: "/metadata/resourceVersion" },
            value: at(made, "metadata.resourceVersion"),
          },
          { op: "replace", path: "/spec", value: wider },
        ]);
        assert.deepEqual(changed["spec"], wider);
        assert.equal(at(changed, "metadata.generation"), 2);
        const outdated = [
          {
            ...{ op: "replace", path: "/metadata/resourceVersion" },
            value: at(made, "metadata.resourceVersion"),
          },
          { op: "replace", path: "/spec", value: wanted },
        ];
        const contentType = "application/json-patch+json";
        const expected = { status: 409, reason: "Conflict" };
        await target.refused(expected, "PATCH", path, outdated, { contentType });
      }
    },
  ],
  [
    "[KC81] a peer is a selector or a block of addresses, and a block is one",
    async (target) => {
      const from = [
        {},
        { ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} },
        { ipBlock: { cidr: "10.0.0.0/33" } },
        { ipBlock: { cidr: "" } },
        { ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/8", "10.0.0.0/8", "10.0.0/9"] } },
        { podSelector: { matchLabels: { a: "not a value" } } },
        { namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
        { podSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
        { podSelector: { matchExpressions: [{ key: "a", operator: "Like", values: ["b"] }] } },
      ];
      const field = (place: number, rest = ""): string => `spec.ingress[0].from[${place}]${rest}`;
      const cause = (reason: string, place: number, rest?: string) => ({
        ...{ field: field(place, rest), reason },
      });
      await target.refused(
        {
          ...{ status: 422, reason: "Invalid" },
          causes: [
            cause("FieldValueRequired", 0),
            cause("FieldValueForbidden", 1),
            cause("FieldValueInvalid", 2, ".ipBlock.cidr"),
            cause("FieldValueRequired", 3, ".ipBlock.cidr"),
            cause("FieldValueInvalid", 4, ".ipBlock.except[0]"),
            cause("FieldValueInvalid", 4, ".ipBlock.except[1]"),
            cause("FieldValueInvalid", 4, ".ipBlock.except[2]"),
            cause("FieldValueInvalid", 5, ".podSelector.matchLabels"),
            cause("FieldValueRequired", 6, ".namespaceSelector.matchExpressions[0].values"),
            cause("FieldValueForbidden", 7, ".podSelector.matchExpressions[0].values"),
            cause("FieldValueInvalid", 8, ".podSelector.matchExpressions[0].operator"),
          ],
        },
        "POST",
        target.path("networkpolicies"),
        policy("a", { ...everything, ingress: [{ from }] }),
      );
    },
  ],
  [
    "[KC81] ports, protocols and types are checked",
    async (target) => {
      const ports = [
        { port: 0 },
        { port: 70_000, protocol: "ICMP" },
        { port: "no such port name" },
        { port: 10, endPort: 5 },
        { endPort: 5 },
      ];
      await target.refused(
        {
          ...{ status: 422, reason: "Invalid" },
          causes: [
            ["spec.ingress[0].ports[0].port", "FieldValueInvalid"],
            ["spec.ingress[0].ports[1].protocol", "FieldValueNotSupported"],
            ["spec.ingress[0].ports[1].port", "FieldValueInvalid"],
            ["spec.ingress[0].ports[2].port", "FieldValueInvalid"],
            ["spec.ingress[0].ports[2].port", "FieldValueInvalid"],
            ["spec.ingress[0].ports[3].endPort", "FieldValueInvalid"],
            ["spec.ingress[0].ports[4].endPort", "FieldValueInvalid"],
            ["spec.policyTypes[0]", "FieldValueNotSupported"],
          ].map(([field = "", reason = ""]) => ({ field, reason })),
        },
        "POST",
        target.path("networkpolicies"),
        policy("a", { ...everything, policyTypes: ["Sideways"], ingress: [{ ports }] }),
      );
    },
  ],
  [
    "[KC81] in a table there is the selector of its pods",
    async (target) => {
      const path = target.path("networkpolicies");
      const matchExpressions = [
        { key: "b", operator: "Exists" },
        { key: "c", operator: "NotIn", values: ["y", "x"] },
      ];
      const podSelector = { matchLabels: { d: "e", a: "z" }, matchExpressions };
      await target.create(path, policy("p", { podSelector }));
      await target.create(path, policy("q", everything));
      const cells = asList((await target.table(path))["rows"]).map((row) =>
        asList(at(row, "cells")).slice(0, 2),
      );
      assert.deepEqual(cells, [
        ["p", "a=z,b,c notin (x,y),d=e"],
        ["q", "<none>"],
      ]);
    },
  ],
]);
