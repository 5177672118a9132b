// Who is replaced when those that stay share zones and one that is to go is kept for it, on plain objects.
// Proves [R112] of spec/removal.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Node } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { RemovalWorld, waitOf } from "./removal-world.ts";

const spec: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "triple" },
  processCounts: { storage: 5, log: 4, stateless: 1 },
  // Only storage processes are coordinators, so that nobody else waits for zones.
  coordinatorSelection: [{ processClass: "storage", priority: 1 }],
};

/** One log is to go; the others report from the zones that are given, one after the other. */
function crowded(zones: readonly string[], more: Partial<ClusterSpec> = {}): RemovalWorld {
  const world = RemovalWorld.settled({ ...spec, ...more });
  const leaving = world.id("log");
  world.mark(leaving);
  world.change = ({ cluster }) => {
    const logs = Object.values(cluster?.processes ?? {}).filter(
      ({ class_type: processClass }) => processClass === "log",
    );
    let index = 0;
    for (const { locality = {} } of logs) {
      const isLeaving = locality["instance_id"] === leaving;
      locality["zoneid"] = isLeaving ? "old" : (zones[index] ?? "");
      if (!isLeaving) index += 1;
    }
  };
  world.pass();
  world.runPods();
  // Nobody was marked just now.
  world.nowMs += 11 * 60_000;
  return world;
}

function nodeOf(name: string, parts: Partial<Node> = {}): Stored<Node> {
  const labels = { "kubernetes.io/hostname": name };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, ...parts };
}

const [a, b, c] = ["a", "b", "c"].map((name) => nodeOf(name)) as [
  Stored<Node>,
  Stored<Node>,
  Stored<Node>,
];

function chosenBy(world: RemovalWorld, plan: Plan): string[] {
  const before = new Set(
    world.groups().flatMap((group) => (group.removalTimestamp ? group.processGroupID : [])),
  );
  return (plan.status.processGroups ?? [])
    .filter((group) => group.removalTimestamp && !before.has(group.processGroupID))
    .map((group) => group.processGroupID);
}

const cordoned = nodeOf("c", { spec: { unschedulable: true } });
const rows: readonly [string, readonly string[], Snapshot["placementNodes"], number][] = [
  ["two zones, and nodes offer a third one", ["a", "b", "a", "b"], [a, b, c], 1],
  ["two zones, and there are no others", ["a", "b", "a", "b"], [a, b], 0],
  ["two zones, and the third one is closed", ["a", "b", "a", "b"], [a, b, cordoned], 0],
  ["nodes that the operator may not look at", ["a", "b", "a", "b"], undefined, 0],
  ["as many zones as the mode needs", ["a", "b", "d", "a"], [a, b, c], 0],
];

for (const [title, zones, placementNodes, expected] of rows) {
  test(`[R112] ${title}: ${expected === 1 ? "one log is replaced" : "nobody is replaced"}`, () => {
    const world = crowded(zones);
    const plan = world.plan({ placementNodes });
    const chosen = chosenBy(world, plan);
    assert.equal(chosen.length, expected, JSON.stringify(plan.waits));
    if (expected === 0) return;
    assert.match(chosen[0] ?? "", /^log-/);
    const event = plan.events.find(({ reason }) => reason === "ReplacingProcesses");
    assert.match(event?.message ?? "", /it shares zone a with log-\d+, and triple needs 3 zones$/);
  });
}

test("[R112] one at a time, also where one replacement at a time is allowed; with 0 nobody goes", () => {
  const zones = ["a", "b", "a", "b"];
  const limited = (limit: number) =>
    crowded(zones, { automationOptions: { maxConcurrentReplacements: limit } });
  const world = limited(1);
  const [id = ""] = chosenBy(world, world.plan({ placementNodes: [a, b, c] }));
  assert.match(id, /^log-/);
  world.mark(id);
  assert.deepEqual(chosenBy(world, world.plan({ placementNodes: [a, b, c] })), []);
  const none = limited(0);
  assert.deepEqual(chosenBy(none, none.plan({ placementNodes: [a, b, c] })), []);
});

for (const processClass of ["stateless", "storage"]) {
  test(`[R112] one log is replaced although a ${processClass} process group has failed and waits for the bucket that the removal holds`, () => {
    const world = crowded(["a", "b", "a", "b"]);
    const failed = world.id(processClass);
    world.silent.add(failed);
    world.condition(failed, "MissingProcesses", 7201);
    const plan = world.plan({ placementNodes: [a, b, c] });
    assert.match(waitOf(plan, "ReplacementLimited"), /hold(s)? the replacement bucket general/);
    const chosen = chosenBy(world, plan).filter((id) => id !== failed);
    assert.equal(chosen.length, 1, JSON.stringify(plan.waits));
    assert.match(chosen[0] ?? "", /^log-/);
  });
}

test("[R112] nobody is replaced while another log may still come up", () => {
  const world = crowded(["a", "b", "a", "b"]);
  const last = world.ids("log").at(-1) ?? "";
  world.silent.add(last);
  world.condition(last, "MissingProcesses", 60);
  assert.deepEqual(chosenBy(world, world.plan({ placementNodes: [a, b, c] })), []);
});
