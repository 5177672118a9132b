// The last transaction before a kill: exactly the named entries, with the lock, or nothing.
import assert from "node:assert/strict";
import { readSets, updateSets } from "../../src/fdb/coordination-sets.ts";
import type { EntryUpdate } from "../../src/fdb/coordination-sets.ts";
import { updateDenyList } from "../../src/fdb/deny-list.ts";
import { releaseLock, takeLock } from "../../src/fdb/lock.ts";
import { confirmLock } from "./lock-steps.ts";
import type { LockLease } from "../../src/fdb/lock.ts";
import { clearRestartEntries } from "../../src/fdb/restart-entries.ts";
import { commitFaults, handClock, heldLease, settingsOf, stored } from "./keys-case.ts";
import type { KeysCase, KeysTarget } from "./keys-case.ts";

const settings = settingsOf("dc1");
const clock = handClock();
const named = [
  { processGroupIdPrefix: "dc1", processGroupId: "dc1-log-1" },
  { processGroupIdPrefix: "dc2", processGroupId: "dc2-log-1" },
];

function take(target: KeysTarget): Promise<LockLease> {
  return target.finish(takeLock(target.shared, settings, clock)).then(heldLease);
}

function clear(target: KeysTarget, lease: LockLease) {
  return target.finish(clearRestartEntries(target.shared, named, lease, settings, clock));
}

async function announce(
  target: KeysTarget,
  prefix: string,
  action: EntryUpdate["action"] = "add",
): Promise<void> {
  const updates = new Map([
    [`${prefix}-log-1`, { action }],
    [`${prefix}-log-2`, { action }],
  ]);
  const sets = { pendingForRestart: updates, readyForRestart: updates };
  await target.finish(updateSets(target.shared, prefix, sets));
}

async function restartIds(target: KeysTarget): Promise<string[]> {
  const sets = await target.finish(
    readSets(target.shared, ["pendingForRestart", "readyForRestart"]),
  );
  const [pending, ready] = [sets.pendingForRestart, sets.readyForRestart].map(({ entries }) =>
    entries.map(({ processGroupId }) => processGroupId),
  );
  assert.deepEqual(pending, ready);
  return pending ?? [];
}

async function checkClearing(target: KeysTarget): Promise<void> {
  await announce(target, "dc1");
  await announce(target, "dc2");
  const lease = await take(target);
  const outcome = await clear(target, lease);
  assert.ok(outcome.isCleared);
  assert.ok(outcome.lease.endSeconds > lease.endSeconds);
  assert.equal(await target.finish(confirmLock(target.shared, outcome.lease)), true);
  assert.equal(await target.finish(confirmLock(target.shared, lease)), false);
  assert.deepEqual(await restartIds(target), ["dc1-log-2", "dc2-log-2"]);
}

async function checkLostLock(target: KeysTarget): Promise<void> {
  await announce(target, "dc1");
  await announce(target, "dc2");
  const lease = await take(target);
  await target.finish(updateDenyList(target.shared, [{ id: "dc1", allow: false }]));
  const denied = await clear(target, lease);
  assert.ok(!denied.isCleared && denied.reason === "lockLost");
  assert.equal(denied.lock.reason, "ownerDenied");
  await target.finish(updateDenyList(target.shared, [{ id: "dc1", allow: true }]));
  await target.finish(releaseLock(target.shared, lease));
  await target.finish(takeLock(target.partner, settingsOf("dc2"), clock));
  const before = await stored(target);
  const lost = await clear(target, lease);
  assert.ok(!lost.isCleared && lost.reason === "lockLost");
  assert.deepEqual([lost.lock.reason, lost.lock.owner], ["lost", "dc2"]);
  assert.deepEqual(await stored(target), before);
}

async function checkWithdrawn(target: KeysTarget): Promise<void> {
  await announce(target, "dc1");
  await announce(target, "dc2");
  const lease = await take(target);
  const withdrawal = new Map([["dc2-log-1", { action: "delete" } as const]]);
  await target.finish(updateSets(target.partner, "dc2", { readyForRestart: withdrawal }));
  const before = await stored(target);
  assert.deepEqual(await clear(target, lease), {
    isCleared: false,
    reason: "withdrawn",
    entries: [named[1]],
  });
  assert.deepEqual(await stored(target), before);
  assert.equal(await target.finish(confirmLock(target.shared, lease)), true);
}

async function checkUnknownOutcome(target: KeysTarget): Promise<void> {
  for (const faults of commitFaults.flatMap((first) => commitFaults.map((next) => [first, next]))) {
    await announce(target, "dc1");
    await announce(target, "dc2");
    const lease = await take(target);
    // Once it has happened there is nothing left to commit, and no second fault can strike.
    target.faults?.push(...(faults[0] === "unknown-committed" ? faults.slice(0, 1) : faults));
    const outcome = await clear(target, lease);
    assert.ok(outcome.isCleared);
    assert.equal(await target.finish(confirmLock(target.shared, outcome.lease)), true);
    assert.deepEqual(await restartIds(target), ["dc1-log-2", "dc2-log-2"]);
  }
}

export const restartCases: readonly KeysCase[] = [
  {
    title: "[SET30] the holder of the lock clears exactly the named restart entries",
    needsFaults: false,
    run: checkClearing,
  },
  {
    title: "[SET31] without the lock no restart entry is cleared",
    needsFaults: false,
    run: checkLostLock,
  },
  {
    title: "[SET32] when one entry was withdrawn nothing is cleared",
    needsFaults: false,
    run: checkWithdrawn,
  },
  {
    title: "[SET33] a clearing whose outcome was unknown is found out",
    needsFaults: true,
    run: checkUnknownOutcome,
  },
];
