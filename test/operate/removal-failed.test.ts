// Which failed process groups are replaced, and which are not. Rules: spec/removal.md [R10]-[R19].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import { removalIds, removed, RemovalWorld, waitOf } from "./removal-world.ts";

const hour = 3600;
const long = 2 * hour + 1;

type Replacements = NonNullable<ClusterSpec["automationOptions"]>["replacements"];

function settled(replacements: Replacements = {}, spec: Partial<ClusterSpec> = {}): RemovalWorld {
  const processCounts = { storage: 5, log: 4, stateless: 3 };
  return RemovalWorld.settled({ processCounts, ...spec, automationOptions: { replacements } });
}

/** Its processes do not report since then. */
function lose(world: RemovalWorld, id: string, secondsAgo: number): void {
  world.silent.add(id);
  world.condition(id, "MissingProcesses", secondsAgo);
}

test("[R10] nobody is replaced in a healthy cluster", () => {
  assert.deepEqual(removalIds(settled().plan()), []);
});

test("[R10] a process that is missing for long is replaced with exclusion", () => {
  const world = settled();
  const id = world.id("storage", 1);
  lose(world, id, long);
  const plan = world.plan();
  assert.deepEqual(removalIds(plan), [id]);
  const group = plan.status.processGroups?.find((one) => one.processGroupID === id);
  assert.equal(group?.exclusionSkipped, undefined);
  const storages = plan.status.processGroups?.filter((one) => one.processClass === "storage");
  assert.equal(storages?.length, 6);
});

test("[R10] a short time is not enough, and the time is the user's to say", () => {
  const world = settled();
  lose(world, world.id("storage"), 2 * hour - 10);
  assert.deepEqual(removalIds(world.plan()), []);
  const quick = settled({ failureDetectionTimeSeconds: 60 });
  lose(quick, quick.id("storage"), 61);
  assert.deepEqual(removalIds(quick.plan()), [quick.id("storage")]);
});

const calls: [string, boolean, (world: RemovalWorld, id: string) => void][] = [
  ["ProcessHasIOError", true, (world, id) => message(world, id)],
  ["SidecarUnreachable", false, () => {}],
  ["PodPending", true, (world, id) => phase(world, id, "Pending")],
  ["PodFailing", true, (world, id) => phase(world, id, "Failed")],
  ["MissingPod", true, (world, id) => void world.pods.delete(world.podNameOf(id))],
  ["IncorrectPodSpec", false, () => {}],
  ["IncorrectCommandLine", false, () => {}],
];

/** A window that is closed for hours to come. */
const windows = { maintenanceWindows: [{ cron: "0 20 * * *", duration: "1h" }] };

for (const [what, isReplaced] of [
  ["was made from another specification waits for its window, however long", false],
  ["is gone waits for none", true],
] as const) {
  test(`[R10] [WIN5] a process group whose claim ${what}`, () => {
    const processCounts = { storage: 5, log: 4, stateless: 3 };
    const world = RemovalWorld.settled({ processCounts, automationOptions: windows });
    const id = world.id("storage");
    const name = `${world.podNameOf(id)}-data`;
    const claim = world.pvcs.get(name) ?? assert.fail();
    const annotations = { [annotationKeys.lastAppliedSpec]: "older" };
    const metadata = { ...claim.metadata, annotations };
    if (isReplaced) world.pvcs.delete(name);
    else world.pvcs.set(name, { ...claim, metadata });
    world.condition(id, "MissingPVC", long);
    assert.deepEqual(removalIds(world.plan()), isReplaced ? [id] : []);
  });
}

function message(world: RemovalWorld, id: string): void {
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.locality?.["instance_id"] === id) process.messages = [{ name: "io_error" }];
    }
  };
}

function phase(world: RemovalWorld, id: string, name: string): void {
  const pod = world.pods.get(world.podNameOf(id));
  assert.ok(pod?.status !== undefined);
  world.pods.set(world.podNameOf(id), { ...pod, status: { ...pod.status, phase: name } });
  if (name === "Pending") world.silent.add(id);
}

for (const [type, isReplaced, make] of calls) {
  test(`[R10] ${type} that lasts ${isReplaced ? "replaces" : "and is over does not replace"}`, () => {
    const world = settled();
    const id = world.id("storage");
    world.condition(id, type, long);
    make(world, id);
    assert.deepEqual(removalIds(world.plan()), isReplaced ? [id] : []);
  });
}

function taint(world: RemovalWorld, ids: readonly string[], replacingSecondsAgo: number): void {
  for (const id of ids) {
    const nodeName = world.pods.get(world.podNameOf(id))?.spec?.nodeName ?? "";
    world.nodes.set(nodeName, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: nodeName },
      spec: { taints: [{ key: "example.org/bad", effect: "NoSchedule" }] },
    });
    world.condition(id, "NodeTaintDetected", replacingSecondsAgo + 10);
    world.condition(id, "NodeTaintReplacing", replacingSecondsAgo);
  }
}

const taintReplacementOptions = [{ key: "example.org/bad", durationInSeconds: 5 }];

test("[R11] a process group on a node that stays tainted is replaced", () => {
  const world = settled({ taintReplacementOptions });
  const id = world.id("storage");
  taint(world, [id], 1799);
  assert.deepEqual(removalIds(world.plan()), []);
  taint(world, [id], 1801);
  assert.deepEqual(removalIds(world.plan()), [id]);
});

test("[R11] with the options gone the taint means nothing", () => {
  const world = settled();
  taint(world, [world.id("storage")], long);
  const plan = world.plan();
  assert.deepEqual(removalIds(plan), []);
  assert.ok(!JSON.stringify(plan.status).includes("NodeTaint"));
});

test("[R11] when too many fault domains are tainted none is replaced", () => {
  const limits: [number | string | undefined, number][] = [
    [undefined, 0],
    [1, 0],
    [2, 2],
    ["20%", 2],
    ["10%", 0],
  ];
  for (const [maxFaultDomainsWithTaintedProcessGroups, expected] of limits) {
    const limit =
      maxFaultDomainsWithTaintedProcessGroups === undefined
        ? {}
        : { maxFaultDomainsWithTaintedProcessGroups };
    const world = settled({ taintReplacementOptions, maxConcurrentReplacements: 5, ...limit });
    taint(world, world.ids("storage").slice(0, 2), 1801);
    const count = removalIds(world.plan()).length;
    assert.equal(count, expected, String(maxFaultDomainsWithTaintedProcessGroups));
  }
});

const switches: [string, Replacements, Partial<ClusterSpec>][] = [
  ["replacements are off", { enabled: false }, {}],
  ["the limit is 0", { maxConcurrentReplacements: 0 }, {}],
];
for (const [title, replacements, spec] of switches) {
  test(`[R12] nobody is replaced when ${title}`, () => {
    const world = settled(replacements, spec);
    lose(world, world.id("storage"), long);
    assert.deepEqual(removalIds(world.plan()), []);
  });
}

test("[R12] nobody is replaced with an empty monitor configuration", () => {
  const world = settled();
  lose(world, world.id("storage"), long);
  world.changeSpec({ buggify: { emptyMonitorConf: true } });
  assert.deepEqual(removalIds(world.plan()), []);
});

const sidecar = "foundationdb-kubernetes-sidecar";
const crashes: [string, (id: string) => ClusterSpec["buggify"]][] = [
  ["all", () => ({ crashLoop: ["*"] })],
  ["it by the old field", (id) => ({ crashLoop: [id] })],
  [
    "its main container",
    (id) => ({ crashLoopContainers: [{ containerName: "foundationdb", targets: [id] }] }),
  ],
  ["its sidecar", (id) => ({ crashLoopContainers: [{ containerName: sidecar, targets: [id] }] })],
  [
    "its sidecar, and another's main container",
    (id) => ({
      crashLoopContainers: [
        { containerName: sidecar, targets: [id] },
        { containerName: "foundationdb", targets: ["storage-0"] },
      ],
    }),
  ],
  [
    "another's sidecar, and its main container",
    (id) => ({
      crashLoopContainers: [
        { containerName: "foundationdb", targets: [id] },
        { containerName: sidecar, targets: ["storage-0"] },
      ],
    }),
  ],
];
for (const [title, buggify] of crashes) {
  test(`[R12] a process group is left alone when the user lets ${title} crash`, () => {
    const world = settled();
    const id = world.id("storage");
    lose(world, id, long);
    const given = buggify(id);
    world.changeSpec(given === undefined ? {} : { buggify: given });
    assert.deepEqual(removalIds(world.plan()), []);
  });
}

test("[R13] nobody is replaced while the database is not available, and a wait says so", () => {
  const world = settled();
  const id = world.id("storage");
  lose(world, id, long);
  world.change = (status) => {
    if (status.client?.database_status) status.client.database_status.available = false;
  };
  assert.deepEqual(removalIds(world.plan()), []);
  assert.match(waitOf(world.plan(), "ReplacementPostponed"), new RegExp(`${id}.*not available`));
});

test("[R13] a storage process group under maintenance is not replaced, another class there is", () => {
  for (const processClass of ["storage", "log"]) {
    const world = settled();
    const id = world.id(processClass);
    lose(world, id, long);
    const zone = world.groups().find((one) => one.processGroupID === id)?.faultDomain ?? "";
    world.statusOverlay = { maintenance_zone: zone };
    assert.deepEqual(removalIds(world.plan()), processClass === "storage" ? [] : [id]);
  }
});

test("[R14] several failures are replaced one after the other", () => {
  const world = settled();
  const [first = "", second = ""] = world.ids("storage");
  lose(world, first, long);
  lose(world, second, long);
  const plan = world.plan();
  assert.deepEqual(removalIds(plan), [first]);
  assert.match(
    waitOf(plan, "ReplacementLimited"),
    new RegExp(`^${second} .*${first} holds the replacement bucket general, .*allows 1 at a time`),
  );
});

test("[R14] a removal in flight takes the room until its exclusion has ended", () => {
  const world = settled();
  const [first = "", second = ""] = world.ids("storage");
  world.mark(first);
  lose(world, second, long);
  assert.deepEqual(removalIds(world.plan()), [first]);
  world.changeGroup(first, { exclusionTimestamp: "2026-01-01T00:00:00Z" });
  world.exclusions.push({ locality: `locality_instance_id:${first}` });
  assert.deepEqual(removalIds(world.plan()).sort(), [first, second].sort());
});

test("[R14] the limit is the user's to say", () => {
  const world = settled({ maxConcurrentReplacements: 2 });
  for (const id of world.ids("storage").slice(0, 3)) lose(world, id, long);
  assert.deepEqual(removalIds(world.plan()), world.ids("storage").slice(0, 2));
});

test("[R15] with fault domains counted, all of one domain are replaced and none of another", () => {
  const world = settled({ faultDomainBasedReplacements: true });
  const [first = "", second = "", third = ""] = world.ids("storage");
  for (const id of [first, second, third]) lose(world, id, long);
  world.changeGroup(first, { faultDomain: "zone-a" });
  world.changeGroup(second, { faultDomain: "zone-b" });
  world.changeGroup(third, { faultDomain: "zone-a" });
  assert.deepEqual(removalIds(world.plan()), [first, third]);
  world.mark(second);
  world.changeGroup(second, { faultDomain: "zone-b" });
  assert.deepEqual(removalIds(world.plan()), [second]);
});

test("[R16] all classes share one bucket", () => {
  const world = settled();
  const [log, storage] = [world.id("log"), world.id("storage")];
  lose(world, log, long);
  lose(world, storage, long);
  assert.deepEqual(removalIds(world.plan()), [log]);
});

test("[R17] without address and locality it is replaced at full fault tolerance only, and skips the exclusion", () => {
  const useLocalitiesForExclusion = false;
  const prepare = (): [RemovalWorld, string] => {
    const processCounts = { storage: 5, log: 4, stateless: 3 };
    const world = RemovalWorld.settled({
      processCounts,
      automationOptions: { useLocalitiesForExclusion },
    });
    const id = world.id("storage");
    world.pods.delete(world.podNameOf(id));
    world.changeGroup(id, { addresses: [] });
    world.condition(id, "MissingPod", long);
    return [world, id];
  };
  const [world, id] = prepare();
  const plan = world.plan();
  const group = plan.status.processGroups?.find((one) => one.processGroupID === id);
  assert.equal(group?.exclusionSkipped, true);
  const [degraded] = prepare();
  degraded.change = (status) => {
    const tracker = status.cluster?.data?.team_trackers?.[0];
    if (tracker?.state) tracker.state.min_replicas_remaining = 1;
  };
  assert.deepEqual(removalIds(degraded.plan()), []);
  assert.match(waitOf(degraded.plan(), "ReplacementPostponed"), /1 of 2 copies/);
});

test("[R17] [S84] one that reports before it is gone is excluded like any other", () => {
  const world = RemovalWorld.settled({
    processCounts: { storage: 5, log: 4, stateless: 3 },
    automationOptions: { useLocalitiesForExclusion: false },
  });
  const id = world.id("storage");
  const removalTimestamp = "2026-01-01T00:00:00Z";
  const skipped = {
    removalTimestamp,
    exclusionTimestamp: removalTimestamp,
    exclusionSkipped: true,
  };
  world.changeGroup(id, skipped);
  const plan = world.plan();
  const group = plan.status.processGroups?.find((one) => one.processGroupID === id);
  assert.equal(group?.removalTimestamp, removalTimestamp);
  assert.deepEqual([group?.exclusionSkipped, group?.exclusionTimestamp], [undefined, undefined]);
  assert.deepEqual(removed(plan), []);
  world.silent.add(id);
  const silent = world.plan().status.processGroups?.find((one) => one.processGroupID === id);
  assert.equal(silent?.exclusionSkipped, true);
  world.silent.clear();
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  const asked = world.plan().status.processGroups?.find((one) => one.processGroupID === id);
  assert.equal(asked?.exclusionSkipped, true);
});

test("[R17] where localities name it, a process group without address is excluded like any other", () => {
  const world = settled();
  const id = world.id("storage");
  world.pods.delete(world.podNameOf(id));
  world.changeGroup(id, { addresses: [] });
  world.condition(id, "MissingPod", long);
  const group = world.plan().status.processGroups?.find((one) => one.processGroupID === id);
  assert.notEqual(group?.removalTimestamp, undefined);
  assert.equal(group?.exclusionSkipped, undefined);
});

test("[R18] a process that somebody excluded is replaced after a while, and not before", () => {
  const world = settled();
  const id = world.id("storage");
  world.exclusions.push({ locality: `locality_instance_id:${id}` });
  assert.deepEqual(removalIds(world.plan()), []);
  world.condition(id, "ProcessIsMarkedAsExcluded", long);
  assert.deepEqual(removalIds(world.plan()), [id]);
});

test("[R19] a replacement is an event with its cause", () => {
  const world = settled();
  const id = world.id("storage");
  lose(world, id, long);
  const event = world.plan().events.find(({ reason }) => reason === "ReplacingProcesses");
  assert.match(event?.message ?? "", new RegExp(`^Replacing ${id}: MissingProcesses since 20`));
});
