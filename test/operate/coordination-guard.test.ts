// The guard with an act of several instances: lock, fresh sets, fresh status, announcements cleared, then the command.
// Rules: spec/coordination.md [CO33]-[CO36].
import { withoutStage } from "../fixtures/without-check.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readSets, updateSets } from "../../src/fdb/coordination-sets.ts";
import type { SetUpdates } from "../../src/fdb/coordination-sets.ts";
import { encodeLock } from "../../src/fdb/keys.ts";
import type { CoordinationSet } from "../../src/fdb/keys.ts";
import type { GuardOutcome } from "../../src/operate/guard.ts";
import type { DisruptiveAction } from "../../src/plan/action.ts";
import { sampleNowMs, sampleProcess } from "../fixtures/sample-view.ts";
import type { SharedAct } from "../../src/plan/coordination/shared-act.ts";
import { Door, keys } from "./guard-door.ts";

const locality = (id: string): string => `locality_instance_id:${id}`;
const base = { step: "test", evidenceMs: sampleNowMs, needsLock: true };

function sharedKeys(door: Door) {
  const shared = door.database.shared();
  assert.ok(shared !== undefined);
  return shared.keys;
}

async function put(door: Door, prefix: string, id: string, ...sets: CoordinationSet[]) {
  const updates: Record<string, unknown> = {};
  for (const set of sets) {
    const targets = set === "readyForExclusion" ? [locality(id)] : [];
    updates[set] = new Map([[id, { action: "add", targets }]]);
  }
  await updateSets(sharedKeys(door), prefix, updates as SetUpdates);
}

async function take(door: Door, prefix: string, id: string, ...sets: CoordinationSet[]) {
  const updates: Record<string, unknown> = {};
  for (const set of sets) updates[set] = new Map([[id, { action: "delete" }]]);
  await updateSets(sharedKeys(door), prefix, updates as SetUpdates);
}

function entriesOf(ids: readonly string[], hasTargets: boolean): SharedAct["entries"] {
  return ids.map((id) => ({
    processGroupIdPrefix: "dc1",
    processGroupId: id,
    targets: hasTargets ? [locality(id)] : [],
  }));
}

function excluding(change: Partial<SharedAct> = {}): DisruptiveAction {
  return {
    ...base,
    type: "excludeProcesses",
    targets: [locality("storage-1")],
    processGroupIds: ["storage-1"],
    together: {
      prefix: "dc1",
      matters: [{ purpose: "exclusion", scope: "storage" }],
      entries: entriesOf(["storage-1"], true),
      isOverdue: false,
      ...change,
    },
  };
}

function killing(door: Door): DisruptiveAction {
  const process = sampleProcess(door.sample, "log-1");
  const address = process.address ?? "";
  return {
    ...base,
    type: "killProcesses",
    addresses: [address],
    processGroupIds: ["log-1"],
    isUpgrade: false,
    together: {
      prefix: "dc1",
      matters: [{ purpose: "restart", scope: "all" }],
      entries: entriesOf(["log-1"], false),
      isOverdue: false,
      commandLines: { [address]: process.command_line ?? "" },
    },
  };
}

async function ready(): Promise<Door> {
  const door = new Door();
  await put(door, "dc1", "storage-1", "pendingForExclusion", "readyForExclusion");
  await put(door, "dc1", "log-1", "pendingForRestart", "readyForRestart");
  return door;
}

function reasonOf(outcome: GuardOutcome): string {
  return outcome.isPerformed ? "" : `${outcome.refusal.reason}: ${outcome.refusal.message}`;
}

test("[CO33] what is ready is excluded, under the lock", async () => {
  const door = await ready();
  assert.equal((await door.perform(excluding())).isPerformed, true);
  assert.deepEqual(door.commands, [`exclude ${locality("storage-1")}`]);
  assert.equal(door.database.lease?.owner, "dc1");
});

test("[CO33] the lock of another instance holds it back", async () => {
  const door = await ready();
  const seconds = Math.floor(sampleNowMs / 1000);
  const lock = { owner: "dc2", startSeconds: seconds, endSeconds: seconds + 600 };
  door.stored.set(Buffer.from(keys.lock()).toString("latin1"), encodeLock(lock));
  assert.match(reasonOf(await door.perform(excluding())), /LockHeld.*"dc2"/);
  assert.deepEqual(door.commands, []);
});

const changes: [string, (door: Door) => Promise<unknown>, RegExp][] = [
  [
    "one that is not ready any more",
    (door) => take(door, "dc1", "storage-1", "readyForExclusion"),
    /meanwhile not ready: storage-1/,
  ],
  [
    "one that was taken back",
    (door) => take(door, "dc1", "storage-1", "readyForExclusion", "pendingForExclusion"),
    /meanwhile changed: dc1\/storage-1/,
  ],
  [
    "one more that is announced and not ready",
    (door) => put(door, "dc2", "storage-2", "pendingForExclusion"),
    /meanwhile not ready: storage-2/,
  ],
  [
    "one more that is ready",
    (door) => put(door, "dc2", "storage-2", "pendingForExclusion", "readyForExclusion"),
    /meanwhile changed: dc2\/storage-2/,
  ],
];

for (const [title, change, expected] of changes) {
  test(`[CO33] the fresh look refuses: ${title}`, async () => {
    const door = await ready();
    await change(door);
    const outcome = await door.perform(excluding());
    assert.match(reasonOf(outcome), expected);
    assert.deepEqual(door.commands, []);
    door.stages = withoutStage("freshLook");
    await door.perform(excluding());
    assert.equal(door.commands.length, 1, "and nothing else would");
  });
}

test("[CO33] the fresh status is the one that counts", async () => {
  const door = await ready();
  const { configuration } = door.sample.status.cluster ?? {};
  door.during = () => {
    if (configuration) configuration.excluded_servers = [{ locality: locality("storage-1") }];
  };
  assert.match(reasonOf(await door.perform(excluding())), /meanwhile changed: dc1\/storage-1/);
  const other = await ready();
  other.during = () => {
    const recovery = other.sample.status.cluster?.recovery_state;
    if (recovery) recovery.name = "reading_coordinated_state";
  };
  assert.match(reasonOf(await other.perform(excluding())), /still recovering/);
});

test("[CO64] a process group of another instance that does not report any more is not excluded", async () => {
  const door = await ready();
  await put(door, "dc2", "storage-2", "pendingForExclusion", "readyForExclusion");
  const entries = [...entriesOf(["storage-1"], true), ...entriesOf(["storage-2"], true)].map(
    (entry) =>
      entry.processGroupId === "storage-2" ? { ...entry, processGroupIdPrefix: "dc2" } : entry,
  );
  const { processes = {} } = door.sample.status.cluster ?? {};
  door.during = () => {
    for (const [key, { locality: own }] of Object.entries(processes)) {
      if (own?.["instance_id"] === "storage-2") delete processes[key];
    }
  };
  const outcome = await door.perform(excluding({ entries }));
  assert.match(reasonOf(outcome), /meanwhile changed: dc2\/storage-2/);
  assert.deepEqual(door.commands, []);
});

test("[CO33] an overdue act goes ahead without those that are announced, not without those it is about", async () => {
  const door = await ready();
  await put(door, "dc2", "storage-2", "pendingForExclusion");
  assert.equal((await door.perform(excluding({ isOverdue: true }))).isPerformed, true);
  const other = await ready();
  await take(other, "dc1", "storage-1", "readyForExclusion");
  const outcome = await other.perform(excluding({ isOverdue: true }));
  assert.match(reasonOf(outcome), /meanwhile changed/);
});

test("[CO14] entries of another operator that are found only under the lock hold the act back", async () => {
  const door = await ready();
  await sharedKeys(door).admin.transact(
    async (transaction) => {
      const entry = { processGroupIdPrefix: "go", processGroupId: "go-log-1" };
      transaction.set(keys.setEntry("processAddresses", entry), new TextEncoder().encode("[]"));
    },
    { timeoutMs: 1_000, accessSystemKeys: true },
  );
  assert.match(reasonOf(await door.perform(excluding())), /another operator: go\/go-log-1/);
});

test("[CO34] the fresh look refuses a coordinator whom somebody has begun to remove", async () => {
  const door = await ready();
  const act = excluding({ coordinatorIds: ["log-2", "log-3"] });
  await put(door, "dc2", "log-3", "pendingForRemoval");
  assert.match(reasonOf(await door.perform(act)), /meanwhile to be removed: log-3/);
});

test("[CO35] a process that somebody restarted is not restarted again", async () => {
  const door = await ready();
  const act = killing(door);
  sampleProcess(door.sample, "log-1").command_line = "fdbserver with the new knob";
  assert.match(reasonOf(await door.perform(act)), /meanwhile restarted: 10\.0\.1\.1:4501/);
  assert.deepEqual(door.commands, []);
});

test("[CO71] a late entry that was left out of the decision does not hold the act back", async () => {
  const door = await ready();
  await put(door, "dc2", "log-2", "pendingForRestart", "readyForRestart");
  const act = killing(door);
  const { together } = act;
  assert.ok(together !== undefined);
  assert.match(reasonOf(await door.perform(act)), /meanwhile changed: dc2\/log-2/);
  const outcome = await door.perform({ ...act, together: { ...together, late: ["dc2/log-2"] } });
  assert.equal(outcome.isPerformed, true);
});

test("[CO36] who is restarted is taken out of both sets in the last transaction before it", async () => {
  const door = await ready();
  await put(door, "dc2", "log-2", "pendingForRestart", "readyForRestart");
  const sets = (): ReturnType<typeof restartSets> => restartSets(door);
  let atKill: string[] | undefined;
  const act = killing(door);
  delete door.sample.status.cluster?.processes?.["log-2"];
  door.during = async () => {
    if (door.commands.length > 0) atKill ??= await sets();
  };
  assert.equal((await door.perform(act)).isPerformed, true);
  assert.deepEqual(atKill, ["dc2/log-2"], "what does not live keeps its entry");
});

async function restartSets(door: Door): Promise<string[]> {
  const found = await readSets(sharedKeys(door), ["pendingForRestart", "readyForRestart"]);
  const names = [...found.pendingForRestart.entries, ...found.readyForRestart.entries].map(
    (entry) => `${entry.processGroupIdPrefix}/${entry.processGroupId}`,
  );
  return [...new Set(names)];
}

test("[CO36] when an entry was taken back, or the lock was lost, nothing is restarted", async () => {
  const door = await ready();
  door.during = () => take(door, "dc1", "log-1", "readyForRestart");
  assert.match(reasonOf(await door.perform(killing(door))), /EvidenceStale: meanwhile not ready/);
  assert.deepEqual(door.commands, []);
  const other = await ready();
  other.during = () => void other.stored.delete(Buffer.from(keys.lock()).toString("latin1"));
  assert.match(reasonOf(await other.perform(killing(other))), /LockHeld/);
  assert.deepEqual(other.commands, []);
});
