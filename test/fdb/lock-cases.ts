// The lock: its bytes, who gets it and when, leases, and outcomes that nobody knows.
import assert from "node:assert/strict";
import { updateDenyList } from "../../src/fdb/deny-list.ts";
import { encodeLock } from "../../src/fdb/keys.ts";
import { binaryText } from "../../src/fdb/bytes.ts";
import {
  confirmLock,
  extendLock,
  hasTimeLeft,
  readLock,
  releaseLock,
  takeLock,
} from "../../src/fdb/lock.ts";
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
  const lease = { isHeld: true, owner: "dc1", endSeconds: 1, untilMs: 1 } as const;
  const attempts: (() => Promise<unknown>)[] = [
    () => takeLock(shared, settingsOf("dc1"), handClock()),
    () => extendLock(shared, lease, settingsOf("dc1"), handClock()),
    () => releaseLock(shared, "dc1"),
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

async function checkTakeOver(target: KeysTarget): Promise<void> {
  await takenBy(target, "dc1");
  assert.equal((await takenBy(target, "dc2", 1_700_000_600_999)).isHeld, false);
  assert.deepEqual(await stored(target), [lockOfDc1]);
  heldLease(await takenBy(target, "dc2", 1_700_000_601_000));
  assert.deepEqual(await target.finish(readLock(target.shared)), {
    owner: "dc2",
    startSeconds: 1_700_000_000,
    endSeconds: 1_700_001_201,
  });
}

async function checkDeniedTaker(target: KeysTarget): Promise<void> {
  await deny(target, "dc1");
  const free = { isHeld: false, reason: "ownerDenied", owner: undefined, untilMs: undefined };
  assert.deepEqual(await takenBy(target, "dc1"), free);
  await putLock(target, "dc1", 1_700_000_000, 1_700_000_600);
  const refused = await takenBy(target, "dc1");
  assert.deepEqual(refused, { ...free, owner: "dc1", untilMs: 1_700_000_601_000 });
  await deny(target, "");
  assert.deepEqual(await takenBy(target, ""), refused);
  assert.equal((await stored(target)).at(-1), lockOfDc1);
}

async function checkRelease(target: KeysTarget): Promise<void> {
  const release = (owner: string) => target.finish(releaseLock(target.shared, owner));
  assert.equal(await release("dc1"), undefined);
  for (const [start, end] of [
    [1_700_000_000, 1_700_000_600],
    [1_600_000_000, 1_600_000_600],
    [1_800_000_000, 1_800_000_600],
  ] as const) {
    await putLock(target, "dc1", start, end);
    const held = { owner: "dc1", startSeconds: start, endSeconds: end };
    assert.deepEqual(await release("dc2"), held);
    assert.deepEqual(await target.finish(readLock(target.shared)), held);
    assert.equal(await release("dc1"), undefined);
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
  assert.equal((await target.finish(readLock(shared)))?.startSeconds, 1_700_000_000);
  const lost = { isHeld: false, reason: "lost", owner: "dc1", untilMs: 1_700_000_661_000 };
  assert.deepEqual(await extend(first, startMs + 61_000), lost);
  heldLease(await takenBy(target, "dc2", 1_700_000_661_000));
  const takenOver = { ...lost, owner: "dc2", untilMs: 1_700_001_262_000 };
  assert.deepEqual(await extend(third, startMs + 62_000), takenOver);
  await target.finish(releaseLock(shared, "dc2"));
  assert.deepEqual(await extend(third, startMs + 63_000), {
    ...lost,
    owner: undefined,
    untilMs: undefined,
  });
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
      assert.equal(await target.finish(releaseLock(shared, "dc1")), undefined);
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
    startSeconds: 1_700_000_000,
    endSeconds: 1_700_000_601,
  });
}

async function checkTake(target: KeysTarget): Promise<void> {
  assert.deepEqual(await takenBy(target, "dc1", startMs + 999), {
    isHeld: true,
    owner: "dc1",
    endSeconds: 1_700_000_600,
    untilMs: 1_700_000_590_000,
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
    startSeconds: 1_700_000_000,
    endSeconds: 1_700_000_660,
  });
}

const plain: readonly (readonly [string, KeysCase["run"]])[] = [
  ["[LOCK1] the lock and the sets can be used while the database is locked", checkLockedDatabase],
  ["[LOCK2] a lock that is not understood is an error and stays as it is", checkUnreadable],
  ["[LOCK3] a free lock is taken, byte for byte as the Go operator does", checkTake],
  ["[LOCK4] an empty value is a free lock", checkEmpty],
  ["[LOCK5] the owner extends its lock and keeps the start", checkOwnAgain],
  ["[LOCK6] the lock of another instance is refused and stays", checkRefused],
  ["[LOCK7] a lock is taken over after the second of its end", checkTakeOver],
  ["[LOCK8] the lock of a denied instance is taken over at once", checkOtherOwner],
  ["[LOCK9] a denied instance gets neither a free lock nor its own again", checkDeniedTaker],
  ["[LOCK10] only the owner releases a lock, at any time", checkRelease],
  ["[LOCK11] a lease ends before the lock and tells what may still begin", checkLease],
  ["[LOCK11] a lease that comes too late has no time left", checkLateLease],
  ["[LOCK12] only the current lease is extended", checkExtension],
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
