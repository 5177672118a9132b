// What is said of pods whose node is lost: of their configuration, and of those that are to go. Rules: spec/plan.md [P112], [P113].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { conditionIn } from "../../src/kube/condition.ts";
import type { Node } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { PlanWorld } from "./plan-world.ts";

const small = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const;

function node(name: string, ready: string): Stored<Node> {
  return {
    ...{ apiVersion: "v1", kind: "Node", metadata: { name } },
    status: { conditions: [{ type: "Ready", status: ready }] },
  } as unknown as Stored<Node>;
}

/** A knob was set, and every pod has been told of it. */
function toldWorld(): PlanWorld {
  const world = new PlanWorld(small);
  assert.ok(world.settle().isReconciled);
  world.changeSpec({ processes: { general: { customParameters: ["knob_a=1"] } } });
  world.pass();
  world.pass();
  return world;
}

const nodesOf = (world: PlanWorld, lost: string): ReadonlyMap<string, Stored<Node>> => {
  const names = [...world.pods.values()].map(({ spec }) => spec?.nodeName ?? "");
  return new Map(names.map((name) => [name, node(name, name === lost ? "Unknown" : "True")]));
};

test("[P113] a process group that is to go is counted as lost while it is not excluded", () => {
  const world = new PlanWorld(small);
  assert.ok(world.settle().isReconciled);
  const [name, pod] = [...world.pods].find(([one]) => one.includes("storage")) ?? [];
  const id = name?.replace("sample-", "") ?? "";
  world.changeSpec({ processGroupsToRemove: [id] });
  world.plan();
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const processes = Object.entries(seen.status.cluster?.processes ?? {});
  world.statusOverlay = {
    processes: Object.fromEntries(processes.filter(([one]) => !one.includes(id))),
  };
  const judged = (): unknown[] => {
    const { status, waits } = world.plan({ nodes: nodesOf(world, pod?.spec?.nodeName ?? "") });
    const { status: value, reason } = conditionIn(status, "Degraded") ?? {};
    const told = waits.find((wait) => wait.reason === "NodeNotReady")?.message ?? "";
    return [value, reason, told.includes(id)];
  };
  assert.deepEqual(judged(), ["True", "MissingProcesses", true]);
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  assert.equal(judged()[2], false, "somebody gave its data up");
  assert.notEqual(judged()[1], "MissingProcesses");
});

test("[P112] a pod on a node that is lost is not waited for as one that will follow", () => {
  const world = toldWorld();
  const names = [...world.pods.keys()];
  const nodeOf = (name: string): string => world.pods.get(name)?.spec?.nodeName ?? "";
  const lost = names.find((name) => name.includes("storage")) ?? "";
  assert.notEqual(nodeOf(lost), "");
  const saidOf = (pod: string, nodes: readonly Stored<Node>[]): string[] =>
    world
      .plan({ nodes: new Map(nodes.map((one) => [one.metadata.name ?? "", one])) })
      .waits.filter(({ message }) => message.includes(pod))
      .map(({ reason }) => reason);
  const all = (ready: string): Stored<Node>[] =>
    names.map((name) => node(nodeOf(name), nodeOf(name) === nodeOf(lost) ? ready : "True"));
  assert.deepEqual(saidOf(lost, all("True")), ["ConfigurationNotInPod"]);
  assert.deepEqual(saidOf(lost, all("Unknown")), ["NodeNotReady"]);
  const without = all("True").filter(({ metadata }) => metadata.name !== nodeOf(lost));
  assert.deepEqual(saidOf(lost, without), ["NodeNotReady"], "a node that is gone");
  const other = names.find((name) => nodeOf(name) !== nodeOf(lost)) ?? "";
  assert.deepEqual(saidOf(other, all("Unknown")), ["ConfigurationNotInPod"]);
});
