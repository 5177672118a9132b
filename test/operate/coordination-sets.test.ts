// What an instance in global mode tells the others, and what it takes back. Rules: spec/coordination.md [CO1]-[CO14].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Action } from "../../src/plan/action.ts";
import { coordinationSets } from "../../src/fdb/keys.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { bouncing, GlobalWorld, globalCounts } from "./global-world.ts";
import { actionsOf, locality, RemovalWorld, waitOf } from "./removal-world.ts";

function told(plan: Plan): (Action & { type: "updateCoordination" }) | undefined {
  const found = plan.actions.filter(
    (action): action is Action & { type: "updateCoordination" } =>
      action.type === "updateCoordination",
  );
  assert.ok(found.length <= 1, "one transaction");
  return found[0];
}

/** Marks process groups and lets their successors come up. */
function replace(world: RemovalWorld, ...ids: string[]): void {
  world.changeSpec({ processGroupsToRemove: ids });
  world.pass();
  world.runPods();
}

test("[CO1] local mode asks for nothing and tells nothing", () => {
  const world = RemovalWorld.settled({ processCounts: globalCounts, processGroupIDPrefix: "dc1" });
  replace(world, world.id("storage"));
  const plan = world.plan();
  assert.equal(told(plan), undefined);
  assert.ok(plan.databaseQuestions.every(({ type }) => type !== "coordination"));
  assert.equal(actionsOf(plan, "excludeProcesses").length, 1);
});

test("[CO2] global mode is in force once the database is configured, and the sets are asked for in every pass", () => {
  const world = GlobalWorld.global();
  assert.ok(world.plan().databaseQuestions.some(({ type }) => type === "coordination"));
  assert.equal(told(world.plan()), undefined);
  const unmade = new GlobalWorld({
    processGroupIDPrefix: "dc1",
    automationOptions: { synchronizationMode: "global" },
  });
  assert.ok(unmade.plan().databaseQuestions.every(({ type }) => type !== "coordination"));
});

test("[CO2] nothing is told on an old status, or before the sets have been read", () => {
  const world = GlobalWorld.global();
  world.mark(world.id("storage"));
  assert.notEqual(told(world.plan()), undefined);
  assert.equal(told(world.plan({ lastDatabaseWriteMs: world.nowMs })), undefined);
  world.isRead = false;
  assert.equal(told(world.plan()), undefined);
});

test("[CO3] [CO4] a marked process group joins the sets of removal, exclusion and inclusion", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.mark(id);
  world.pass();
  for (const set of ["pendingForRemoval", "pendingForExclusion", "pendingForInclusion"] as const) {
    assert.deepEqual(world.members(set), [id], set);
  }
  assert.deepEqual(world.members("pendingForRestart"), []);
});

test("[CO4] once excluded it leaves the sets of the exclusion, and only those", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.mark(id);
  world.pass();
  world.put("readyForExclusion", `dc1/${id}`, [locality(id)]);
  world.exclusions.push({ locality: locality(id) });
  world.pass();
  assert.deepEqual(world.members("pendingForExclusion"), []);
  assert.deepEqual(world.members("readyForExclusion"), []);
  assert.deepEqual(world.members("pendingForRemoval"), [id]);
  assert.deepEqual(world.members("pendingForInclusion"), [id]);
});

test("[CO4] a process group that skips its exclusion is not announced for one", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  world.pass();
  assert.deepEqual(world.members("pendingForExclusion"), []);
  assert.deepEqual(world.members("pendingForRemoval"), [id]);
});

test("[CO5] readyForExclusion holds what the local checks allow now, named as it will be excluded", () => {
  const world = GlobalWorld.global();
  const id = world.id("log");
  world.changeSpec({ processGroupsToRemove: [id] });
  world.condition(world.id("log", 1), "MissingProcesses", 60);
  world.silent.add(world.id("log", 1));
  world.pass();
  assert.deepEqual(world.members("readyForExclusion"), []);
  world.silent.clear();
  world.runPods();
  world.pass();
  world.runPods();
  world.pass();
  assert.deepEqual(world.stored.get("readyForExclusion")?.get(`dc1/${id}`), [locality(id)]);
  world.silent.add(world.id("log", 1));
  world.pass();
  assert.deepEqual(world.members("readyForExclusion"), [], "what is not allowed any more goes");
  assert.deepEqual(world.members("pendingForExclusion"), [id]);
});

test("[CO9] testers take part in nothing", () => {
  const world = GlobalWorld.global({ processCounts: { ...globalCounts, test: 1 } });
  world.mark(world.id("test"));
  world.condition(world.id("test"), "IncorrectCommandLine", 60);
  assert.equal(told(world.plan()), undefined);
});

test("[CO10] what is left of process groups that are gone is cleaned, under the own prefix alone", () => {
  const world = GlobalWorld.global();
  for (const set of coordinationSets) {
    const targets = set === "readyForExclusion" || set === "readyForInclusion" ? ["10.0.0.1"] : [];
    world.put(set, "dc1/dc1-log-77777", targets);
    world.put(set, "dc2/dc2-log-77777", targets);
  }
  world.pass();
  for (const set of coordinationSets) assert.deepEqual(world.members(set), ["dc2-log-77777"], set);
});

test("[CO11] all that a pass tells is one transaction, and nothing is decided on it before it is stored", () => {
  const world = GlobalWorld.global();
  replace(world, world.id("storage"));
  const update = told(world.plan());
  assert.deepEqual(Object.keys(update?.updates ?? {}), ["readyForExclusion"]);
  world.drop("pendingForExclusion", `dc1/${world.id("storage")}`);
  const both = told(world.plan());
  assert.deepEqual(Object.keys(both?.updates ?? {}), ["pendingForExclusion", "readyForExclusion"]);
  world.put("readyForExclusion", `dc1/${world.id("storage")}`, [locality(world.id("storage"))]);
  world.later(60);
  assert.deepEqual(actionsOf(world.plan(), "excludeProcesses"), []);
});

test("[CO7] [CO8] a wrong command line is announced; it is ready when its pod has what it should run with", () => {
  const world = GlobalWorld.global();
  world.freeze();
  const knob = { customParameters: ["knob_max_trace_lines=12345"] };
  world.changeSpec({ processes: { general: knob } });
  world.pass();
  const ids = world.ids();
  assert.deepEqual(world.members("pendingForRestart"), ids);
  assert.deepEqual(world.members("readyForRestart"), [], "the pods have the old configuration");
  world.pass();
  world.runPods();
  world.pass();
  assert.deepEqual(world.members("readyForRestart"), ids);
  const [first = "", second = ""] = ids;
  world.mark(first);
  world.silent.add(second);
  world.pass();
  for (const set of ["pendingForRestart", "readyForRestart"] as const) {
    assert.deepEqual(world.members(set), ids.slice(2), "neither marked nor missing");
  }
});

test("[CO12] with killProcesses off, and in an upgrade of all at once, nobody is announced for a restart", () => {
  const spec = { processes: { general: { customParameters: ["knob_max_trace_lines=12345"] } } };
  const off = GlobalWorld.global({ automationOptions: { killProcesses: false } });
  off.changeSpec(spec);
  off.pass();
  assert.deepEqual(off.members("pendingForRestart"), []);
  const upgraded = GlobalWorld.global();
  upgraded.changeSpec(spec);
  upgraded.pass();
  assert.notDeepEqual(upgraded.members("pendingForRestart"), []);
  upgraded.changeSpec({ version: "7.4.5" });
  upgraded.pass();
  assert.deepEqual(upgraded.members("pendingForRestart"), []);
});

test("[CO69] who is more patient is not ready for a restart yet", () => {
  const world = bouncing({ minimumUptimeSecondsForBounce: 1_001 });
  assert.deepEqual(world.members("pendingForRestart", "dc1"), world.ids());
  assert.deepEqual(world.members("readyForRestart", "dc1"), []);
  const soon = bouncing({ minimumUptimeSecondsForBounce: 1_000 });
  assert.deepEqual(soon.members("readyForRestart", "dc1"), soon.ids());
});

test("[CO13] entries under an old prefix move before anything else is told", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.mark(id);
  world.put("pendingForExclusion", `old/${id}`);
  world.put("pendingForExclusion", "old/old-log-1");
  const plan = world.plan();
  assert.equal(told(plan), undefined);
  const [move] = plan.actions.filter(({ type }) => type === "migrateCoordination");
  assert.deepEqual(move, {
    type: "migrateCoordination",
    step: "operatorCoordination",
    entries: [{ processGroupIdPrefix: "old", processGroupId: id }],
    prefix: "dc1",
  });
});

test("[CO14] values of the Go operator are answered with a clear reason, and nothing is done together", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  replace(world, id);
  world.pass();
  world.settleSets();
  assert.equal(actionsOf(world.plan(), "excludeProcesses").length, 1);
  world.foreignValues.set("pendingForExclusion", ["go/go-log-1"]);
  const plan = world.plan();
  assert.deepEqual(actionsOf(plan, "excludeProcesses"), []);
  assert.match(waitOf(plan, "CoordinationForeign"), /another operator: go\/go-log-1/);
  const degraded = conditionIn(plan.status, "Degraded");
  assert.equal(degraded?.reason, "CoordinationForeign");
});

test("[CO14] beside another operator nothing is written, and what is there is taken out", () => {
  for (const set of ["pendingForRestart", "processAddresses"] as const) {
    const world = GlobalWorld.global();
    const [storage, log] = [world.id("storage"), world.id("log")];
    replace(world, storage);
    world.pass();
    assert.ok(world.members("pendingForExclusion", "dc1").includes(storage));
    world.foreignValues.set(set, ["go/go-log-1"]);
    world.pass();
    assert.deepEqual(
      [...world.stored.values()].flatMap((entries) => [...entries.keys()]),
      [],
    );
    world.mark(log);
    const plan = world.pass();
    assert.equal(told(plan), undefined, "and none is written");
    assert.match(waitOf(plan, "CoordinationForeign"), /go\/go-log-1/);
    world.foreignValues.clear();
    world.pass();
    assert.ok(world.members("pendingForExclusion", "dc1").includes(log));
  }
});

test("[CO14] the addresses that a predecessor kept under the own prefix are deleted", () => {
  const world = GlobalWorld.global();
  world.foreignValues.set("processAddresses", [`dc1/${world.id("log")}`, "dc1/dc1-log-7"]);
  const plan = world.plan();
  assert.deepEqual(
    [...(told(plan)?.updates.processAddresses ?? [])],
    [world.id("log"), "dc1-log-7"].sort().map((id) => [id, { action: "delete" }]),
  );
  assert.equal(
    plan.waits.find(({ reason }) => reason === "CoordinationForeign"),
    undefined,
  );
});

test("[CO66] the prefix is stored before anything is told, and who leaves global mode takes all out", () => {
  const world = GlobalWorld.global();
  assert.equal(world.cluster.status?.coordinationPrefix, "dc1");
  const id = world.id("storage");
  replace(world, id);
  world.pass();
  world.pass();
  world.put("pendingForRestart", "dc1/dc1-log-7");
  world.put("pendingForRestart", "dc2/dc2-log-7");
  world.foreignValues.set("processAddresses", ["dc1/dc1-log-8"]);
  world.changeSpec({ automationOptions: { synchronizationMode: "local" } });
  world.isRead = false;
  const asking = world.plan();
  assert.ok(asking.databaseQuestions.some(({ type }) => type === "coordination"));
  assert.match(waitOf(asking, "CoordinationSettling"), /are taken out/);
  world.isRead = true;
  const leaving = told(world.pass());
  assert.equal(leaving?.prefix, "dc1");
  assert.deepEqual([...(leaving?.updates.processAddresses?.keys() ?? [])], ["dc1-log-8"]);
  world.foreignValues.clear();
  const left = [...world.stored.values()].flatMap((entries) => [...entries.keys()]);
  assert.deepEqual(left, ["dc2/dc2-log-7"]);
  world.pass();
  assert.equal(world.cluster.status?.coordinationPrefix, undefined);
  const plan = world.pass();
  assert.ok(
    plan.databaseQuestions.every(({ type }) => type !== "coordination"),
    "[CO1]",
  );
  assert.equal(told(plan), undefined);
});

test("[CO66] also when the prefix changes at the same time", () => {
  const world = GlobalWorld.global();
  world.put("pendingForRestart", "dc1/dc1-log-7");
  world.changeSpec({
    processGroupIDPrefix: "unicorn",
    automationOptions: { synchronizationMode: "local" },
  });
  const leaving = told(world.plan());
  assert.equal(leaving?.prefix, "dc1");
  assert.deepEqual([...(leaving?.updates.pendingForRestart?.keys() ?? [])], ["dc1-log-7"]);
});

test("[CO67] another resource with the same prefix is noticed by its processes, and not fought with", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  replace(world, id);
  world.pass();
  world.addOther("dc10-log-1");
  world.addOther("dc2-log-1");
  world.put("pendingForRestart", "dc1/dc1-log-7");
  assert.equal(waitOf(world.plan(), "PrefixShared"), "");
  world.addOther("dc1-log-7");
  const plan = world.pass();
  assert.match(waitOf(plan, "PrefixShared"), /processGroupIDPrefix dc1: dc1-log-7/);
  const degraded = conditionIn(plan.status, "Degraded");
  assert.equal(degraded?.reason, "PrefixShared");
  const left = [...world.stored.values()].flatMap((entries) => [...entries.keys()]);
  assert.deepEqual(left, ["dc1/dc1-log-7"], "what the other one announced stays");
  world.settleSets();
  const later = world.pass();
  assert.equal(told(later), undefined);
  assert.deepEqual(actionsOf(later, "excludeProcesses"), []);
});

test("[CO14] under the own prefix they are what is left of a predecessor: overwritten and deleted", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.mark(id);
  world.foreignValues.set("pendingForExclusion", [`dc1/${id}`, "dc1/dc1-log-77777"]);
  const { updates } = told(world.plan()) ?? {};
  assert.deepEqual(
    [...(updates?.pendingForExclusion ?? [])],
    [
      ["dc1-log-77777", { action: "delete" }],
      [id, { action: "add" }],
    ],
  );
});
