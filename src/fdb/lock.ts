// The lock that keeps the operator instances of one database from acting at the same time. Key and value are those of
// the Go operator, which trusts the stored end. We do not, since clocks disagree: whether a holder is gone is judged by
// how long we have seen its lock unchanged, on our own clock. Carries rules LOCK1 to LOCK18.
import type { Clock } from "../env/clock.ts";
import { UnchangedFor } from "../env/unchanged-for.ts";
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
  /** How much earlier a lease ends than the lock: for clocks that run unevenly, and for those of Go operators. */
  readonly clockSkewMaxMs?: number;
  /** What this instance has seen of the lock. */
  readonly watch: LockWatch;
  /** What it held last, by which it knows whether somebody else had the lock in between. */
  readonly previous?: LockLease | undefined;
}

/** What one instance has seen of the lock. It lives in memory: who starts has seen nothing. */
export class LockWatch {
  /** Who waits for the lock asks for it at least four times as often. */
  readonly #seen = new UnchangedFor(60_000);

  /** Call it with a time from after the lock was read. */
  look(lock: LockValue | undefined, nowMs: number): void {
    this.#seen.look(lock && textOf(lock), nowMs);
  }

  /**
   * How long this lock must still stay as it is before it may be taken over. Its holder has had our duration, and its own
   * as well: that is over with the stored end, or, if our clocks disagree about that, with the distance of start and end.
   */
  remainingMs(lock: LockValue, durationMs: number, nowMs: number): number {
    const unchangedMs = this.#seen.ms(textOf(lock));
    const spanMs = Math.max(0, lock.endSeconds - lock.startSeconds) * 1000;
    // The second of the end still belongs to the holder.
    const untilEndMs = (lock.endSeconds + 1) * 1000 - nowMs;
    const ownMs = Math.min(untilEndMs, spanMs - unchangedMs);
    return Math.max(0, durationMs - unchangedMs, ownMs);
  }
}

function textOf({ owner, startSeconds, endSeconds }: LockValue): string {
  return `${startSeconds} ${endSeconds} ${owner}`;
}

/**
 * The right to act until `untilMs`. It is void from the moment that its owner asks for the lock again, extends
 * or releases it: then the answer to that counts.
 */
export interface LockLease {
  readonly isHeld: true;
  readonly owner: string;
  /** Start and end of the lock in the database, by which a lease is recognised there: the owner alone is not enough. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** On the clock of the owner. */
  readonly untilMs: number;
  /** Since when nobody else can have acted under the lock, on the clock of the owner. */
  readonly heldSinceMs: number;
}

/** "lost" means that the lock of the lease is gone or is another one. */
export type LockRefusalReason = "heldByOther" | "ownerDenied" | "lost";

export interface LockRefusal {
  readonly isHeld: false;
  readonly reason: LockRefusalReason;
  /** Who holds the lock; undefined when nobody does. */
  readonly owner: string | undefined;
  /** When we may take over the lock of another, on our clock, if it stays as it is. */
  readonly untilMs: number | undefined;
}

export type LockResult = LockLease | LockRefusal;

type TimeSource = Pick<Clock, "nowMs">;

const defaultClockSkewMaxMs = 10_000;

/** Takes the lock, takes over one whose holder is gone or denied, or extends our own. */
export async function takeLock(
  shared: SharedKeys,
  settings: LockSettings,
  clock: TimeSource,
): Promise<LockResult> {
  const { owner, watch, previous } = settings;
  const result = await transactShared(shared, async (transaction): Promise<LockResult> => {
    const { keys } = shared;
    const current = await getLock(transaction, keys);
    const nowMs = clock.nowMs();
    watch.look(current, nowMs);
    if (await isDenied(transaction, keys, owner)) return refusal("ownerDenied", current);
    const isFree =
      current === undefined ||
      current.owner === owner ||
      watch.remainingMs(current, settings.durationMs, nowMs) === 0 ||
      (await isDenied(transaction, keys, current.owner));
    if (!isFree) {
      const untilMs = nowMs + watch.remainingMs(current, settings.durationMs, nowMs);
      return { ...refusal("heldByOther", current), untilMs };
    }
    const taken = put(transaction, keys, settings, clock.nowMs());
    const isKept = previous !== undefined && isCurrent(current, previous);
    return isKept ? { ...taken, heldSinceMs: previous.heldSinceMs } : taken;
  });
  if (!result.isHeld || result.heldSinceMs === previous?.heldSinceMs) return result;
  // It is ours from when it was committed.
  return { ...result, heldSinceMs: clock.nowMs() };
}

/**
 * Clears exactly the lock that was seen, and resolves with the lock as it is afterwards. A later one is never cleared,
 * not even one of the same owner: a successor may hold it.
 */
export function releaseLock(shared: SharedKeys, seen: LockValue): Promise<LockValue | undefined> {
  return transactShared(shared, async (transaction) => {
    const current = await getLock(transaction, shared.keys);
    if (current === undefined || !isSameLock(current, seen)) return current;
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
  return isCurrent(await getLock(transaction, keys), lease);
}

/** How a lease stands inside of a transaction; "done" when an earlier try of it was committed after all. */
export type Renewal =
  | { readonly type: "open"; extend(): LockLease }
  | { readonly type: "done"; readonly lease: LockLease }
  | { readonly type: "refused"; readonly refusal: LockRefusal };

/**
 * A lease extended as part of a transaction that may be tried again. Each extension changes the stored lock, so a
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
    const done = tried.find((attempt) => isCurrent(current, attempt));
    if (done !== undefined) return { type: "done", lease: done };
    if (await isDenied(transaction, keys, lease.owner)) {
      return { type: "refused", refusal: refusal("ownerDenied", current) };
    }
    if (!isCurrent(current, lease)) {
      return { type: "refused", refusal: refusal("lost", current) };
    }
    const extend = (): LockLease => {
      const { heldSinceMs } = lease;
      const extended = {
        ...put(transaction, keys, settings, clock.nowMs(), lease.endSeconds + 1),
        heldSinceMs,
      };
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

function isSameLock(left: LockValue, right: LockValue): boolean {
  return (
    left.owner === right.owner &&
    left.startSeconds === right.startSeconds &&
    left.endSeconds === right.endSeconds
  );
}

function isCurrent(lock: LockValue | undefined, lease: LockLease): boolean {
  return lock !== undefined && isSameLock(lock, lease);
}

/**
 * Writes our lock from now on. The start goes along with the end, so that their distance is how long we may hold it,
 * whatever our clock says.
 */
function put(
  transaction: FdbTransaction,
  keys: OperatorKeys,
  { owner, durationMs, clockSkewMaxMs = defaultClockSkewMaxMs }: LockSettings,
  nowMs: number,
  endMinimum = 0,
): LockLease {
  const startSeconds = secondsOf(nowMs);
  const endSeconds = Math.max(secondsOf(nowMs + durationMs), endMinimum);
  transaction.set(keys.lock(), encodeLock({ owner, startSeconds, endSeconds }));
  // Others count from when they see it, which is later; and a Go operator from the stored end.
  const untilMs = Math.min(nowMs + durationMs, endSeconds * 1000) - clockSkewMaxMs;
  return { isHeld: true, owner, startSeconds, endSeconds, untilMs, heldSinceMs: nowMs };
}

function refusal(reason: LockRefusalReason, current: LockValue | undefined): LockRefusal {
  return { isHeld: false, reason, owner: current?.owner, untilMs: undefined };
}

function secondsOf(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}
