// What to do for a pod that no node takes. Rules: spec/explain.md [E62].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { unschedulableRemedy } from "./unschedulable-remedy.ts";

const rows: readonly [detail: string, remedy: string | undefined][] = [
  [
    "0/12 nodes are available: 12 Insufficient cpu.",
    "Add nodes; or free resources, or lower the pod template's requests.",
  ],
  ["0/12 nodes are available: 12 node(s) were unschedulable.", "Add nodes; or uncordon nodes."],
  [
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory.",
    "Add nodes; or uncordon nodes; or free resources, or lower the pod template's requests.",
  ],
  [
    "0/3 nodes are available: 3 node(s) had untolerated taint {a: b}.",
    "Add nodes; or remove the taint, or add a toleration to the pod template.",
  ],
  [
    "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    "Add nodes; or change the pod template's selectors or affinity.",
  ],
  ["the scheduler gives no reason", undefined],
];

for (const [detail, remedy] of rows) {
  test(`[E62] no node takes it: ${detail}`, () => {
    assert.equal(unschedulableRemedy(detail), remedy);
  });
}
