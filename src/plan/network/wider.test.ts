// Policies that let in more or less than others. Rules: spec/network.md [NET11].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { NetworkPolicyIngressRule } from "../../kube/generated/types.ts";
import { isWidening, widened } from "./wider.ts";

const [a, b] = ["10.1.0.0/16", "10.2.0.0/16"].map((cidr) => ({ ipBlock: { cidr } }));
const ports = [{ port: 4500, protocol: "TCP" }];
const more = [...ports, { port: 4502, protocol: "TCP" }];
const rule = (from: readonly unknown[], of = ports) =>
  ({ from, ports: of }) as NetworkPolicyIngressRule;

const cases: readonly [string, NetworkPolicyIngressRule[], NetworkPolicyIngressRule[], boolean][] =
  [
    ["the same", [rule([a])], [rule([a])], true],
    ["one more", [rule([a])], [rule([a, b])], true],
    ["one less", [rule([a, b])], [rule([a])], false],
    ["another", [rule([a])], [rule([b])], false],
    ["a port more", [rule([a])], [rule([a], more)], true],
    ["a port less", [rule([a], more)], [rule([a])], false],
    ["everybody before", [{ ports }], [rule([a])], false],
    ["everybody by an empty list before", [rule([])], [rule([a])], false],
    ["everybody then", [rule([a])], [{ ports }], true],
    ["nobody before", [], [rule([a])], true],
    ["nobody then", [rule([a])], [], false],
    ["all ports before", [{ from: [a as never] }], [rule([a])], false],
  ];

for (const [title, current, wanted, expected] of cases) {
  test(`[NET11] from one policy to another: ${title}`, () => {
    assert.equal(isWidening({ ingress: current }, { ingress: wanted }), expected);
    const both = widened({ ingress: current }, { ingress: wanted });
    assert.ok(both !== undefined && isWidening({ ingress: current }, both));
    assert.ok(isWidening({ ingress: wanted }, both));
  });
}

test("[NET11] a policy that is widened again and again has an end", () => {
  let current = { ingress: [rule([a])] };
  for (let round = 0; round < 100; round += 1) {
    const next = rule([{ ipBlock: { cidr: `10.3.${round}.0/24` } }]);
    const wider = widened(current, { ingress: [next] });
    if (wider === undefined) return assert.equal(current.ingress.length, 32);
    current = { ingress: [...(wider.ingress ?? [])] };
  }
  assert.fail("it grows without end");
});
