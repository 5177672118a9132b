// The one restart of an upgrade in which all processes change at once, on plain objects: who is waited for, who restarts,
// and how instances that share a database come together.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { StatusProcess } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { DatabaseKnowledge } from "../../src/plan/questions.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { UpgradeWorld, newVersion, oldVersion } from "./upgrade-world.ts";

/** Everything is prepared; the kills that the passes asked for so far are forgotten. */
function prepared(spec: Partial<ClusterSpec> = {}): UpgradeWorld {
  const world = new UpgradeWorld(spec);
  world.changeSpec({ version: newVersion });
  world.prepare();
  world.kills.length = 0;
  return world;
}

function killOf(plan: Plan): { addresses: readonly string[]; processGroupIds: readonly string[] } {
  const kills = plan.actions.flatMap((action) => (action.type === "killProcesses" ? [action] : []));
  assert.ok(kills.length <= 1, "one act");
  assert.ok(kills.every((kill) => kill.isUpgrade));
  return kills[0] ?? { addresses: [], processGroupIds: [] };
}

function waitOf(plan: Plan): string {
  const wait = plan.waits.find((one) => one.step === "bounceProcesses");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

function idsOf(world: UpgradeWorld): string[] {
  return (world.cluster.status?.processGroups ?? []).map((group) => group.processGroupID);
}

function processNameOf(world: UpgradeWorld, id: string): string {
  const found = Object.entries(world.processes).find(
    ([, process]) => process.locality?.["instance_id"] === id,
  );
  assert.ok(found);
  return found[0];
}

function withoutProcess(world: UpgradeWorld, id: string): void {
  const { [processNameOf(world, id)]: _, ...processes } = world.processes;
  world.statusOverlay = { ...world.statusOverlay, processes };
}

function addProcess(world: UpgradeWorld, id: string, change: Partial<StatusProcess> = {}): void {
  const [example] = Object.values(world.processes);
  const locality =
    id === "" ? {} : { ...example?.locality, instance_id: id, process_id: `${id}-1` };
  const process = { ...example, locality, address: "10.50.0.1:4501", ...change };
  const processes = { ...world.processes, [`foreign-${id}`]: process };
  world.statusOverlay = { ...world.statusOverlay, processes };
}

function knowing(
  world: UpgradeWorld,
  ids: readonly string[],
  version = newVersion,
): Partial<Snapshot> {
  const pendingUpgrades = { version, ids, sinceMs: 0, observedMs: world.nowMs };
  const knowledge: DatabaseKnowledge = { verified: new Map(), pendingUpgrades };
  return { knowledge };
}

test("[U40] A19 all processes restart in one act", () => {
  const world = prepared();
  const kill = killOf(world.plan());
  assert.deepEqual(kill.processGroupIds, idsOf(world));
  assert.equal(kill.addresses.length, 4);
  assert.ok(kill.addresses.every((address) => /^[\d.]+:4501$/.test(address)));
});

test("[U40] B12 B14 a process that is missing for a moment is waited for, one that is missing for long is not", () => {
  const world = prepared();
  const [id = ""] = idsOf(world);
  withoutProcess(world, id);
  const first = world.pass();
  assert.match(waitOf(first), new RegExp(`UpgradeStaging: .*${id}`));
  assert.deepEqual(world.kills, []);
  world.nowMs += 31_000;
  const { processGroupIds } = killOf(world.plan());
  assert.deepEqual(
    processGroupIds,
    idsOf(world).filter((one) => one !== id),
  );
});

const missingServers: readonly [what: string, ahead: number, gone: number, isWaitedFor: boolean][] =
  [
    ["one of two servers that ran ahead", 1, 0, false],
    ["two servers that ran ahead", 2, 0, false],
    ["a server that ran ahead beside one that is missing", 1, 1, true],
    ["a server that is missing", 0, 1, true],
  ];

for (const [what, ahead, gone, isWaitedFor] of missingServers) {
  test(`[U95] ${what}: the restart ${isWaitedFor ? "waits" : "does not wait"}`, () => {
    const world = prepared({ storageServersPerPod: 2 });
    const id = idsOf(world).find((each) => each.startsWith("storage")) ?? "";
    const addresses = Array.from({ length: ahead + gone }, () => {
      const name = processNameOf(world, id);
      const { address = "" } = world.processes[name] ?? {};
      delete world.processes[name];
      return address;
    });
    const overlay = { incompatible_connections: addresses.slice(0, ahead) };
    world.statusOverlay = { ...world.statusOverlay, ...overlay };
    const plan = world.pass();
    assert.equal(waitOf(plan).startsWith("UpgradeStaging"), isWaitedFor, waitOf(plan));
    assert.equal(world.kills.length, isWaitedFor ? 0 : 1);
  });
}

test("[U26][U40] a pod whose monitor has not taken the configuration over is waited for", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  const [late = ""] = world.pods.keys();
  for (let count = 0; count < 6; count += 1) {
    world.pass();
    world.nowMs += 1_000;
    world.followConfiguration(({ metadata }) => metadata.name !== late);
  }
  assert.deepEqual(world.kills, []);
  world.followConfiguration();
  assert.equal(killOf(world.plan()).addresses.length, 4);
});

test("[U41] processes of the wanted version, unreachable ones and ignored ones are not restarted", () => {
  const world = prepared({ processCounts: { storage: 4, log: 1, stateless: 1 } });
  const [first = "", second = "", third = ""] = idsOf(world);
  const processes = { ...world.processes };
  const name = processNameOf(world, first);
  processes[name] = { ...processes[name], version: newVersion };
  const dead = processes[processNameOf(world, second)]?.address;
  const messages = [{ name: "unreachable_processes", unreachable_processes: [{ address: dead }] }];
  world.statusOverlay = { ...world.statusOverlay, processes, messages };
  world.changeSpec({ buggify: { ignoreDuringRestart: [third] } });
  world.prepare();
  const { processGroupIds } = killOf(world.plan());
  assert.deepEqual(
    processGroupIds,
    idsOf(world).filter((id) => ![first, second, third].includes(id)),
  );
});

test("[U42] groups of class test hold nobody up and restart with the others", () => {
  const world = prepared({ processCounts: { storage: 1, log: 1, stateless: 1, test: 1 } });
  const tester = idsOf(world).find((id) => id.startsWith("test-")) ?? "";
  assert.ok(killOf(world.plan()).processGroupIds.includes(tester));
  withoutProcess(world, tester);
  const { processGroupIds } = killOf(world.plan());
  assert.equal(processGroupIds.length, 3);
});

test("[U43] a group that is marked and excluded is not waited for", () => {
  const world = prepared();
  const [id = ""] = idsOf(world);
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  const pod = [...world.pods.values()].find(
    ({ metadata }) => metadata.labels?.["foundationdb.org/fdb-process-group-id"] === id,
  );
  assert.ok(pod);
  const annotations = { ...pod.metadata.annotations };
  delete annotations["foundationdb.org/launcher-current-configuration"];
  world.pods.set(pod.metadata.name ?? "", { ...pod, metadata: { ...pod.metadata, annotations } });
  const plan = world.plan();
  assert.doesNotMatch(waitOf(plan), new RegExp(id));
});

const dangers: readonly [what: string, overlay: object, message: RegExp][] = [
  [
    "a recent recovery",
    {
      recovery_state: {
        name: "fully_recovered",
        active_generations: 1,
        seconds_since_last_recovered: 5,
      },
    },
    /60 seconds/,
  ],
  [
    "many generations",
    {
      recovery_state: {
        name: "fully_recovered",
        active_generations: 11,
        seconds_since_last_recovered: 999,
      },
    },
    /generations/,
  ],
  ["an unclean bounce", { bounce_impact: { can_clean_bounce: false, reason: "logs" } }, /logs/],
];

test("[U54] data that runs ahead explains why the database has not fully recovered", () => {
  const unclean = { bounce_impact: { can_clean_bounce: false, reason: "not recovered" } };
  for (const [id, isHeld] of [
    ["storage", false],
    ["stateless", true],
  ] as const) {
    const world = prepared();
    const found = idsOf(world).find((each) => each.startsWith(id)) ?? "";
    const name = processNameOf(world, found);
    const { address = "" } = world.processes[name] ?? {};
    delete world.processes[name];
    const overlay = { ...unclean, incompatible_connections: [address] };
    world.statusOverlay = { ...world.statusOverlay, ...overlay };
    world.pass();
    world.nowMs += 60_000;
    world.pass();
    const plan = world.plan();
    assert.equal(killOf(plan).addresses.length === 0, isHeld, id);
  }
});

for (const number of [1, 2]) {
  test(`[U90] storage server ${number} of two in a pod that ran ahead explains it, too, and the other one restarts`, () => {
    const world = prepared({ storageServersPerPod: 2 });
    const found = idsOf(world).find((each) => each.startsWith("storage")) ?? "";
    const names = Object.keys(world.processes).filter(
      (name) => world.processes[name]?.locality?.["instance_id"] === found,
    );
    const port = number === 1 ? ":4501" : ":4503";
    const isAhead = (name: string): boolean =>
      world.processes[name]?.address?.endsWith(port) ?? false;
    const [ahead = ""] = names.filter(isAhead);
    const [other = ""] = names.filter((name) => !isAhead(name));
    const { address = "" } = world.processes[ahead] ?? {};
    delete world.processes[ahead];
    world.statusOverlay = {
      ...world.statusOverlay,
      bounce_impact: { can_clean_bounce: false, reason: "not recovered" },
      incompatible_connections: [address],
    };
    world.pass();
    world.nowMs += 60_000;
    world.pass();
    const { addresses } = killOf(world.plan());
    assert.ok(addresses.includes(world.processes[other]?.address ?? "none"), addresses.join());
  });
}

for (const [ahead, version] of [
  ["storage", "7.4.6"],
  ["stateless", oldVersion],
] as const) {
  test(`[U89] where ${ahead} ran ahead of an upgrade that is overtaken, ${version} is announced`, () => {
    const world = prepared();
    const found = idsOf(world).find((each) => each.startsWith(ahead)) ?? "";
    const { address = "" } = world.processes[processNameOf(world, found)] ?? {};
    withoutProcess(world, found);
    world.statusOverlay = {
      ...world.statusOverlay,
      bounce_impact: { can_clean_bounce: false, reason: "not recovered" },
      incompatible_connections: [address],
    };
    world.changeSpec({ version: "7.4.6" });
    world.prepare();
    assert.equal(world.announced(), version);
  });
}

test("[U44] what speaks against a restart holds it back", () => {
  for (const [what, overlay, message] of dangers) {
    const world = prepared();
    world.statusOverlay = { ...world.statusOverlay, ...overlay };
    const plan = world.plan();
    assert.deepEqual(killOf(plan).addresses, [], what);
    assert.match(waitOf(plan), /^RestartHeld/, what);
    assert.match(waitOf(plan), message, what);
  }
});

test("[U45] a restart that is not over is not repeated", () => {
  const world = prepared();
  const entry = {
    type: "killProcesses" as const,
    beganMs: world.nowMs,
    atMs: world.nowMs,
    processGroupIds: idsOf(world),
    zones: [],
    addresses: [],
    starts: new Map<string, number>(),
    podUids: [],
  };
  const plan = world.plan({ ledger: [entry] });
  assert.deepEqual(killOf(plan).addresses, []);
  assert.match(waitOf(plan), /^ActInFlight/);
});

test("[U45] an old status does not tell who the clients are by now", () => {
  const world = prepared();
  const database = world.database();
  assert.ok(database.kind === "seen");
  const plan = world.plan({ database: { ...database, observedMs: world.nowMs - 11_000 } });
  assert.deepEqual(killOf(plan).addresses, []);
  assert.match(waitOf(plan), /^StatusOutdated/);
});

test("[U46] with killProcesses off nothing restarts, and the wait says so", () => {
  const world = prepared({ automationOptions: { killProcesses: false } });
  const plan = world.plan();
  assert.deepEqual(killOf(plan).addresses, []);
  assert.match(waitOf(plan), /^ProcessNeedsRestart/);
});

const locks = { lockOptions: { disableLocks: false }, processGroupIDPrefix: "one" };

function registered(plan: Plan): readonly string[] {
  return plan.actions.flatMap((action) =>
    action.type === "registerPendingUpgrade" ? action.processGroupIds : [],
  );
}

test("[U47] B12 own groups are announced before anybody restarts", () => {
  const world = prepared(locks);
  const asking = world.plan();
  assert.deepEqual(killOf(asking).addresses, []);
  assert.ok(asking.databaseQuestions.some(({ type }) => type === "pendingUpgrades"));
  const announcing = world.plan(knowing(world, []));
  assert.deepEqual(registered(announcing), idsOf(world));
  const restarting = world.plan(knowing(world, idsOf(world)));
  assert.deepEqual(registered(restarting), []);
  assert.deepEqual(killOf(restarting).processGroupIds, idsOf(world));
});

test("[U43][U47] a group that is not waited for is announced while it reports", () => {
  const world = prepared(locks);
  const id = idsOf(world).find((each) => each.includes("storage")) ?? "";
  const others = idsOf(world).filter((each) => each !== id);
  world.changeSpec({
    processGroupsToRemoveWithoutExclusion: [id],
    processCounts: { storage: 1, log: 1, stateless: 1 },
  });
  const plan = world.plan(knowing(world, []));
  assert.ok(registered(plan).includes(id), waitOf(plan));
  withoutProcess(world, id);
  const announced = registered(world.plan(knowing(world, [])));
  assert.ok(!announced.includes(id));
  assert.deepEqual(
    others.filter((other) => !announced.includes(other)),
    [],
  );
});

test("[U47] B13 a process that nobody announced holds everybody up", () => {
  const world = prepared(locks);
  addProcess(world, "two-storage-1");
  const first = world.plan(knowing(world, idsOf(world)));
  assert.deepEqual(killOf(first).addresses, []);
  assert.match(waitOf(first), /^UpgradePending: .*two-storage-1/);
  const wait = first.waits.find(({ reason }) => reason === "UpgradePending");
  assert.equal(wait?.event?.reason, "UpgradeRequeued");
  assert.deepEqual(registered(world.plan(knowing(world, ["two-storage-1"]))), idsOf(world));
});

test("[U47][U48] B13 when the others are ready too, the act holds all processes", () => {
  const world = prepared(locks);
  addProcess(world, "two-storage-1");
  const plan = world.plan(knowing(world, [...idsOf(world), "two-storage-1"]));
  assert.equal(killOf(plan).addresses.length, 5);
  assert.ok(killOf(plan).processGroupIds.includes("two-storage-1"));
});

test("[U47] B13 what was announced for another version does not count", () => {
  const world = prepared(locks);
  addProcess(world, "two-storage-1");
  const ids = [...idsOf(world), "two-storage-1"];
  assert.deepEqual(killOf(world.plan(knowing(world, ids, "7.3.1"))).addresses, []);
});

test("[U48] B13 without locks only own processes restart, and nothing is announced", () => {
  const world = prepared();
  addProcess(world, "two-storage-1");
  const plan = world.plan();
  assert.deepEqual(registered(plan), []);
  assert.deepEqual(killOf(plan).processGroupIds, idsOf(world));
});

test("[U49] B18 A19 testers, processes without localities and those of the new version hold nobody up", () => {
  const world = prepared(locks);
  addProcess(world, "", { address: "10.50.0.2:4501" });
  addProcess(world, "two-test-1", { class_type: "test", address: "10.50.0.3:4501" });
  addProcess(world, "two-storage-1", { version: newVersion });
  const plan = world.plan(knowing(world, idsOf(world)));
  const { processGroupIds, addresses } = killOf(plan);
  assert.ok(idsOf(world).every((id) => processGroupIds.includes(id)));
  assert.ok(!addresses.includes("10.50.0.1:4501"));
  assert.ok(!addresses.includes("10.50.0.2:4501"));
});

test("[U28] sidecars of split pods are left alone until a restart would be allowed", () => {
  const versionChange = (seconds: number): string[] => {
    const world = new SplitUpgrade(seconds);
    world.changeSpec({ version: newVersion });
    world.pass();
    return world.imageChanges;
  };
  assert.deepEqual(versionChange(5), []);
  assert.equal(versionChange(1_000).length, 4);
});

/** A split cluster in which the last recovery was so long ago; its sidecars say nothing. */
class SplitUpgrade extends UpgradeWorld {
  constructor(seconds: number) {
    super();
    this.changeSpec({ imageType: "split" });
    for (const [name, pod] of this.pods) {
      const annotations = { ...pod.metadata.annotations, "foundationdb.org/image-type": "split" };
      this.pods.set(name, { ...pod, metadata: { ...pod.metadata, annotations } });
    }
    this.statusOverlay = {
      ...this.statusOverlay,
      recovery_state: {
        name: "fully_recovered",
        active_generations: 1,
        seconds_since_last_recovered: seconds,
      },
    };
    assert.equal(this.cluster.status?.runningVersion, oldVersion);
  }
}
