// Logical fault domains in the plan of a cluster: who is bound where, who is replaced, who goes in a shrink.
// Rules: spec/packing.md [PACK20], [PACK30]-[PACK43], [PACK45]-[PACK47].
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { packingChangeOf } from "../../src/plan/placement/packing-migration.ts";
import { withDomains } from "../../src/plan/placement/packing-placement.ts";
import { exampleText } from "../world/example.ts";
import { removalIds, RemovalWorld, waitOf } from "./removal-world.ts";

const processCounts = { storage: 6, log: 4, stateless: 3 };

function packed(desiredFaultDomains: number, more: ClusterSpec["distributionConfig"] = {}) {
  return { distributionConfig: { enabled: true, desiredFaultDomains, ...more } };
}

function settled(domains = 3, spec: Partial<ClusterSpec> = {}): RemovalWorld {
  return RemovalWorld.settled({ processCounts, ...packed(domains), ...spec });
}

/** Members that stay, by domain; those without one under "". */
function sizes(world: RemovalWorld, processClass: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { distributionKey = "", removalTimestamp } of world.groups(processClass)) {
    if (removalTimestamp === undefined) found[distributionKey] = (found[distributionKey] ?? 0) + 1;
  }
  return found;
}

function marked(world: RemovalWorld, processClass: string): string[] {
  return world
    .groups(processClass)
    .filter((group) => group.removalTimestamp !== undefined)
    .map((group) => group.processGroupID);
}

/** Lets everything that is marked be excluded and vanish, until nobody is marked any more. */
function settleRemovals(world: RemovalWorld): Set<string> {
  const replaced = new Set<string>();
  for (let round = 0; round < 60; round += 1) {
    world.pass();
    const leaving = world.groups().filter((group) => group.removalTimestamp !== undefined);
    const isQuiet = leaving.length === 0 && world.plan().isReconciled;
    if (isQuiet) return replaced;
    for (const { processGroupID: id } of leaving) {
      replaced.add(id);
      world.emptied.add(id);
    }
    world.later(130);
    world.runPods();
  }
  throw new Error(`not settled: ${JSON.stringify(world.plan().waits)}`);
}

test("[PACK30] new process groups fill the domains evenly, the fullest ones are the first", () => {
  const world = settled();
  assert.deepEqual(sizes(world, "storage"), { "storage-0": 2, "storage-1": 2, "storage-2": 2 });
  assert.deepEqual(sizes(world, "log"), { "log-0": 2, "log-1": 1, "log-2": 1 });
  world.changeSpec({ processCounts: { ...processCounts, storage: 8, log: 6 } });
  world.settle();
  assert.deepEqual(sizes(world, "storage"), { "storage-0": 3, "storage-1": 3, "storage-2": 2 });
  assert.deepEqual(sizes(world, "log"), { "log-0": 2, "log-1": 2, "log-2": 2 });
});

test("[PACK20] the domain is in the status from the start and never changes", () => {
  const world = settled();
  const before = world.groups().map(({ processGroupID, distributionKey, faultDomain }) => {
    assert.equal(faultDomain, distributionKey);
    return [processGroupID, distributionKey];
  });
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.locality) process.locality["zoneid"] = "elsewhere";
    }
  };
  world.pass();
  const after = world.groups().map((group) => [group.processGroupID, group.faultDomain]);
  assert.deepEqual(after, before);
});

test("[PACK20] a lost status finds the domains again on pods and volume claims", () => {
  const world = settled();
  const before = world.groups().map((group) => [group.processGroupID, group.distributionKey]);
  const storage = world.id("storage");
  const { connectionString = "" } = world.cluster.status ?? {};
  world.cluster = { ...world.cluster, status: { connectionString } };
  world.pods.delete(world.podNameOf(storage));
  const found = world.plan().status.processGroups ?? [];
  assert.deepEqual(
    found.map((group) => [group.processGroupID, group.distributionKey]),
    before,
  );
});

test("[PACK31] the successor of a failed pod goes into the domain furthest below its target", () => {
  const world = settled();
  const failed = world.groups("storage").find((one) => one.distributionKey === "storage-1");
  world.silent.add(failed?.processGroupID ?? "");
  world.condition(failed?.processGroupID ?? "", "MissingProcesses", 7201);
  world.pass();
  assert.deepEqual(marked(world, "storage"), [failed?.processGroupID]);
  assert.deepEqual(sizes(world, "storage"), { "storage-0": 2, "storage-1": 2, "storage-2": 2 });
});

test("[PACK32] with fewer process groups than domains as many domains are used as there are groups", () => {
  const world = settled(5);
  assert.deepEqual(sizes(world, "log"), { "log-0": 1, "log-1": 1, "log-2": 1, "log-3": 1 });
  assert.deepEqual(sizes(world, "stateless"), {
    "stateless-0": 1,
    "stateless-1": 1,
    "stateless-2": 1,
  });
});

test("[PACK36] increasing the number of domains from 3 to 4 replaces one of 6 (the design's example)", () => {
  const world = settled(3);
  world.changeSpec(packed(4));
  const replaced = settleRemovals(world);
  assert.deepEqual(sizes(world, "storage"), {
    "storage-0": 2,
    "storage-1": 2,
    "storage-2": 1,
    "storage-3": 1,
  });
  assert.equal([...replaced].filter((id) => id.startsWith("storage-")).length, 1);
});

test("[PACK36] reducing the number of domains from 3 to 2 replaces the members of the third (the design's example)", () => {
  const world = settled(3);
  const third = world.groups("storage").filter((one) => one.distributionKey === "storage-2");
  world.changeSpec(packed(2));
  const replaced = settleRemovals(world);
  assert.deepEqual(sizes(world, "storage"), { "storage-0": 3, "storage-1": 3 });
  assert.deepEqual(
    [...replaced].filter((id) => id.startsWith("storage-")).sort(),
    third.map((group) => group.processGroupID).sort(),
  );
});

test("[PACK36] an overfull domain loses what is above the larger size: 4 of 10 in 4 domains replaces one (the design's example)", () => {
  const world = settled(4, { processCounts: { ...processCounts, storage: 10 } });
  const first = world.groups("storage").find((one) => one.distributionKey === "storage-1");
  world.changeGroup(first?.processGroupID ?? "", {
    distributionKey: "storage-0",
    faultDomain: "storage-0",
  });
  assert.deepEqual(sizes(world, "storage"), {
    "storage-0": 4,
    "storage-1": 2,
    "storage-2": 2,
    "storage-3": 2,
  });
  world.pass();
  assert.equal(marked(world, "storage").length, 1);
  assert.equal(
    world.groups("storage").find((one) => one.removalTimestamp !== undefined)?.distributionKey,
    "storage-0",
  );
});

test("[PACK34] turned on, everybody is replaced by packed ones, and nobody twice", () => {
  const world = RemovalWorld.settled({ processCounts });
  const before = world.ids();
  world.changeSpec(packed(3));
  const replaced = settleRemovals(world);
  assert.deepEqual([...replaced].sort(), before.toSorted());
  assert.deepEqual(sizes(world, "storage"), { "storage-0": 2, "storage-1": 2, "storage-2": 2 });
});

test("[PACK35] turned off, everybody is replaced by unpacked ones", () => {
  const world = settled();
  const before = world.ids();
  world.changeSpec({ distributionConfig: { enabled: false, desiredFaultDomains: 3 } });
  const replaced = settleRemovals(world);
  assert.deepEqual([...replaced].sort(), before.toSorted());
  assert.deepEqual(sizes(world, "storage"), { "": 6 });
  const pods = [...world.pods.values()].map(({ metadata }) => metadata.labels ?? {});
  assert.ok(pods.every((labels) => labels["foundationdb.org/distribution-key"] === undefined));
});

test("[PACK37] a new prefix means new domains", () => {
  const world = settled(2, { processGroupIDPrefix: "dc1" });
  assert.deepEqual(sizes(world, "storage"), { "dc1-storage-0": 3, "dc1-storage-1": 3 });
  world.changeSpec({ processGroupIDPrefix: "dc2" });
  world.pass();
  assert.equal(marked(world, "storage").length, 3, "one domain's worth");
  const added = world.groups("storage").filter((one) => one.processGroupID.startsWith("dc2-"));
  assert.equal(added.length, 3);
  assert.ok(added.every((one) => one.distributionKey?.startsWith("dc2-storage-")));
});

test("[PACK38] at most one domain's worth of a class is under way, and a wait tells of the others", () => {
  const world = RemovalWorld.settled({ processCounts });
  world.changeSpec(packed(3));
  const plan = world.pass();
  const number = (processClass: string) => marked(world, processClass).length;
  assert.deepEqual([number("storage"), number("log"), number("stateless")], [2, 2, 1]);
  const message = waitOf(plan, "ReplacementQueued");
  assert.match(message, /one domain's worth \(2\) of a class goes at a time; waiting: 8/);
  assert.equal(plan.isReconciled, false);
  world.pass();
  assert.equal(number("storage"), 2);
});

test("[PACK38] the same when it is turned off: one domain goes, then the next", () => {
  const world = settled();
  world.changeSpec({ distributionConfig: { enabled: false } });
  world.pass();
  const keys = world
    .groups("storage")
    .filter((one) => one.removalTimestamp !== undefined)
    .map((one) => one.distributionKey);
  assert.deepEqual(keys, ["storage-0", "storage-0"]);
});

for (const isStorageDown of [false, true]) {
  const state = isStorageDown ? ", also while a new storage server does not come up" : "";
  test(`[PACK38] nobody waits for those that must stay because too few zones would be left${state}`, () => {
    passKeptLogs(isStorageDown);
  });
}

function passKeptLogs(isStorageDown: boolean): void {
  const world = settled(3, { databaseConfiguration: { redundancy_mode: "triple" } });
  const old = new Set(world.groups("log").map((group) => group.processGroupID));
  const before = new Set(world.ids("storage"));
  world.changeSpec({ distributionConfig: { enabled: false } });
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      const isNew = !old.has(process.locality?.["instance_id"] ?? "");
      if (process.class_type === "log" && isNew) {
        process.locality = { ...process.locality, zoneid: "the only free host" };
      }
    }
  };
  for (let round = 0; round < 20; round += 1) {
    world.pass();
    const successor = world.ids("storage").find((id) => !before.has(id));
    if (isStorageDown && successor !== undefined) world.silent.add(successor);
    for (const { processGroupID, removalTimestamp } of world.groups()) {
      if (removalTimestamp !== undefined) world.emptied.add(processGroupID);
    }
    world.later(130);
    world.runPods();
  }
  assert.deepEqual(sizes(world, "log"), { "": processCounts.log });
  const kept = world.groups("log").filter((group) => old.has(group.processGroupID));
  assert.deepEqual(
    kept.map(({ exclusionTimestamp }) => exclusionTimestamp),
    [undefined, undefined],
    "two old ones make three zones with the only host",
  );
}

test("[PACK39] maxConcurrentReplacements sets another limit, for all classes together", () => {
  for (const [maxConcurrentReplacements, expected] of [
    [1, 1],
    [9, 9],
    [0, 0],
  ] as const) {
    const world = RemovalWorld.settled({ processCounts });
    world.changeSpec({ ...packed(3), automationOptions: { maxConcurrentReplacements } });
    assert.equal(removalIds(world.plan()).length, expected);
  }
});

test("[PACK40] whoever waits for its replacement is not made anew in place", () => {
  const world = RemovalWorld.settled({ processCounts });
  const podTemplate = { spec: { containers: [], terminationGracePeriodSeconds: 7 } };
  const automationOptions = { maxConcurrentReplacements: 0, podUpdateStrategy: "Delete" } as const;
  world.changeSpec({
    ...packed(3),
    automationOptions,
    processes: { general: { podTemplate } },
  });
  for (let round = 0; round < 5; round += 1) {
    const plan = world.pass();
    assert.deepEqual(
      plan.actions.filter((action) => action.type === "deletePods"),
      [],
    );
    world.later(60);
  }
});

test("[PACK41] a member in trouble is replaced before one that works", () => {
  const world = settled(3);
  const third = world.groups("storage").filter((one) => one.distributionKey === "storage-2");
  const sick = third.at(-1)?.processGroupID ?? "";
  world.silent.add(sick);
  world.condition(sick, "MissingProcesses", 30);
  world.changeSpec(packed(4));
  world.pass();
  assert.deepEqual(marked(world, "storage"), [sick]);
});

test("[PACK42] a shrink takes from the fullest domains and replaces nobody", () => {
  const world = settled(3, { processCounts: { ...processCounts, storage: 8 } });
  world.changeSpec({ processCounts: { ...processCounts, storage: 5 } });
  world.pass();
  assert.equal(marked(world, "storage").length, 3);
  assert.deepEqual(Object.values(sizes(world, "storage")).sort(), [1, 2, 2]);
  const replaced = settleRemovals(world);
  assert.equal([...replaced].filter((id) => id.startsWith("storage-")).length, 3);
});

test("[PACK42] among equally full domains the one with a member in trouble gives it", () => {
  const world = settled(3);
  for (const key of ["storage-0", "storage-1", "storage-2"]) {
    const fresh = settled(3);
    const [sick] = fresh.groups("storage").filter((one) => one.distributionKey === key);
    fresh.silent.add(sick?.processGroupID ?? "");
    fresh.changeSpec({ processCounts: { ...processCounts, storage: 5 } });
    fresh.pass();
    assert.deepEqual(marked(fresh, "storage"), [sick?.processGroupID], key);
  }
  assert.ok(world.plan().isReconciled);
});

test("[PACK43] a shrink takes those first that would have to be replaced", () => {
  const world = settled(3);
  const ids = world.groups("storage").filter((one) => one.distributionKey === "storage-2");
  world.changeSpec({ ...packed(2), processCounts: { ...processCounts, storage: 4 } });
  const replaced = settleRemovals(world);
  assert.deepEqual(
    [...replaced].filter((id) => id.startsWith("storage-")).sort(),
    ids.map((group) => group.processGroupID).sort(),
  );
  assert.deepEqual(sizes(world, "storage"), { "storage-0": 2, "storage-1": 2 });
});

/** Turned on while no node takes the new pods, then turned off with some limit. */
function takenBack(automationOptions: ClusterSpec["automationOptions"] = {}): RemovalWorld {
  const world = RemovalWorld.settled({ processCounts });
  world.changeSpec(packed(3));
  world.pass();
  world.pass();
  assert.deepEqual(sizes(world, "storage"), { "": 4, "storage-0": 2 });
  world.changeSpec({ distributionConfig: { enabled: false }, automationOptions });
  return world;
}

test("[PACK45] who never had a node is replaced at once, though one domain's worth is under way", () => {
  for (const automationOptions of [{}, { maxConcurrentReplacements: 1 }]) {
    const world = takenBack(automationOptions);
    const before = marked(world, "storage");
    world.pass();
    assert.deepEqual(sizes(world, "storage"), { "": 6 });
    assert.deepEqual(sizes(world, "log"), { "": processCounts.log });
    assert.equal(marked(world, "storage").length, before.length + 2);
    world.runPods();
    settleRemovals(world);
    assert.deepEqual(sizes(world, "storage"), { "": 6 });
  }
});

test("[PACK45] with a limit of 0 it stays as well", () => {
  const world = takenBack({ maxConcurrentReplacements: 0 });
  world.pass();
  assert.deepEqual(sizes(world, "storage"), { "": 4, "storage-0": 2 });
});

test("[PACK45] who has a node, or has reported, waits as everybody does", () => {
  const placed = takenBack();
  for (const { processGroupID, distributionKey } of placed.groups()) {
    if (distributionKey !== undefined) placed.silent.add(processGroupID);
  }
  placed.runPods();
  placed.pass();
  assert.deepEqual(sizes(placed, "storage"), { "": 4, "storage-0": 2 });
  const evicted = settled();
  for (const group of evicted.groups("storage")) {
    const name = evicted.podNameOf(group.processGroupID);
    const pod = evicted.pods.get(name);
    if (pod?.spec === undefined) throw new Error(`no pod ${name}`);
    const { nodeName: _, ...spec } = pod.spec;
    evicted.pods.set(name, { ...pod, spec });
  }
  evicted.changeSpec({ distributionConfig: { enabled: false } });
  evicted.pass();
  assert.equal(marked(evicted, "storage").length, 2, "one domain's worth");
});

/** Puts the pods of a class on hosts, as many on each as told. */
function placeOnHosts(world: RemovalWorld, processClass: string, hosts: Record<string, number>) {
  const names = Object.entries(hosts).flatMap(([host, number]) =>
    Array.from({ length: number }, () => host),
  );
  for (const [index, { processGroupID }] of world.groups(processClass).entries()) {
    const name = world.podNameOf(processGroupID);
    const pod = world.pods.get(name);
    if (pod?.spec === undefined) throw new Error(`no pod ${name}`);
    const spec = { ...pod.spec, nodeName: names[index % names.length] ?? "" };
    world.pods.set(name, { ...pod, spec });
  }
}

test("[PACK46] those that go first are on one host, the one with the fewest", () => {
  const cases: readonly Record<string, number>[] = [
    { a: 2, b: 2, c: 2 },
    { a: 3, b: 2, c: 1 },
    { a: 4, b: 2 },
  ];
  for (const hosts of cases) {
    const world = RemovalWorld.settled({ processCounts });
    placeOnHosts(world, "storage", hosts);
    world.changeSpec(packed(3));
    world.pass();
    const staying = new Set<string>();
    for (const { processGroupID, removalTimestamp, distributionKey } of world.groups("storage")) {
      if (removalTimestamp !== undefined || distributionKey !== undefined) continue;
      staying.add(world.pods.get(world.podNameOf(processGroupID))?.spec?.nodeName ?? "");
    }
    assert.equal(marked(world, "storage").length, 2);
    assert.equal(staying.size, Object.keys(hosts).length - 1, JSON.stringify(hosts));
  }
});

test("[PACK47] while some are in no domain, new ones fill one domain after the other", () => {
  const spec: ClusterSpec = { version: "7.3.63", ...packed(3) };
  const groupOf = (id: number, distributionKey?: string) => ({
    processGroupID: `storage-${id}`,
    processClass: "storage",
    ...(distributionKey === undefined ? {} : { distributionKey }),
  });
  const present = [groupOf(1), groupOf(2), groupOf(3, "storage-1")];
  const added = [groupOf(4), groupOf(5), groupOf(6)];
  const keys = (found: readonly { distributionKey?: string | undefined }[]) =>
    found.map(({ distributionKey }) => distributionKey);
  assert.deepEqual(keys(withDomains(spec, present, added)), [
    "storage-1",
    "storage-0",
    "storage-0",
  ]);
  assert.deepEqual(
    keys(withDomains(spec, present.slice(2), added)),
    ["storage-0", "storage-1", "storage-2"],
    "all are in one: the domain furthest below its target",
  );
});

const spread: ClusterSpec = {
  version: "7.3.63",
  databaseConfiguration: { redundancy_mode: "three_data_hall" },
  localities: [{ key: "data_hall", topologyKey: "topology.kubernetes.io/zone" }],
  distributionConfig: { enabled: true, desiredFaultDomains: 2 },
};

test("[PACK33] domains are counted for each hall, and none spans two", () => {
  const groups = ["a", "b", "c"].flatMap((hall) =>
    [1, 2, 3].map((number) => ({
      processGroupID: `storage-${hall}${number}`,
      processClass: "storage",
      hall,
    })),
  );
  const placed = withDomains(spread, groups.slice(0, 2), groups.slice(2));
  assert.deepEqual(
    placed.map(({ distributionKey }) => distributionKey),
    [
      "storage-a-0",
      ...["storage-b-0", "storage-b-0", "storage-b-1"],
      ...["storage-c-0", "storage-c-0", "storage-c-1"],
    ],
  );
});

test("[PACK33] a process group is judged by the domains of its hall, and not before the hall is known", () => {
  const group = { processGroupID: "storage-1", processClass: "storage" };
  const cases = [
    [{ hall: "a", distributionKey: "storage-a-1" }, undefined],
    [{ hall: "a", distributionKey: "storage-b-1" }, /storage-b-1 is not wanted/],
    [{ hall: "a", distributionKey: "storage-a-2" }, /storage-a-2 is not wanted/],
    [{ hall: "a" }, /in no logical fault domain/],
    [{ distributionKey: "storage-a-1" }, undefined],
    [{}, undefined],
  ] as const;
  for (const [state, expected] of cases) {
    const found = packingChangeOf(spread, { ...group, ...state });
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", expected);
  }
});

test("[PACK36] whatever the change of number, the fewest are replaced and all domains end at their targets", () => {
  const property = fc.property(
    fc.integer({ min: 2, max: 6 }),
    fc.integer({ min: 2, max: 6 }),
    fc.integer({ min: 6, max: 9 }),
    (from, to, storage) => {
      const world = settled(from, { processCounts: { ...processCounts, storage } });
      const before = sizes(world, "storage");
      world.changeSpec(packed(to));
      const replaced = settleRemovals(world);
      const after = sizes(world, "storage");
      const values = Object.values(after);
      assert.equal(values.length, Math.min(to, storage));
      assert.ok(Math.max(...values) - Math.min(...values) <= 1);
      const lost = Object.entries(before).reduce(
        (sum, [key, size]) => sum + Math.max(0, size - (after[key] ?? 0)),
        0,
      );
      const moved = [...replaced].filter((id) => id.startsWith("storage-")).length;
      assert.equal(moved, lost, `${JSON.stringify(before)} to ${JSON.stringify(after)}`);
    },
  );
  fc.assert(property, { seed: 1, numRuns: 12 });
});

test("[PACK76] the manual shows the example that the tests apply", () => {
  const page = join(import.meta.dirname, "..", "..", "docs", "bin-packing.md");
  const shown = `\`\`\`yaml\n${exampleText("bin-packing.yaml")}\`\`\``;
  assert.ok(readFileSync(page, "utf8").includes(shown));
});
