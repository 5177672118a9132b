// The lock that keeps the operator instances of one database from acting at the same time. Key, value and
// rules of take-over are those of the Go operator; a holder stops a little before the stored end, so that
// clocks may disagree. Carries rules LOCK1 to LOCK16.
import type { Clock } from "../env/clock.ts";
import type { FdbTransaction } from "./admin.ts";
import { isDenied } from "./deny-list.ts";
import { decodeLock, encodeLock } from "./keys.ts";
import type { LockValue, OperatorKeys } from "./keys.ts";
import { UnreadableValueError, transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

export interface LockSettings {
  /** The processGroupIDPrefix of this instance; may be empty. */
  readonly owner: string;
  readonly durationMs: number;
  /** How far the clocks of two instances may differ. */
  readonly clockSkewMaxMs?: number;
}

/**
 * The right to act until `untilMs`. It is void from the moment that its owner asks for the lock again, extends
 * or releases it: then the answer to that counts.
 */
export interface LockLease {
  readonly isHeld: true;
  readonly owner: string;
  /** The end of the lock in the database, by which a lease is recognised there. */
  readonly endSeconds: number;
  /** On the clock of the owner. */
  readonly untilMs: number;
}

/** "lost" means that the lock of the lease is gone or is another one. */
export type LockRefusalReason = "heldByOther" | "ownerDenied" | "lost";

export interface LockRefusal {
  readonly isHeld: false;
  readonly reason: LockRefusalReason;
  /** Who holds the lock; undefined when nobody does. */
  readonly owner: string | undefined;
  /** The first instant at which others may take it over. */
  readonly untilMs: number | undefined;
}

export type LockResult = LockLease | LockRefusal;

type TimeSource = Pick<Clock, "nowMs">;

const defaultClockSkewMaxMs = 10_000;

/** Takes the lock, takes over one that ran out or whose owner is denied, or extends our own. */
export function takeLock(
  shared: SharedKeys,
  settings: LockSettings,
  clock: TimeSource,
): Promise<LockResult> {
  return transactShared(shared, async (transaction) => {
    const { keys } = shared;
    const { owner } = settings;
    const current = await getLock(transaction, keys);
    if (await isDenied(transaction, keys, owner)) return refusal("ownerDenied", current);
    const nowSeconds = secondsOf(clock.nowMs());
    const isFree =
      current === undefined ||
      current.owner === owner ||
      current.endSeconds < nowSeconds ||
      (await isDenied(transaction, keys, current.owner));
    if (!isFree) return refusal("heldByOther", current);
    const next = {
      owner,
      startSeconds: current?.startSeconds || nowSeconds,
      endSeconds: secondsOf(clock.nowMs() + settings.durationMs),
    };
    transaction.set(keys.lock(), encodeLock(next));
    return leaseOf(next, settings);
  });
}

/** Extends the lock only while it is still the one of this lease, so that nobody held it in between. */
export function extendLock(
  shared: SharedKeys,
  lease: LockLease,
  settings: LockSettings,
  clock: TimeSource,
): Promise<LockResult> {
  const renew = leaseRenewal(lease, settings, clock);
  return transactShared(shared, async (transaction) => {
    const renewal = await renew(transaction, shared.keys);
    if (renewal.type === "refused") return renewal.refusal;
    return renewal.type === "done" ? renewal.lease : renewal.extend();
  });
}

/** Resolves with the lock as it is afterwards: undefined, or that of another instance. */
export function releaseLock(shared: SharedKeys, owner: string): Promise<LockValue | undefined> {
  return transactShared(shared, async (transaction) => {
    const current = await getLock(transaction, shared.keys);
    if (current?.owner !== owner) return current;
    transaction.clear(shared.keys.lock());
    return undefined;
  });
}

export function readLock(shared: SharedKeys): Promise<LockValue | undefined> {
  return transactShared(shared, (transaction) => getLock(transaction, shared.keys));
}

/** Whether an act that takes `neededMs` may still begin. Ask right before it, with the time of that moment. */
export function hasTimeLeft(lease: LockLease, nowMs: number, neededMs: number): boolean {
  return nowMs + neededMs < lease.untilMs;
}

/** Whether the database still holds exactly this lease; for use in the transaction that depends on it. */
export async function isLeaseCurrent(
  transaction: FdbTransaction,
  keys: OperatorKeys,
  lease: LockLease,
): Promise<boolean> {
  if (await isDenied(transaction, keys, lease.owner)) return false;
  return isSameLease(await getLock(transaction, keys), lease);
}

/** The same as a question of its own: somebody may have taken a lock over whose owner was denied. */
export function confirmLock(shared: SharedKeys, lease: LockLease): Promise<boolean> {
  return transactShared(shared, (transaction) => isLeaseCurrent(transaction, shared.keys, lease));
}

/** How a lease stands inside of a transaction; "done" when an earlier try of it was committed after all. */
export type Renewal =
  | { readonly type: "open"; extend(): LockLease }
  | { readonly type: "done"; readonly lease: LockLease }
  | { readonly type: "refused"; readonly refusal: LockRefusal };

/**
 * A lease extended as part of a transaction that may be tried again. Each extension changes the stored end, so a
 * later try can tell whether an earlier one, with all its other writes, has been committed.
 */
export function leaseRenewal(
  lease: LockLease,
  settings: LockSettings,
  clock: TimeSource,
): (transaction: FdbTransaction, keys: OperatorKeys) => Promise<Renewal> {
  const tried: LockLease[] = [];
  return async (transaction, keys) => {
    const current = await getLock(transaction, keys);
    const done = tried.find((attempt) => isSameLease(current, attempt));
    if (done !== undefined) return { type: "done", lease: done };
    if (await isDenied(transaction, keys, lease.owner)) {
      return { type: "refused", refusal: refusal("ownerDenied", current) };
    }
    if (current === undefined || !isSameLease(current, lease)) {
      return { type: "refused", refusal: refusal("lost", current) };
    }
    const extend = (): LockLease => {
      const plannedEnd = secondsOf(clock.nowMs() + settings.durationMs);
      const next = { ...current, endSeconds: Math.max(plannedEnd, lease.endSeconds + 1) };
      transaction.set(keys.lock(), encodeLock(next));
      const extended = leaseOf(next, settings);
      tried.push(extended);
      return extended;
    };
    return { type: "open", extend };
  };
}

/** An empty value is a free lock, as it is for the Go operator. */
async function getLock(
  transaction: FdbTransaction,
  keys: OperatorKeys,
): Promise<LockValue | undefined> {
  const bytes = await transaction.get(keys.lock());
  if (bytes === undefined || bytes.length === 0) return undefined;
  const lock = decodeLock(bytes);
  if (lock === undefined) throw new UnreadableValueError(keys.lock(), bytes, "a lock");
  return lock;
}

function isSameLease(lock: LockValue | undefined, lease: LockLease): boolean {
  return lock?.owner === lease.owner && lock.endSeconds === lease.endSeconds;
}

/** Others take over by their own clocks, which may be ahead of ours. */
function leaseOf(lock: LockValue, settings: LockSettings): LockLease {
  const { owner, endSeconds } = lock;
  const skewMs = settings.clockSkewMaxMs ?? defaultClockSkewMaxMs;
  return { isHeld: true, owner, endSeconds, untilMs: endSeconds * 1000 - skewMs };
}

function refusal(reason: LockRefusalReason, current: LockValue | undefined): LockRefusal {
  return {
    isHeld: false,
    reason,
    owner: current?.owner,
    // The end itself still belongs to the holder, with all of its second.
    untilMs: current && (current.endSeconds + 1) * 1000,
  };
}

function secondsOf(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}
