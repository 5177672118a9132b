// When instances in global mode act as one: who is compared, when they agree, what the act is. Rules: spec/coordination.md
// [CO20]-[CO32], [CO38]-[CO45], [CO50].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hostOf } from "../../src/model/address.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import {
  announce,
  bouncing,
  byAddress,
  excluded,
  globalCounts,
  GlobalWorld,
  gone,
  killed,
  replaced,
} from "./global-world.ts";
import { actionsOf, locality, waitOf } from "./removal-world.ts";

test("[CO29] sets that agree must have stayed as they are for a while, by the looks of this instance", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  replaced(world, id);
  assert.deepEqual(excluded(world.plan()), []);
  assert.match(waitOf(world.plan(), "CoordinationSettling"), /waited whether others join/);
  world.later(29);
  assert.deepEqual(excluded(world.plan()), []);
  world.later(1);
  assert.deepEqual(excluded(world.plan()), [id]);
});

test("[CO21] a change of the sets begins the time anew, for its kind of processes alone", () => {
  const world = GlobalWorld.global();
  const [storage, log] = [world.id("storage"), world.id("log")];
  replaced(world, storage, log);
  world.settleSets(29);
  announce(world, "dc2-log-1", true);
  world.addOther("dc2-log-1");
  world.snapshot();
  world.later(1);
  assert.deepEqual(excluded(world.plan()), [storage]);
  world.later(29);
  assert.deepEqual([...excluded(world.plan())].sort(), [log, storage, "dc2-log-1"].sort());
});

test("[CO22] an instance that starts anew waits anew", () => {
  const world = GlobalWorld.global();
  replaced(world, world.id("storage"));
  world.settleSets();
  assert.equal(excluded(world.plan()).length, 1);
  world.memorySets = { firstSeenMs: new Map(), unchanged: new Map() };
  assert.deepEqual(excluded(world.plan()), []);
});

test("[CO27] everything ready is excluded in one command, of all instances and kinds", () => {
  const world = GlobalWorld.global();
  const own = [world.id("storage"), world.id("log"), world.id("stateless")];
  for (const id of ["dc2-log-1", "dc2-storage-1"]) {
    world.addOther(id);
    announce(world, id, true);
  }
  replaced(world, ...own);
  world.settleSets();
  const [action] = actionsOf(world.plan(), "excludeProcesses");
  const ids = [...own, "dc2-log-1", "dc2-storage-1"].sort();
  assert.deepEqual([...(action?.processGroupIds ?? [])].sort(), ids);
  assert.deepEqual([...(action?.targets ?? [])].sort(), ids.map(locality).sort());
  assert.equal(action?.needsLock, true);
});

test("[CO23] one that is not ready holds back its kind: all but storage are one, storage is another", () => {
  const world = GlobalWorld.global();
  const [storage, log, stateless] = [world.id("storage"), world.id("log"), world.id("stateless")];
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", false);
  replaced(world, storage, log, stateless);
  world.settleSets();
  const plan = world.plan();
  assert.deepEqual(excluded(plan), [storage]);
  const wait = plan.waits.find(({ reason }) => reason === "InstanceNotReady");
  assert.equal(wait?.object, "instance/dc2");
  assert.match(wait?.message ?? "", /instance dc2 is not ready with dc2-log-1, announced since 20/);
  assert.match(wait?.message ?? "", new RegExp(`Not excluded yet: ${log} and ${stateless}`));
});

test("[CO50] a wait names the instance, its process groups and since when", () => {
  const world = GlobalWorld.global();
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", false);
  replaced(world, world.id("log"));
  const entry = world.pass().waits.find(({ reason }) => reason === "InstanceNotReady");
  assert.equal(entry?.object, "instance/dc2");
  assert.match(entry?.message ?? "", /dc2-log-1, announced since/);
  assert.match(entry?.message ?? "", /it goes ahead without them at/);
});

test("[CO23] what the database shows as excluded already is not waited for", () => {
  const world = GlobalWorld.global();
  const log = world.id("log");
  for (const [id, change] of [
    ["dc2-log-1", { excluded: true }],
    ["dc2-log-2", {}],
  ] as const) {
    world.addOther(id, change);
    announce(world, id, false);
  }
  world.exclusions.push({ locality: locality("dc2-log-2") });
  replaced(world, log);
  world.settleSets();
  assert.deepEqual(excluded(world.plan()), [log]);
});

test("[CO23] what a person excluded in part, by one port, is excluded as its instance asks for it", () => {
  for (const processClass of ["storage", "log"]) {
    const world = GlobalWorld.global(byAddress);
    const id = world.id(processClass);
    const [address = ""] =
      world.cluster.status?.processGroups?.find((group) => group.processGroupID === id)
        ?.addresses ?? [];
    world.exclusions.push({ address: `${address}:4501` });
    replaced(world, id);
    world.settleSets();
    const [action] = actionsOf(world.plan(), "excludeProcesses");
    assert.deepEqual(action?.targets, [address], processClass);
  }
});

test("[CO64] what another instance left is not excluded: its process group does not report", () => {
  const world = GlobalWorld.global();
  const log = world.id("log");
  world.addOther("dc2-log-2");
  announce(world, "dc2-log-1", true);
  announce(world, "dc2-log-3", false);
  replaced(world, log);
  world.settleSets();
  const [action] = actionsOf(world.plan(), "excludeProcesses");
  assert.deepEqual(action?.processGroupIds, [log]);
  assert.deepEqual(action?.targets, [locality(log)]);
});

test("[CO64] an entry that names somebody else is not ready, and after five minutes nobody waits for it", () => {
  const world = GlobalWorld.global(byAddress);
  const log = world.id("log");
  const moved = world.addOther("dc2-log-1");
  const stranger = world.addOther("dc2-log-2");
  for (const targets of [
    [locality("dc2-log-2")],
    [hostOf(moved.address ?? ""), hostOf(stranger.address ?? "")],
    [hostOf(stranger.address ?? "")],
    ["10.200.0.77"],
  ]) {
    announce(world, "dc2-log-1", true);
    world.put("readyForExclusion", "dc2/dc2-log-1", targets);
    replaced(world, log);
    world.settleSets();
    assert.deepEqual(excluded(world.plan()), [], targets.join());
    assert.match(waitOf(world.plan(), "InstanceNotReady"), /dc2-log-1/, targets.join());
  }
  world.later(300);
  assert.deepEqual(excluded(world.plan()), [log]);
  world.put("readyForExclusion", "dc2/dc2-log-1", [hostOf(moved.address ?? "")]);
  world.settleSets();
  assert.deepEqual([...excluded(world.plan())].sort(), [log, "dc2-log-1"].sort());
});

test("[CO64] a process group of this instance that does not report is excluded by it", () => {
  const world = GlobalWorld.global();
  const log = world.id("log");
  world.silent.add(log);
  world.later(700);
  replaced(world, log);
  world.settleSets();
  assert.deepEqual(excluded(world.plan()), [log]);
});

test("[CO26] one that is ready and not announced is a disagreement too", () => {
  const world = GlobalWorld.global();
  world.addOther("dc2-log-1");
  world.put("readyForExclusion", "dc2/dc2-log-1", [locality("dc2-log-1")]);
  replaced(world, world.id("log"));
  world.settleSets();
  assert.deepEqual(excluded(world.plan()), []);
});

test("[CO28] an instance acts only when something of its own is ready, and waits for nobody without entries", () => {
  const world = GlobalWorld.global();
  world.addOther("dc2-storage-1");
  announce(world, "dc2-storage-1", true);
  const log = world.id("log");
  replaced(world, log);
  world.settleSets();
  assert.deepEqual(excluded(world.plan()), [log]);
});

test("[CO30] after five minutes an exclusion goes ahead with what is ready", () => {
  const world = GlobalWorld.global();
  const log = world.id("log");
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", false);
  world.addOther("dc2-log-2");
  announce(world, "dc2-log-2", true);
  replaced(world, log);
  world.settleSets(299);
  assert.deepEqual(excluded(world.plan()), []);
  world.later(1);
  const [action] = actionsOf(world.plan(), "excludeProcesses");
  assert.deepEqual([...(action?.processGroupIds ?? [])].sort(), [log, "dc2-log-2"].sort());
  assert.equal(action?.together?.isOverdue, true);
});

test("[CO30] or after five times the time in which sets must not change", () => {
  const world = GlobalWorld.global();
  const options = { ...defaultPlanOptions, globalSynchronizationWaitMs: 120_000 };
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", false);
  replaced(world, world.id("log"));
  world.settleSets(599);
  assert.deepEqual(excluded(world.plan({ options })), []);
  world.later(1);
  assert.equal(excluded(world.plan({ options })).length, 1);
});

test("[CO32] zones and recoveries are judged for everything that goes together", () => {
  const world = GlobalWorld.global({ processCounts: { ...globalCounts, storage: 2 } });
  const storage = world.id("storage");
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", true);
  replaced(world, world.id("log"), storage);
  world.statusOverlay = {
    recovery_state: {
      name: "fully_recovered",
      active_generations: 1,
      seconds_since_last_recovered: 30,
    },
  };
  world.settleSets();
  const plan = world.plan();
  assert.deepEqual(excluded(plan), [storage]);
  assert.match(waitOf(plan, "ExclusionPostponed"), /dc2-log-1.*last recovery is less than 120/);
});

test("[CO34] a coordinator that goes is changed first in the same act, to nobody who goes anywhere", () => {
  const world = GlobalWorld.global();
  const { status } = world.cluster;
  const coordinators = (status?.connectionString ?? "").split("@")[1]?.split(",") ?? [];
  const ids = world.ids("log").filter((id) => {
    const name = world.podNameOf(id);
    return coordinators.some((address) => address.startsWith(`${name}.`));
  });
  assert.ok(ids.length > 0);
  // The others of the class are announced too, by an instance that took their ids over.
  const spared = world.ids("log").filter((id) => !ids.includes(id));
  replaced(world, ...ids);
  for (const id of spared) world.put("pendingForRemoval", `dc2/${id}`);
  world.settleSets();
  const [action] = actionsOf(world.plan(), "excludeProcesses");
  assert.equal(action, undefined, "an own process group under another prefix is moved first");
  for (const id of spared) world.drop("pendingForRemoval", `dc2/${id}`);
  world.settleSets();
  const [act] = actionsOf(world.plan(), "excludeProcesses");
  assert.notEqual(act?.coordinators, undefined);
  const chosen = act?.together?.coordinatorIds ?? [];
  assert.equal(chosen.length, act?.coordinators?.length);
  assert.ok(chosen.every((id) => !ids.includes(id)));
});

test("[CO34] nobody becomes a coordinator whom another instance removes", () => {
  const world = GlobalWorld.global();
  const dns_name = "dc0-log-1.example";
  world.addOther("dc0-log-1", { locality: { instance_id: "dc0-log-1", zoneid: "zone", dns_name } });
  const coordinators = (world.cluster.status?.connectionString ?? "").split("@")[1]?.split(",");
  const first = coordinators?.[0] ?? "";
  replaced(world, world.ids().find((one) => first.startsWith(`${world.podNameOf(one)}.`)) ?? "");
  world.settleSets();
  const chosen = (): readonly string[] =>
    actionsOf(world.plan(), "excludeProcesses")[0]?.together?.coordinatorIds ?? [];
  assert.ok(chosen().includes("dc0-log-1"), chosen().join());
  world.put("pendingForRemoval", "dc0/dc0-log-1");
  assert.ok(chosen().length > 0 && !chosen().includes("dc0-log-1"), chosen().join());
});

test("[CO6] [CO38] what is gone is announced, and the inclusion is one for all instances", () => {
  const world = GlobalWorld.global();
  const [log, storage] = [world.id("log"), world.id("storage")];
  world.put("pendingForInclusion", "dc2/dc2-log-1");
  world.exclusions.push({ locality: locality("dc2-log-1") });
  gone(world, log, storage);
  assert.deepEqual(world.stored.get("readyForInclusion")?.get(`dc1/${log}`), [locality(log)]);
  assert.deepEqual(
    world.commands.filter((text) => text.startsWith("include")),
    [`include ${locality(storage)}`],
    "a kind that agrees does not wait for another",
  );
  const plan = world.pass();
  assert.match(
    waitOf(plan, "InstanceNotReady"),
    /Not included yet.*dc2 is not ready with dc2-log-1/,
  );
  assert.equal(plan.isReconciled, false);
  world.later(86_400);
  assert.deepEqual(actionsOf(world.plan(), "includeProcesses"), [], "[CO31] it waits for ever");
  world.put("readyForInclusion", "dc2/dc2-log-1", [locality("dc2-log-1")]);
  world.settleSets();
  const [action] = actionsOf(world.plan(), "includeProcesses");
  assert.deepEqual([...(action?.targets ?? [])].sort(), [log, "dc2-log-1"].map(locality).sort());
});

test("[CO39] an entry goes once its process group is not excluded any more, whoever included it", () => {
  const world = GlobalWorld.global();
  const log = world.id("log");
  world.put("pendingForInclusion", "dc2/dc2-log-1");
  world.exclusions.push({ locality: locality("dc2-log-1") });
  gone(world, log);
  assert.deepEqual(world.members("readyForInclusion", "dc1"), [log]);
  world.exclusions.length = 0;
  world.later(2);
  world.pass();
  assert.deepEqual(world.members("readyForInclusion", "dc1"), []);
  world.pass();
  world.pass();
  assert.ok(!world.ids().includes(log), "and it leaves the status");
  assert.deepEqual(world.members("pendingForRemoval", "dc1"), []);
  assert.deepEqual(world.members("pendingForInclusion", "dc1"), []);
});

test("[CO24] only what is excluded is compared: a slow removal elsewhere holds nobody back", () => {
  const world = GlobalWorld.global();
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", false);
  gone(world, world.id("log"));
  assert.equal(world.commands.filter((text) => text.startsWith("include")).length, 1);
});

test("[CO70] a storage that is excluded and still holds data holds back no inclusion, here or elsewhere", () => {
  const world = GlobalWorld.global();
  world.addOther("dc2-storage-1", { excluded: true });
  world.put("pendingForInclusion", "dc2/dc2-storage-1");
  world.exclusions.push({ locality: locality("dc2-storage-1") });
  const storage = world.id("storage");
  gone(world, storage);
  const included = world.commands.filter((text) => text.startsWith("include"));
  assert.deepEqual(included, [`include ${locality(storage)}`]);
});

test("[CO40] a process that reports is not included, though its instance believes that it is gone", () => {
  const world = GlobalWorld.global();
  world.addOther("dc2-log-1", { excluded: true, roles: [] });
  world.put("pendingForInclusion", "dc2/dc2-log-1");
  world.put("readyForInclusion", "dc2/dc2-log-1", [locality("dc2-log-1")]);
  world.exclusions.push({ locality: locality("dc2-log-1") });
  gone(world, world.id("log"));
  assert.deepEqual(
    world.commands.filter((text) => text.startsWith("include")),
    [],
  );
});

test("[CO65] an exclusion by an address that somebody else has by now is not taken back for another instance", () => {
  const world = GlobalWorld.global();
  const stranger = world.addOther("dc3-log-1", { excluded: true });
  const address = hostOf(stranger.address ?? "");
  world.exclusions.push({ address });
  const [log, storage] = [world.id("log"), world.id("storage")];
  world.put("pendingForInclusion", "dc2/dc2-log-1");
  world.put("readyForInclusion", "dc2/dc2-log-1", [address]);
  world.put("pendingForInclusion", "dc2/dc2-storage-1");
  world.put("readyForInclusion", "dc2/dc2-storage-1", [locality("dc3-storage-1")]);
  world.exclusions.push({ locality: locality("dc3-storage-1") });
  gone(world, log, storage);
  const included = world.commands.filter((text) => text.startsWith("include")).join();
  assert.match(included, new RegExp(log));
  assert.match(included, new RegExp(storage));
  assert.ok(!included.includes(address) && !included.includes("dc3-storage-1"), included);
});

test("[CO38] by address too", () => {
  const world = GlobalWorld.global(byAddress);
  const log = world.id("log");
  replaced(world, log);
  world.settleSets();
  const [action] = actionsOf(world.plan(), "excludeProcesses");
  assert.match(action?.targets.join() ?? "", /^10\.\d+\.\d+\.\d+$/);
});

test("[CO41] one kill for the processes of all instances", () => {
  const world = bouncing();
  for (const set of ["pendingForRestart", "readyForRestart"] as const) {
    world.put(set, "dc2/dc2-log-1");
  }
  const other = world.addOther("dc2-log-1");
  world.settleSets();
  const [action] = actionsOf(world.plan(), "killProcesses");
  assert.deepEqual(action?.processGroupIds, [...world.ids(), "dc2-log-1"].sort());
  assert.ok(action?.addresses.includes(other.address ?? ""));
  assert.equal(action?.together?.commandLines?.[other.address ?? ""], other.command_line);
  assert.equal(action?.together?.entries.length, world.ids().length + 1);
});

test("[CO25] a restart waits for every live process that is announced, and for no other", () => {
  const world = bouncing();
  world.put("pendingForRestart", "dc2/dc2-log-1");
  world.settleSets();
  assert.equal(killed(world.plan()).length, world.ids().length, "it does not live");
  world.addOther("dc2-log-1");
  const plan = world.plan();
  assert.deepEqual(killed(plan), []);
  assert.match(
    waitOf(plan, "InstanceNotReady"),
    /Not restarted yet.*dc2 is not ready with dc2-log-1/,
  );
  world.later(1_200);
  assert.deepEqual(killed(world.plan()), [], "[CO31] it waits for ever");
});

test("[CO71] a late entry of another instance causes no restart and no wait", () => {
  for (const [startedAgo, expected] of [
    [1000, true],
    [52, true],
    [48, false],
    [20, false],
  ] as const) {
    const world = bouncing({ minimumUptimeSecondsForBounce: 1 });
    const other = world.addOther("dc2-log-1");
    for (const set of ["pendingForRestart", "readyForRestart"] as const) {
      world.put(set, "dc2/dc2-log-1");
    }
    world.settleSets();
    other.uptime_seconds = startedAgo;
    const [action] = actionsOf(world.plan(), "killProcesses");
    const ids = action?.processGroupIds ?? [];
    assert.equal(ids.includes("dc2-log-1"), expected, `started ${startedAgo} s ago`);
    assert.equal(ids.length, world.ids().length + (expected ? 1 : 0));
    assert.deepEqual(action?.together?.late, expected ? [] : ["dc2/dc2-log-1"]);
  }
});

test("[CO31] restarts and inclusions never go ahead without those that are announced", () => {
  const world = bouncing();
  world.put("pendingForRestart", "dc2/dc2-log-1");
  world.addOther("dc2-log-1");
  world.settleSets(1_200);
  const [wait] = world.plan().waits.filter(({ reason }) => reason === "InstanceNotReady");
  assert.ok(wait !== undefined && !wait.message.includes("goes ahead"));
});

test("[CO42] it is settled like an exclusion, over all kinds of processes", () => {
  const world = bouncing();
  world.settleSets(29);
  assert.deepEqual(killed(world.plan()), []);
  for (const set of ["pendingForRestart", "readyForRestart"] as const) {
    world.put(set, "dc2/dc2-storage-1");
  }
  world.addOther("dc2-storage-1");
  world.later(1);
  assert.deepEqual(killed(world.plan()), []);
  world.later(30);
  assert.ok(killed(world.plan()).includes("dc2-storage-1"));
});
