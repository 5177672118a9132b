// Who is replaced when coordinators that are to go find too few zones for others, on plain objects.
// Proves [R103]-[R105] of spec/removal.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Node } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { hasRole } from "../../src/plan/view/exclusion-targets.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { Snapshot, ZoneAttempt } from "../../src/plan/snapshot.ts";
import { RemovalWorld } from "./removal-world.ts";

type Zones = (processClass: string, index: number) => string;

const spec: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "double" },
  processCounts: { storage: 3, log: 3, stateless: 1 },
};
/** All that stay are in two zones, and three coordinators are wanted. */
const twoZones: Zones = (_, index) => (index % 2 === 0 ? "a" : "b");

/** All coordinators are to go, and their successors report. */
function crowded(
  zones: Zones = twoZones,
  more: Partial<ClusterSpec> = {},
  alsoLeaving: readonly string[] = [],
): RemovalWorld {
  const world = RemovalWorld.settled({ ...spec, ...more });
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const coordinators = Object.values(seen.status.cluster?.processes ?? {})
    .filter((process) => hasRole(process, "coordinator"))
    .map(({ locality }) => locality?.["instance_id"] ?? "");
  assert.equal(coordinators.length, 3);
  const leaving = [...coordinators, ...alsoLeaving];
  world.changeSpec({ processGroupsToRemove: leaving });
  world.change = ({ cluster }) => {
    const counts = new Map<string, number>();
    for (const { locality = {}, class_type: processClass = "" } of Object.values(
      cluster?.processes ?? {},
    )) {
      if (leaving.includes(locality["instance_id"] ?? "")) continue;
      const index = counts.get(processClass) ?? 0;
      counts.set(processClass, index + 1);
      locality["zoneid"] = zones(processClass, index);
    }
  };
  world.pass();
  world.runPods();
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

function planOf(
  world: RemovalWorld,
  placementNodes: Snapshot["placementNodes"],
  zoneAttempt?: ZoneAttempt,
): Plan {
  return world.plan({ placementNodes, zoneAttempt });
}

/** Process groups that the plan marks. */
function chosenBy(world: RemovalWorld, plan: Plan): string[] {
  const before = new Set(
    world.groups().flatMap((group) => (group.removalTimestamp ? group.processGroupID : [])),
  );
  return (plan.status.processGroups ?? [])
    .filter((group) => group.removalTimestamp && !before.has(group.processGroupID))
    .map((group) => group.processGroupID);
}

const attempt: ZoneAttempt = {
  ...{ processGroupId: "log-1", offered: "a b c" },
  ...{ zones: 2, wanted: 3 },
};
const taint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };
const away = { conditions: [{ type: "Ready", status: "False" }] };

const rows: readonly [string, Snapshot["placementNodes"], ZoneAttempt | undefined, number][] = [
  ["a free zone", [a, b, c], undefined, 1],
  ["no free zone", [a, b], undefined, 0],
  ["nodes that the operator may not look at", undefined, undefined, 0],
  ["a cordoned node", [a, b, nodeOf("c", { spec: { unschedulable: true } })], undefined, 0],
  ["a node with a taint", [a, b, nodeOf("c", { spec: { taints: [taint] } })], undefined, 0],
  ["a node that is away", [a, b, nodeOf("c", { status: away })], undefined, 0],
  ["an attempt in vain", [a, b, c], attempt, 0],
  ["an attempt that helped", [a, b, c], { ...attempt, zones: 1 }, 1],
  ["an attempt in vain among other zones", [a, b, c], { ...attempt, offered: "a b" }, 1],
];

for (const [title, nodes, last, expected] of rows) {
  test(`[R103][R104][R105] ${title}: ${expected === 1 ? "one is replaced" : "nobody is replaced"}`, () => {
    const world = crowded();
    const plan = planOf(world, nodes, last);
    assert.equal(chosenBy(world, plan).length, expected);
    assert.equal(plan.zoneAttempt === last, expected === 0);
    if (expected > 0) return;
    const wait = plan.waits.find(({ reason }) => reason === "ExclusionPostponed");
    assert.match(wait?.message ?? "", /3 coordinators are wanted and only 2 can be found/);
    assert.match(wait?.remedy ?? "", /add nodes or uncordon them.*processGroupsToRemove/);
  });
}

test("[R103] a log that shares its zone with another one goes, and the reason is told", () => {
  const world = crowded();
  const plan = planOf(world, [a, b, c]);
  const [id = ""] = chosenBy(world, plan);
  assert.match(id, /^log-/);
  const event = plan.events.find(({ reason }) => reason === "ReplacingProcesses");
  const text = `^Replacing ${id}: it shares zone a with log-\\d+, and 3 coordinators need 3 zones$`;
  assert.match(event?.message ?? "", new RegExp(text));
  assert.deepEqual(plan.zoneAttempt, { ...attempt, processGroupId: id });
  world.mark(id);
  const next = planOf(world, [a, b, c], plan.zoneAttempt);
  assert.deepEqual(chosenBy(world, next), [], "one at a time");
  const wait = next.waits.find(({ reason }) => reason === "ExclusionPostponed");
  const note = new RegExp(`; ${id} is replaced so that 3 coordinators find 3 zones$`);
  assert.match(wait?.message ?? "", note);
});

test("[R103] storage goes where no log shares its zone", () => {
  const world = crowded((processClass) => (processClass === "log" ? "a" : "b"), {
    processCounts: { storage: 3, log: 1, stateless: 1 },
  });
  const [id = ""] = chosenBy(world, planOf(world, [a, b, c]));
  assert.match(id, /^storage-/);
});

test("[R103] nobody goes while a process that is to stay does not report", () => {
  const world = crowded();
  const [silent] = world.groups("storage").filter((group) => !group.removalTimestamp);
  world.silent.add(silent?.processGroupID ?? "");
  assert.deepEqual(chosenBy(world, planOf(world, [a, b, c])), []);
});

test("[R103] nobody goes while others that are to go still stand on nodes", () => {
  const [id = ""] = RemovalWorld.settled(spec).ids("stateless");
  const world = crowded(twoZones, {}, [id]);
  assert.ok(world.groups().some((group) => group.processGroupID === id && group.removalTimestamp));
  assert.deepEqual(chosenBy(world, planOf(world, [a, b, c])), []);
  world.pods.delete(world.podNameOf(id));
  assert.equal(chosenBy(world, planOf(world, [a, b, c])).length, 1);
});

test("[R103] nobody goes while a process in another zone only cannot be chosen now", () => {
  const world = crowded((processClass, index) =>
    processClass === "storage" && index === 0 ? "d" : twoZones(processClass, index),
  );
  const change = world.change;
  world.change = (status) => {
    change(status);
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.locality?.["zoneid"] === "d") process.under_maintenance = true;
    }
  };
  assert.deepEqual(chosenBy(world, planOf(world, [a, b, c])), []);
});

test("[R103] the limit of replacements does not hold it back, unless none are wanted at all", () => {
  for (const [limit, expected] of [
    [0, 0],
    [1, 1],
  ] as const) {
    const world = crowded();
    world.changeSpec({ automationOptions: { maxConcurrentReplacements: limit } });
    assert.equal(chosenBy(world, planOf(world, [a, b, c])).length, expected);
  }
});

test("[R104] an attempt is forgotten when nobody is to go any more", () => {
  const world = RemovalWorld.settled(spec);
  assert.equal(planOf(world, [a, b, c], attempt).zoneAttempt, undefined);
});
