// Steps with a lock that the operator takes only as parts of larger transactions, each as one of its own.
import type { Clock } from "../../src/env/clock.ts";
import { isLeaseCurrent, leaseRenewal } from "../../src/fdb/lock.ts";
import type { LockLease, LockResult, LockSettings } from "../../src/fdb/lock.ts";
import { transactShared } from "../../src/fdb/shared-keys.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";

/** Extends the lock only while it is still the one of this lease, so that nobody held it in between. */
export function extendLock(
  shared: SharedKeys,
  lease: LockLease,
  settings: LockSettings,
  clock: Pick<Clock, "nowMs">,
): Promise<LockResult> {
  const renew = leaseRenewal(lease, settings, clock);
  return transactShared(shared, async (transaction) => {
    const renewal = await renew(transaction, shared.keys);
    if (renewal.type === "refused") return renewal.refusal;
    return renewal.type === "done" ? renewal.lease : renewal.extend();
  });
}

/** Whether the database still holds exactly this lease. */
export function confirmLock(shared: SharedKeys, lease: LockLease): Promise<boolean> {
  return transactShared(shared, (transaction) => isLeaseCurrent(transaction, shared.keys, lease));
}
