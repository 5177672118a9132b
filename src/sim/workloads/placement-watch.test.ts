// What counts as taken down by the operator. Rules: spec/world.md [W97].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Pod } from "../../kube/generated/types.ts";
import { PlacementWatch } from "./placement-watch.ts";

function watchOfTwoHalls(): { watch: PlacementWatch; violations: string[] } {
  const violations: string[] = [];
  const watch = new PlacementWatch((text) => violations.push(text));
  watch.hasHalls = true;
  for (const hall of ["a", "b"]) {
    watch.noteNode({ metadata: { name: hall, labels: { "topology.kubernetes.io/zone": hall } } });
  }
  return { watch, violations };
}

const podOn = (nodeName: string): Pod => ({
  metadata: { name: `pod-${nodeName}`, uid: nodeName },
  spec: { nodeName, containers: [] },
});

test("[W97] pods of two halls that are taken down at once are seen", () => {
  const { watch, violations } = watchOfTwoHalls();
  watch.checkHall(podOn("a"), 0);
  watch.checkHall(podOn("b"), 1_000);
  assert.deepEqual(violations, ["pod pod-b in hall b is taken down while pod-a in a is"]);
});

test("[W97] a deletion that the server refused takes nothing down, and forgets none before it", () => {
  const { watch, violations } = watchOfTwoHalls();
  watch.checkHall(podOn("a"), 0)();
  watch.checkHall(podOn("b"), 1_000);
  assert.deepEqual(violations, []);
  watch.checkHall(podOn("b"), 2_000)();
  watch.checkHall(podOn("a"), 3_000);
  assert.equal(violations.length, 1);
});

test("[W97] what was removed and is missed no more holds nobody up", () => {
  const { watch, violations } = watchOfTwoHalls();
  watch.checkHall(podOn("a"), 0);
  watch.isOver = (name) => name === "pod-a";
  watch.checkHall(podOn("b"), 1_000);
  assert.deepEqual(violations, []);
});
