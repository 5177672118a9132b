// One statement about the clients of the operator's keys, what it runs on, and what such statements share.
import assert from "node:assert/strict";
import type { KeyValue } from "../../src/fdb/admin.ts";
import { bytesOfBinary, prefixEnd, printableBytes } from "../../src/fdb/bytes.ts";
import { LockWatch } from "../../src/fdb/lock.ts";
import type { LockLease, LockResult, LockSettings } from "../../src/fdb/lock.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";
import type { CommitFault } from "../../src/sim/key-value/store.ts";

export interface KeysTarget {
  /** Two instances, each with a connection of its own, on the same keys; nothing is stored under them. */
  readonly shared: SharedKeys;
  readonly partner: SharedKeys;
  /** What goes wrong with the next commits, first to last; undefined where it cannot be told. */
  readonly faults: (CommitFault | undefined)[] | undefined;
  /** Lets an operation come to its end. */
  finish<T>(operation: Promise<T>): Promise<T>;
  lockDatabase(): Promise<void>;
  unlockDatabase(): Promise<void>;
  end(): Promise<void>;
}

export interface KeysCase {
  /** Starts with the id of its rule in spec/keys.md. */
  readonly title: string;
  readonly needsFaults: boolean;
  run(target: KeysTarget): Promise<void>;
}

/** A clock that a case sets by hand, so that it means the same on every target. */
export interface HandClock {
  nowMs(): number;
  set(timeMs: number): void;
}

export function handClock(timeMs = 1_700_000_000_000): HandClock {
  let nowMs = timeMs;
  return {
    nowMs: () => nowMs,
    set: (next) => {
      nowMs = next;
    },
  };
}

/** Of an instance that has seen nothing yet, unless a watch is given. */
export function settingsOf(owner: string, watch = new LockWatch()): LockSettings {
  return { owner, durationMs: 600_000, watch };
}

/** Everything under the prefix, as printable "key = value" with the prefix cut off. */
export async function stored(target: KeysTarget): Promise<string[]> {
  const { prefix } = target.shared.keys;
  const items = await target.finish(
    target.shared.admin.transact(
      (transaction): Promise<KeyValue[]> => transaction.getRange(prefix, prefixEnd(prefix)),
      { timeoutMs: 10_000, accessSystemKeys: true, lockAware: true },
    ),
  );
  return items.map(
    ({ key, value }) => `${printableBytes(key.slice(prefix.length))} = ${printableBytes(value)}`,
  );
}

/** Writes raw bytes, as another program would. */
export function put(target: KeysTarget, key: Uint8Array, binaryValue: string): Promise<void> {
  return target.finish(
    target.shared.admin.transact(
      async (transaction) => transaction.set(key, bytesOfBinary(binaryValue)),
      { timeoutMs: 10_000, accessSystemKeys: true, lockAware: true },
    ),
  );
}

export function heldLease(result: LockResult): LockLease {
  assert.ok(result.isHeld, `the lock is not held: ${JSON.stringify(result)}`);
  return result;
}

/** One run for each way in which the next commit can go wrong. */
export const commitFaults: readonly CommitFault[] = [
  "conflict",
  "unknown-committed",
  "unknown-lost",
];
