// Taints of nodes as conditions. Rules: spec/removal.md [R1]-[R4].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProcessGroupStatus } from "../../api/cluster.ts";
import type { Node } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import { withTaints } from "./taints.ts";
import type { TaintOption } from "./taints.ts";

const nowMs = Date.UTC(2026, 0, 1);
const nowSeconds = nowMs / 1000;

function nodeWith(...taints: { key: string; secondsAgo?: number }[]): Stored<Node> {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node-1" },
    spec: {
      taints: taints.map(({ key, secondsAgo }) => ({
        key,
        effect: "NoSchedule",
        ...(secondsAgo === undefined ? {} : { timeAdded: formatTime(nowMs - secondsAgo * 1000) }),
      })),
    },
  };
}

function groupWith(conditions: Record<string, number> = {}): ProcessGroupStatus {
  return {
    processGroupID: "storage-1",
    processClass: "storage",
    processGroupConditions: Object.entries(conditions).map(([type, secondsAgo]) => ({
      type,
      timestamp: nowSeconds - secondsAgo,
    })),
  } as ProcessGroupStatus;
}

function found(
  group: ProcessGroupStatus,
  node: Stored<Node> | undefined,
  options: readonly TaintOption[],
): Record<string, number> {
  const result = withTaints(group, node, options, { nowMs });
  return Object.fromEntries(
    (result.processGroupConditions ?? []).map(({ type, timestamp }) => [
      type ?? "",
      nowSeconds - (timestamp ?? 0),
    ]),
  );
}

const bad: TaintOption = { key: "example.org/bad", durationInSeconds: 60 };
const any: TaintOption = { key: "*", durationInSeconds: 600 };

test("[R1] a taint that an option names is noted with the age that the node tells", () => {
  const group = groupWith();
  assert.deepEqual(found(group, nodeWith({ key: bad.key }), [bad]), { NodeTaintDetected: 0 });
  const aged = nodeWith({ key: bad.key, secondsAgo: 30 });
  assert.deepEqual(found(group, aged, [bad]), { NodeTaintDetected: 30 });
  assert.deepEqual(found(groupWith({ NodeTaintDetected: 10 }), aged, [bad]), {
    NodeTaintDetected: 30,
  });
});

test("[R1] a taint that no option names means nothing", () => {
  assert.deepEqual(found(groupWith(), nodeWith({ key: "example.org/other" }), [bad]), {});
});

test("[R2] a taint that lasts longer than its duration calls for a replacement", () => {
  const lasting = nodeWith({ key: bad.key, secondsAgo: 61 });
  assert.deepEqual(found(groupWith(), lasting, [bad]), {
    NodeTaintDetected: 61,
    NodeTaintReplacing: 0,
  });
  const just = nodeWith({ key: bad.key, secondsAgo: 60 });
  assert.deepEqual(found(groupWith(), just, [bad]), { NodeTaintDetected: 60 });
  const noted = groupWith({ NodeTaintDetected: 100, NodeTaintReplacing: 40 });
  assert.deepEqual(found(noted, lasting, [bad]), {
    NodeTaintDetected: 100,
    NodeTaintReplacing: 40,
  });
});

test("[R3] the star takes what no other option names", () => {
  const node = nodeWith({ key: "example.org/other", secondsAgo: 601 });
  assert.deepEqual(Object.keys(found(groupWith(), node, [bad, any])), [
    "NodeTaintDetected",
    "NodeTaintReplacing",
  ]);
  const own = nodeWith({ key: bad.key, secondsAgo: 61 });
  assert.ok("NodeTaintReplacing" in found(groupWith(), own, [any, bad]));
});

test("[R3] an option with a negative duration switches its key off, also beside the star", () => {
  const off = { ...bad, durationInSeconds: -1 };
  const node = nodeWith({ key: bad.key, secondsAgo: 10_000 });
  assert.deepEqual(found(groupWith(), node, [off, any]), {});
  assert.deepEqual(found(groupWith({ NodeTaintDetected: 9 }), node, [off]), {});
});

test("[R4] without the taint or without options both conditions go", () => {
  const noted = groupWith({ NodeTaintDetected: 100, NodeTaintReplacing: 40, PodFailing: 5 });
  assert.deepEqual(found(noted, nodeWith(), [bad]), { PodFailing: 5 });
  assert.deepEqual(found(noted, nodeWith({ key: bad.key }), []), { PodFailing: 5 });
  assert.deepEqual(found(noted, undefined, []), { PodFailing: 5 });
});

test("[R4] without a look at the node the conditions stay", () => {
  const noted = groupWith({ NodeTaintDetected: 100, NodeTaintReplacing: 40 });
  assert.equal(withTaints(noted, undefined, [bad], { nowMs }), noted);
});
