// The deny list, the lock that is given back, and protection from deletion, on plain objects.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { deletionProtection } from "../../src/api/cluster.ts";
import type { DatabaseKnowledge } from "../../src/plan/questions.ts";
import { PlanWorld } from "./plan-world.ts";

const spec: Partial<ClusterSpec> = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
};

function reconciled(change: Partial<ClusterSpec> = {}): PlanWorld {
  const world = new PlanWorld({ ...spec, ...change });
  world.settle();
  return world;
}

function actionsOf(plan: Plan): string[] {
  return plan.actions.map((action) => {
    if (action.type === "updateDenyList") return `+${action.add.join()} -${action.remove.join()}`;
    if (action.type === "setFinalizer") return `finalizer ${action.isPresent}`;
    return action.type;
  });
}

function asked(plan: Plan): string[] {
  return plan.databaseQuestions.map(({ type }) => type);
}

type Known = Omit<DatabaseKnowledge, "verified">;

function knowing(known: Known): { knowledge: DatabaseKnowledge } {
  return { knowledge: { verified: new Map(), ...known } };
}

const denyList = [
  { id: "dc1", allow: false },
  { id: "dc2", allow: true },
];
const withList = { lockOptions: { disableLocks: false, denyList } };

test("[U60][U61] B61 the list in the database follows that of the resource, which does not name everybody", () => {
  const world = reconciled(withList);
  assert.ok(asked(world.plan()).includes("denyList"));
  const changes: readonly [ids: string[], actions: string[]][] = [
    [[], ["+dc1 -"]],
    [["dc1"], []],
    [["dc1", "dc2"], ["+ -dc2"]],
    [["dc2", "dc9"], ["+dc1 -dc2"]],
    [["dc1", "dc9"], []],
  ];
  for (const [ids, actions] of changes) {
    const plan = world.plan(knowing({ denyList: { ids, observedMs: world.nowMs } }));
    assert.deepEqual(actionsOf(plan), actions, ids.join());
    assert.deepEqual(plan.status.locks, { lockDenyList: ids });
  }
});

test("[U62] a list that is wrong, or was never read, is not reconciled", () => {
  const world = reconciled(withList);
  const flags = (plan: Plan): number | undefined =>
    plan.status.generations?.needsLockConfigurationChanges;
  assert.equal(flags(world.plan()), 1);
  const wrong = world.plan(knowing({ denyList: { ids: [], observedMs: world.nowMs } }));
  assert.equal(flags(wrong), 1);
  assert.equal(wrong.isReconciled, false);
  const right = world.plan(knowing({ denyList: { ids: ["dc1"], observedMs: world.nowMs } }));
  assert.equal(flags(right), undefined);
  assert.equal(right.isReconciled, true);
});

test("[U63] the list is read again after ten minutes", () => {
  const world = reconciled(withList);
  const known = (ageMs: number) =>
    knowing({ denyList: { ids: ["dc1"], observedMs: world.nowMs - ageMs } });
  assert.ok(!asked(world.plan(known(1_000))).includes("denyList"));
  assert.ok(asked(world.plan(known(601_000))).includes("denyList"));
});

test("[U60][U61] without locks or without a list nobody asks, and the status shows none", () => {
  const cases: Partial<ClusterSpec>[] = [
    { lockOptions: { disableLocks: true, denyList } },
    { lockOptions: { disableLocks: false } },
  ];
  for (const change of cases) {
    const world = reconciled(change);
    world.cluster = {
      ...world.cluster,
      status: { ...world.cluster.status, locks: { lockDenyList: ["dc1"] } },
    };
    const plan = world.plan();
    assert.ok(!asked(plan).includes("denyList"));
    assert.deepEqual(plan.status.locks, {});
  }
});

test("[U64] a reconciled cluster gives the lock back", () => {
  const world = reconciled({ lockOptions: { disableLocks: false } });
  const first = world.plan();
  assert.ok(first.isReconciled);
  assert.deepEqual(asked(first), ["lock"]);
  const own = { owner: "", startSeconds: 1, endSeconds: 601 };
  const lockOf = (isHeld: boolean) =>
    knowing({ lock: { stored: isHeld ? own : undefined, observedMs: world.nowMs } });
  const holding = world.plan(lockOf(true));
  const [release] = holding.actions;
  const expected = { type: "releaseLock", step: "updateLockConfiguration", lock: own };
  assert.deepEqual(release, expected, "also one that ran out by our clock");
  assert.equal(holding.actions.length, 1);
  assert.ok(holding.isReconciled);
  assert.deepEqual(actionsOf(world.plan(lockOf(false))), []);
  assert.deepEqual(asked(world.plan(lockOf(false))), []);
  const acted = world.plan({ ...lockOf(false), lastDatabaseWriteMs: world.nowMs + 1 });
  assert.deepEqual(asked(acted), ["lock"], "an act may have taken it");
});

test("[U85] a lock under the prefix from before is given back at once, unless somebody else has that prefix", () => {
  const world = reconciled({ lockOptions: { disableLocks: false }, processGroupIDPrefix: "old" });
  world.changeSpec({ processGroupIDPrefix: "new" });
  const observedMs = world.nowMs;
  const lockOf = (owner: string) =>
    knowing({ lock: { stored: { owner, startSeconds: 1, endSeconds: 601 }, observedMs } });
  const released = (plan: Plan) => plan.actions.filter(({ type }) => type === "releaseLock");
  assert.ok(!world.plan().isReconciled);
  assert.ok(asked(world.plan()).includes("lock"));
  const lock = { owner: "old", startSeconds: 1, endSeconds: 601 };
  assert.deepEqual(released(world.plan(lockOf("old"))), [
    { type: "releaseLock", step: "updateLockConfiguration", lock },
  ]);
  assert.deepEqual(released(world.plan(lockOf("other"))), []);
  assert.deepEqual(released(world.plan({ ...lockOf("old"), runningCommand: "exclude" })), []);
  const { database } = world.snapshot();
  assert.ok(database.kind === "seen");
  const status = structuredClone(database.status);
  const processes = status.cluster?.processes ?? {};
  const [one] = Object.values(processes);
  processes["stranger"] = { ...one, locality: { ...one?.locality, instance_id: "old-log-77777" } };
  const shared = world.plan({ ...lockOf("old"), database: { ...database, status } });
  assert.deepEqual(released(shared), []);
});

test("[U64] the lock stays while there is work, and is not asked for without locks", () => {
  const world = reconciled({ lockOptions: { disableLocks: false } });
  world.changeSpec({ processCounts: { storage: 1, log: 1, stateless: 2 } });
  const own = { owner: "", startSeconds: 1, endSeconds: 601 };
  const lock = { stored: own, observedMs: world.nowMs };
  assert.ok(!actionsOf(world.plan(knowing({ lock }))).includes("releaseLock"));
  assert.deepEqual(asked(reconciled({ lockOptions: { disableLocks: true } }).plan()), []);
});

function annotated(world: PlanWorld, value: string | undefined, finalizers: string[] = []): void {
  const annotations: Record<string, string> =
    value === undefined ? {} : { [deletionProtection]: value };
  const metadata = { ...world.cluster.metadata, annotations, finalizers };
  world.cluster = { ...world.cluster, metadata };
}

test("[U70] the annotation puts the finalizer on, and its absence takes it off", () => {
  const world = reconciled();
  const cases: readonly [value: string | undefined, finalizers: string[], actions: string[]][] = [
    [undefined, [], []],
    ["true", [], ["finalizer true"]],
    ["true", [deletionProtection], []],
    ["yes", [], []],
    ["false", [deletionProtection], ["finalizer false"]],
    [undefined, [deletionProtection, "example.com/other"], ["finalizer false"]],
  ];
  for (const [value, finalizers, actions] of cases) {
    annotated(world, value, finalizers);
    assert.deepEqual(actionsOf(world.plan()), actions, `${value} ${finalizers.join()}`);
  }
});

test("[U71][U73] a deleted cluster that is kept says so; one that is going gets nothing new", () => {
  const world = reconciled();
  annotated(world, "true", [deletionProtection]);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  world.cluster = { ...world.cluster, metadata: { ...world.cluster.metadata, deletionTimestamp } };
  const plan = world.plan();
  const held = conditionIn(plan.status, "DeletionHeld");
  assert.equal(held?.status, "True");
  assert.equal(held?.reason, "DeletionProtection");
  assert.equal(plan.events.filter(({ reason }) => reason === "DeletionHeld").length, 1);
  annotated(world, "true", ["foregroundDeletion"]);
  world.cluster = { ...world.cluster, metadata: { ...world.cluster.metadata, deletionTimestamp } };
  assert.deepEqual(actionsOf(world.plan()), []);
});
