// The lock: its bytes, who gets it and when, leases, and outcomes that nobody knows.
import assert from "node:assert/strict";
import { updateDenyList } from "../../src/fdb/deny-list.ts";
import { encodeLock } from "../../src/fdb/keys.ts";
import type { LockValue } from "../../src/fdb/keys.ts";
import { binaryText } from "../../src/fdb/bytes.ts";
import { hasTimeLeft, readLock, releaseLock, takeLock } from "../../src/fdb/lock.ts";
import { confirmLock, extendLock } from "./lock-steps.ts";
import type { LockLease, LockSettings } from "../../src/fdb/lock.ts";
import { UnreadableValueError } from "../../src/fdb/shared-keys.ts";
import { readSets, updateSets } from "../../src/fdb/coordination-sets.ts";
import { commitFaults, handClock, heldLease, put, settingsOf, stored } from "./keys-case.ts";
import type { KeysCase, KeysTarget } from "./keys-case.ts";

const startMs = 1_700_000_000_000;
/** The lock of dc1 from 1700000000 to 1700000600, as the Go operator writes it. */
const lockOfDc1 = "/global = \\x02dc1\\x00\\x18eS\\xf1\\x00\\x18eS\\xf3X";

async function takenBy(target: KeysTarget, owner: string, timeMs = startMs) {
  return target.finish(takeLock(target.shared, settingsOf(owner), handClock(timeMs)));
}

async function deny(target: KeysTarget, id: string): Promise<void> {
  await target.finish(updateDenyList(target.shared, [{ id, allow: false }]));
}

function putLock(target: KeysTarget, owner: string, startSeconds: number, endSeconds: number) {
  const bytes = encodeLock({ owner, startSeconds, endSeconds });
  return put(target, target.shared.keys.lock(), binaryText(bytes));
}

async function checkLockedDatabase(target: KeysTarget): Promise<void> {
  await target.lockDatabase();
  try {
    heldLease(await takenBy(target, "dc1"));
    const updates = { pendingForRestart: new Map([["dc1-log-1", { action: "add" }] as const]) };
    await target.finish(updateSets(target.shared, "dc1", updates));
    const sets = await target.finish(readSets(target.shared, ["pendingForRestart"]));
    assert.equal(sets.pendingForRestart.entries.length, 1);
  } finally {
    await target.unlockDatabase();
  }
}

async function checkUnreadable(target: KeysTarget): Promise<void> {
  const { shared } = target;
  await put(target, shared.keys.lock(), "\x02dc1\x00");
  const before = await stored(target);
  const lock = { owner: "dc1", startSeconds: 1, endSeconds: 1 };
  const lease = { ...lock, isHeld: true, untilMs: 1, heldSinceMs: 1 } as const;
  const attempts: (() => Promise<unknown>)[] = [
    () => takeLock(shared, settingsOf("dc1"), handClock()),
    () => extendLock(shared, lease, settingsOf("dc1"), handClock()),
    () => releaseLock(shared, lock),
    () => readLock(shared),
    () => confirmLock(shared, lease),
  ];
  for (const attempt of attempts) {
    await assert.rejects(target.finish(attempt()), (error: unknown) => {
      assert.ok(error instanceof UnreadableValueError);
      assert.ok(error.key.endsWith("/global"));
      assert.equal(error.value, "\\x02dc1\\x00");
      assert.match(error.remedy, /clear the key/);
      return true;
    });
  }
  assert.deepEqual(await stored(target), before);
}

async function checkRefused(target: KeysTarget): Promise<void> {
  await takenBy(target, "dc1");
  const refused = await takenBy(target, "dc2", startMs + 1000);
  assert.deepEqual(refused, {
    isHeld: false,
    reason: "heldByOther",
    owner: "dc1",
    untilMs: 1_700_000_601_000,
  });
  assert.deepEqual(await stored(target), [lockOfDc1]);
}

const hourMs = 3_600_000;

/** Whose clock is off by how much, and how long the one that waits must have seen the lock. */
const takeOvers: readonly (readonly [holderOffMs: number, waiterOffMs: number])[] = [
  [0, 0],
  [0, 10_000],
  [0, -10_000],
  [0, hourMs],
  [0, -hourMs],
  [hourMs, 0],
  [-hourMs, 0],
];

/** Asks for the lock again and again, as an instance does that needs it; what it got in the end. */
function waiting(target: KeysTarget, settings: LockSettings, zeroMs: number) {
  return async (fromMs: number, toMs: number): Promise<LockLease | undefined> => {
    for (let atMs = fromMs; ; atMs = Math.min(toMs, atMs + 60_000)) {
      const clock = handClock(zeroMs + atMs);
      const result = await target.finish(takeLock(target.partner, settings, clock));
      if (result.isHeld) return result;
      if (atMs === toMs) return undefined;
    }
  };
}

async function checkTakeOver(target: KeysTarget): Promise<void> {
  for (const [holderOffMs, waiterOffMs] of takeOvers) {
    const title = `${holderOffMs} ${waiterOffMs}`;
    const settings = settingsOf("dc2");
    const wait = waiting(target, settings, startMs + waiterOffMs);
    const holder = (atMs: number) => takenBy(target, "dc1", startMs + atMs + holderOffMs);
    heldLease(await holder(0));
    assert.equal(await wait(200_000, 480_000), undefined, title);
    heldLease(await holder(500_000));
    assert.equal(await wait(540_000, 1_139_999), undefined, `${title}: it was renewed`);
    const taken = await wait(1_140_000, 1_140_000);
    assert.ok(taken !== undefined, title);
    await target.finish(releaseLock(target.shared, taken));
  }
}

/** The stored end lies ahead because the holder may keep the lock for longer than we would. */
async function checkLongLock(target: KeysTarget): Promise<void> {
  await putLock(target, "dc1", 1_700_000_000, 1_700_001_800);
  const settings = settingsOf("dc2");
  const refused = await target.finish(takeLock(target.shared, settings, handClock(startMs)));
  assert.equal(refused.isHeld ? undefined : refused.untilMs, startMs + 1_800_000);
  const wait = waiting(target, settings, startMs);
  assert.equal(await wait(0, 1_799_999), undefined);
  assert.ok(await wait(1_800_000, 1_800_000));
}

/** Extended for hours by a Go operator, which keeps the start, and then left behind. */
async function checkOldLock(target: KeysTarget): Promise<void> {
  await putLock(target, "dc1", 1_600_000_000, 1_699_999_000);
  const wait = waiting(target, settingsOf("dc2"), startMs);
  assert.equal(await wait(0, 599_999), undefined, "it has not been seen for long");
  assert.ok(await wait(600_000, 600_000));
}

async function checkSteppedClock(target: KeysTarget): Promise<void> {
  await takenBy(target, "dc1");
  const settings = settingsOf("dc2");
  assert.equal(await waiting(target, settings, startMs)(0, 60_000), undefined);
  const wait = waiting(target, settings, startMs + hourMs);
  assert.equal(await wait(120_000, 599_999), undefined, "it was set an hour forward");
  assert.ok(await wait(600_000, 600_000));
}

async function checkContinuity(target: KeysTarget): Promise<void> {
  const { shared } = target;
  const settings = settingsOf("dc1");
  const take = async (atMs: number, previous?: LockLease) => {
    const clock = handClock(startMs + atMs);
    return heldLease(await target.finish(takeLock(shared, { ...settings, previous }, clock)));
  };
  const first = await take(0);
  assert.equal(first.heldSinceMs, startMs);
  const second = await take(60_000, first);
  assert.equal(second.heldSinceMs, startMs);
  await target.finish(releaseLock(shared, second));
  heldLease(await takenBy(target, "dc2", startMs + 70_000));
  await target.finish(releaseLock(shared, (await target.finish(readLock(shared))) ?? second));
  assert.equal((await take(80_000, second)).heldSinceMs, startMs + 80_000);
}

async function checkDeniedTaker(target: KeysTarget): Promise<void> {
  await deny(target, "dc1");
  const free = { isHeld: false, reason: "ownerDenied", owner: undefined, untilMs: undefined };
  assert.deepEqual(await takenBy(target, "dc1"), free);
  await putLock(target, "dc1", 1_700_000_000, 1_700_000_600);
  const refused = await takenBy(target, "dc1");
  assert.deepEqual(refused, { ...free, owner: "dc1" });
  await deny(target, "");
  assert.deepEqual(await takenBy(target, ""), refused);
  assert.equal((await stored(target)).at(-1), lockOfDc1);
}

async function checkRelease(target: KeysTarget): Promise<void> {
  const release = (lock: LockValue) => target.finish(releaseLock(target.shared, lock));
  assert.equal(await release({ owner: "dc1", startSeconds: 1, endSeconds: 2 }), undefined);
  for (const [start, end] of [
    [1_700_000_000, 1_700_000_600],
    [1_600_000_000, 1_600_000_600],
    [1_800_000_000, 1_800_000_600],
  ] as const) {
    await putLock(target, "dc1", start, end);
    const held = { owner: "dc1", startSeconds: start, endSeconds: end };
    for (const other of [
      { ...held, owner: "dc2" },
      { ...held, startSeconds: start - 1 },
      { ...held, endSeconds: end - 1 },
    ]) {
      assert.deepEqual(await release(other), held, "a late release of another lock");
    }
    assert.deepEqual(await target.finish(readLock(target.shared)), held);
    assert.equal(await release(held), undefined);
    assert.deepEqual(await stored(target), []);
  }
}

async function checkLease(target: KeysTarget): Promise<void> {
  const lease = heldLease(await takenBy(target, "dc1"));
  const untilMs = startMs + 600_000 - 10_000;
  assert.equal(lease.untilMs, untilMs);
  assert.equal(hasTimeLeft(lease, startMs, 589_999), true);
  assert.equal(hasTimeLeft(lease, startMs, 590_000), false);
  assert.equal(hasTimeLeft(lease, untilMs - 1, 0), true);
  assert.equal(hasTimeLeft(lease, untilMs, 0), false);
  const settings = { ...settingsOf("dc1"), clockSkewMaxMs: 60_000 };
  const other = await target.finish(takeLock(target.shared, settings, handClock(startMs)));
  assert.equal(heldLease(other).untilMs, startMs + 540_000);
}

async function checkLateLease(target: KeysTarget): Promise<void> {
  const { shared } = target;
  const clock = handClock(startMs);
  // The operator stands still between its last read and the answer to its commit.
  const slow: typeof shared = {
    ...shared,
    admin: {
      transact: async (body, options) => {
        const result = await shared.admin.transact(body, options);
        clock.set(clock.nowMs() + 595_000);
        return result;
      },
    },
  };
  const lease = heldLease(await target.finish(takeLock(slow, settingsOf("dc1"), clock)));
  assert.equal(hasTimeLeft(lease, clock.nowMs(), 0), false);
}

async function checkExtension(target: KeysTarget): Promise<void> {
  const { shared } = target;
  const first = heldLease(await takenBy(target, "dc1"));
  const extend = (lease: typeof first, timeMs: number) =>
    target.finish(extendLock(shared, lease, settingsOf("dc1"), handClock(timeMs)));
  const second = heldLease(await extend(first, startMs));
  assert.equal(second.endSeconds, first.endSeconds + 1, "each extension has an end of its own");
  const third = heldLease(await extend(second, startMs + 60_000));
  assert.equal(third.endSeconds, 1_700_000_660);
  assert.equal((await target.finish(readLock(shared)))?.startSeconds, 1_700_000_060);
  const lost = { isHeld: false, reason: "lost", owner: "dc1", untilMs: undefined };
  assert.deepEqual(await extend(first, startMs + 61_000), lost);
  await putLock(target, "dc2", 1_700_000_062, third.endSeconds);
  assert.deepEqual(await extend(third, startMs + 62_000), { ...lost, owner: "dc2" });
  await putLock(target, "dc1", 1_700_000_063, third.endSeconds);
  assert.deepEqual(await extend(third, startMs + 63_000), lost, "a successor of the same name");
  await put(target, shared.keys.lock(), "");
  assert.deepEqual(await extend(third, startMs + 63_000), { ...lost, owner: undefined });
  const last = heldLease(await takenBy(target, "dc1"));
  await deny(target, "dc1");
  const denied = await extend(last, startMs + 64_000);
  assert.ok(!denied.isHeld && denied.reason === "ownerDenied");
}

async function checkConfirmation(target: KeysTarget): Promise<void> {
  const { shared, partner } = target;
  const lease = heldLease(await takenBy(target, "dc1"));
  assert.equal(await target.finish(confirmLock(shared, lease)), true);
  await deny(target, "dc1");
  assert.equal(await target.finish(confirmLock(shared, lease)), false);
  heldLease(await target.finish(takeLock(partner, settingsOf("dc2"), handClock(startMs))));
  await target.finish(updateDenyList(shared, [{ id: "dc1", allow: true }]));
  assert.equal(await target.finish(confirmLock(shared, lease)), false);
}

async function checkUnknownOutcomes(target: KeysTarget): Promise<void> {
  const { shared, faults } = target;
  for (const first of commitFaults) {
    for (const second of commitFaults) {
      faults?.push(first, second);
      const lease = heldLease(await takenBy(target, "dc1"));
      assert.deepEqual(await stored(target), [lockOfDc1]);
      faults?.push(first);
      const later = handClock(startMs + 60_000);
      const extended = await target.finish(extendLock(shared, lease, settingsOf("dc1"), later));
      assert.equal(heldLease(extended).endSeconds, 1_700_000_660);
      assert.equal(await target.finish(confirmLock(shared, heldLease(extended))), true);
      faults?.push(first);
      assert.equal(await target.finish(releaseLock(shared, heldLease(extended))), undefined);
      assert.deepEqual(await stored(target), []);
    }
  }
}

async function checkOtherOwner(target: KeysTarget): Promise<void> {
  await takenBy(target, "dc1");
  await deny(target, "dc1");
  heldLease(await takenBy(target, "dc2", startMs + 1000));
  const lock = await target.finish(readLock(target.shared));
  assert.deepEqual(lock, {
    owner: "dc2",
    startSeconds: 1_700_000_001,
    endSeconds: 1_700_000_601,
  });
}

async function checkTake(target: KeysTarget): Promise<void> {
  assert.deepEqual(await takenBy(target, "dc1", startMs + 999), {
    isHeld: true,
    owner: "dc1",
    startSeconds: 1_700_000_000,
    endSeconds: 1_700_000_600,
    untilMs: 1_700_000_590_000,
    heldSinceMs: startMs + 999,
  });
  assert.deepEqual(await stored(target), [lockOfDc1]);
}

async function checkEmpty(target: KeysTarget): Promise<void> {
  await put(target, target.shared.keys.lock(), "");
  heldLease(await takenBy(target, "dc1"));
  assert.deepEqual(await stored(target), [lockOfDc1]);
}

async function checkOwnAgain(target: KeysTarget): Promise<void> {
  await takenBy(target, "");
  heldLease(await takenBy(target, "", startMs + 60_000));
  assert.deepEqual(await target.finish(readLock(target.partner)), {
    owner: "",
    startSeconds: 1_700_000_060,
    endSeconds: 1_700_000_660,
  });
}

const plain: readonly (readonly [string, KeysCase["run"]])[] = [
  ["[LOCK1] the lock and the sets can be used while the database is locked", checkLockedDatabase],
  ["[LOCK2] a lock that is not understood is an error and stays as it is", checkUnreadable],
  ["[LOCK3] a free lock is taken, byte for byte as the Go operator does", checkTake],
  ["[LOCK4] an empty value is a free lock", checkEmpty],
  ["[LOCK5] the owner renews its lock, and start and end move along", checkOwnAgain],
  ["[LOCK6] the lock of another instance is refused and stays", checkRefused],
  ["[LOCK7] a lock is taken over when it was seen unchanged, whatever the clocks", checkTakeOver],
  ["[LOCK7] a lock that may be held for longer is waited for", checkLongLock],
  ["[LOCK7] a clock that is set forward makes no lock older", checkSteppedClock],
  ["[LOCK7] an old lock is seen for a while before it is taken over", checkOldLock],
  ["[LOCK8] the lock of a denied instance is taken over at once", checkOtherOwner],
  ["[LOCK9] a denied instance gets neither a free lock nor its own again", checkDeniedTaker],
  ["[LOCK10] exactly the lock that was seen is released, at any time", checkRelease],
  ["[LOCK11] a lease ends before the lock and tells what may still begin", checkLease],
  ["[LOCK11] a lease that comes too late has no time left", checkLateLease],
  ["[LOCK12] only the current lease is extended", checkExtension],
  ["[LOCK16] a lease knows whether somebody else had the lock in between", checkContinuity],
  ["[LOCK13] a lease that was denied or taken over is not confirmed", checkConfirmation],
];

export const lockCases: readonly KeysCase[] = [
  ...plain.map(([title, run]) => ({ title, needsFaults: false, run })),
  {
    title: "[LOCK14] an unknown outcome changes nothing about taking, extending and releasing",
    needsFaults: true,
    run: checkUnknownOutcomes,
  },
];
