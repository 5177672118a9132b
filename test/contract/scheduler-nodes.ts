// The scheduler's rules about a pod and a node: resources, selectors, affinity to nodes and taints.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import type { Json } from "./target.ts";
import { makeNodes, place, placed, refuses, resources, zoneKey } from "./scheduling.ts";

export const resourceCases = capability(
  "scheduler: resources",
  [
    [
      "[KC51] a pod goes where it fits",
      async (target) => {
        await makeNodes(target, { small: { capacity: { cpu: "1" } }, big: {} });
        assert.equal(await place(target, "a", resources("2")), "big");
      },
    ],
    [
      "[KC51] what is asked too much is counted per resource",
      async (target) => {
        await makeNodes(target, {
          cpu: { capacity: { cpu: "1" } },
          memory: { capacity: { memory: "1Gi" } },
          both: { capacity: { cpu: "1", memory: "1Gi" } },
        });
        await refuses(
          target,
          "a",
          resources("2", "2Gi"),
          "0/3 nodes are available: 2 Insufficient cpu, 2 Insufficient memory. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
        );
      },
    ],
    [
      "[KC51] what running pods ask is gone",
      async (target) => {
        await makeNodes(target, { only: { capacity: { cpu: "3" } } });
        assert.equal(await place(target, "a", resources("2")), "only");
        await refuses(
          target,
          "b",
          resources("2"),
          "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        );
      },
    ],
    [
      "[KC51] a pod that waits is placed once there is room",
      async (target) => {
        await makeNodes(target, { only: { capacity: { cpu: "3" } } });
        await place(target, "a", resources("2"));
        await refuses(
          target,
          "b",
          resources("2"),
          "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        );
        await target.delete(target.path("pods", "a"), { gracePeriodSeconds: 0 });
        assert.equal(await placed(target, "b"), "only");
      },
    ],
    [
      "[KC51] a node takes no more pods than it says",
      async (target) => {
        await makeNodes(target, { only: { capacity: { pods: "1" } } });
        await place(target, "a");
        await refuses(
          target,
          "b",
          {},
          "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        );
      },
    ],
    [
      "[KC51] the emptier node is preferred",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        const first = await place(target, "first", resources("2", "4Gi"));
        const second = await place(target, "second", resources("2", "4Gi"));
        assert.deepEqual(new Set([first, second]), new Set(["a", "b"]));
      },
    ],
    [
      "[KC51] without nodes there is nothing to choose from",
      async (target) => {
        await refuses(target, "a", {}, "no nodes available to schedule pods");
      },
    ],
  ],
  "scheduler",
);

const selectorMessage =
  "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";

export const nodeSelectorCases = capability(
  "scheduler: node selector",
  [
    [
      "[KC52] a pod goes to the node with its labels",
      async (target) => {
        await makeNodes(target, { a: { labels: { disk: "hdd" } }, b: { labels: { disk: "ssd" } } });
        assert.equal(await place(target, "p", { nodeSelector: { disk: "ssd" } }), "b");
      },
    ],
    [
      "[KC52] all labels must match",
      async (target) => {
        await makeNodes(target, {
          a: { labels: { disk: "ssd" } },
          b: { labels: { disk: "ssd", tier: "db" } },
        });
        assert.equal(await place(target, "p", { nodeSelector: { disk: "ssd", tier: "db" } }), "b");
      },
    ],
    [
      "[KC52] no node has the label",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        await refuses(target, "p", { nodeSelector: { disk: "ssd" } }, selectorMessage);
      },
    ],
    [
      "[KC52] a label that appears lets the pod go",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        await refuses(target, "p", { nodeSelector: { disk: "ssd" } }, selectorMessage);
        await target.patch("merge", target.path("nodes", target.unique("b")), {
          metadata: { labels: { disk: "ssd" } },
        });
        assert.equal(await placed(target, "p"), "b");
      },
    ],
  ],
  "scheduler",
);

function required(...expressions: Json[]): Json {
  return {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: expressions }],
        },
      },
    },
  };
}

function preferred(weight: number, key: string, value: string): Json {
  return { weight, preference: { matchExpressions: [{ key, operator: "In", values: [value] }] } };
}

export const nodeAffinityCases = capability(
  "scheduler: node affinity",
  [
    [
      "[KC53] required terms with In, NotIn and Exists",
      async (target) => {
        await makeNodes(target, {
          a: { zone: "1" },
          b: { zone: "2" },
          c: { zone: "2", labels: { spot: "yes" } },
        });
        const spec = required(
          { key: zoneKey, operator: "In", values: ["2", "3"] },
          { key: "spot", operator: "NotIn", values: ["yes"] },
        );
        assert.equal(await place(target, "p", spec), "b");
        const exists = required({ key: "spot", operator: "Exists" });
        assert.equal(await place(target, "q", exists), "c");
      },
    ],
    [
      "[KC53] numbers are compared with Gt and Lt",
      async (target) => {
        await makeNodes(target, { a: { labels: { gen: "3" } }, b: { labels: { gen: "12" } } });
        const spec = required({ key: "gen", operator: "Gt", values: ["5"] });
        assert.equal(await place(target, "p", spec), "b");
      },
    ],
    [
      "[KC53] no node fits the required terms",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "2" } });
        const spec = required({ key: zoneKey, operator: "In", values: ["9"] });
        await refuses(target, "p", spec, selectorMessage);
      },
    ],
    [
      "[KC53] the heavier preference wins",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "2" }, c: { zone: "3" } });
        const affinity = {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              preferred(10, zoneKey, "1"),
              preferred(90, zoneKey, "2"),
            ],
          },
        };
        assert.equal(await place(target, "p", { affinity }), "b");
      },
    ],
    [
      "[KC53] a preference that no node meets does not hinder",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" } });
        const affinity = {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [preferred(50, zoneKey, "9")],
          },
        };
        assert.equal(await place(target, "p", { affinity }), "a");
      },
    ],
  ],
  "scheduler",
);

const dedicated = { key: "dedicated", value: "fdb", effect: "NoSchedule" };

export const taintCases = capability(
  "scheduler: taints",
  [
    [
      "[KC54] a taint keeps pods away",
      async (target) => {
        await makeNodes(target, { a: { taints: [dedicated] }, b: {} });
        assert.equal(await place(target, "p"), "b");
      },
    ],
    [
      "[KC54] only taints: the message names the first that is not tolerated",
      async (target) => {
        await makeNodes(target, { a: { taints: [dedicated] }, b: { taints: [dedicated] } });
        await refuses(
          target,
          "p",
          {},
          "0/2 nodes are available: 2 node(s) had untolerated taint(s). preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
        );
      },
    ],
    [
      "[KC54] a toleration by value or by existence opens the node",
      async (target) => {
        await makeNodes(target, { a: { taints: [dedicated] } });
        const equal = [{ key: "dedicated", operator: "Equal", value: "fdb", effect: "NoSchedule" }];
        assert.equal(await place(target, "p", { tolerations: equal }), "a");
        const exists = [{ key: "dedicated", operator: "Exists" }];
        assert.equal(await place(target, "q", { tolerations: exists }), "a");
      },
    ],
    [
      "[KC54] a node that prefers no pods is the last choice",
      async (target) => {
        const soft = { key: "soft", effect: "PreferNoSchedule" };
        await makeNodes(target, { a: { taints: [soft] }, b: {} });
        assert.equal(await place(target, "p"), "b");
      },
    ],
    [
      "[KC54] a cordoned node is unschedulable",
      async (target) => {
        await makeNodes(target, { a: { unschedulable: true } });
        await refuses(
          target,
          "p",
          {},
          "0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        );
      },
    ],
    [
      "[KC54] a removed taint lets the waiting pod go",
      async (target) => {
        await makeNodes(target, { a: { taints: [dedicated] } });
        await refuses(
          target,
          "p",
          {},
          "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        );
        await target.patch("merge", target.path("nodes", target.unique("a")), {
          spec: { taints: null },
        });
        assert.equal(await placed(target, "p"), "a");
      },
    ],
  ],
  "scheduler",
);

export const explanationCases = capability(
  "scheduler: explanations",
  [
    [
      "[KC55] every node counts once under its first reason, in the order of the texts",
      async (target) => {
        await makeNodes(target, {
          cordoned: { unschedulable: true },
          other: {},
          small: { labels: { disk: "ssd" }, capacity: { cpu: "1" } },
          tainted: { labels: { disk: "ssd" }, taints: [dedicated] },
        });
        await refuses(
          target,
          "p",
          { ...resources("2"), nodeSelector: { disk: "ssd" } },
          "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.",
        );
      },
    ],
    [
      "[KC55] a pod with a scheduling gate waits without being judged",
      async (target) => {
        await makeNodes(target, { a: {} });
        await target.create(target.path("pods"), {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "p" },
          spec: {
            schedulingGates: [{ name: "example.com/gate" }],
            containers: [{ name: "main", image: "i:1" }],
          },
        });
        await target.becomes(target.path("pods", "p"), {
          "spec.nodeName": undefined,
          "status.conditions.0.reason": "SchedulingGated",
        });
        await target.patch("merge", target.path("pods", "p"), { spec: { schedulingGates: null } });
        assert.equal(await placed(target, "p"), "a");
      },
    ],
    [
      "[KC55] an unschedulable pod gets an event with the same words",
      async (target) => {
        await makeNodes(target, { a: {} });
        const message =
          "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
        await refuses(target, "p", { nodeSelector: { disk: "ssd" } }, message);
        const fieldSelector = "involvedObject.name=p,reason=FailedScheduling";
        await target.eventually("the event", async () => {
          const list = await target.get(target.path("events"), { fieldSelector });
          return JSON.stringify(list).includes(JSON.stringify(message)) ? true : undefined;
        });
      },
    ],
    [
      "[KC55] a placed pod gets the condition and an event",
      async (target) => {
        await makeNodes(target, { a: {} });
        await place(target, "p");
        await target.becomes(target.path("pods", "p"), {
          "status.conditions.0.type": "PodScheduled",
          "status.conditions.0.status": "True",
        });
        const fieldSelector = "involvedObject.name=p,reason=Scheduled";
        const expected = `Successfully assigned ${target.namespace}/p to ${target.unique("a")}`;
        await target.eventually("the event", async () => {
          const list = await target.get(target.path("events"), { fieldSelector });
          return JSON.stringify(list).includes(expected) ? true : undefined;
        });
      },
    ],
  ],
  "scheduler",
);
