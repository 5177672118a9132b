// The last transaction before a kill: the holder of the lock takes the processes that it is about to kill out
// of both restart sets, those of other instances too. It happens only while the lock is held and each of
// them is still announced as ready. Carries rules SET30 to SET34.
import type { Clock } from "../env/clock.ts";
import { contentsOf, getSet } from "./coordination-sets.ts";
import type { CoordinationSet, SetEntry } from "./keys.ts";
import { leaseRenewal } from "./lock.ts";
import type { LockLease, LockRefusal, LockSettings } from "./lock.ts";
import { transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

export type RestartClearance =
  /** The lock has been extended along with it; the old lease is void. */
  | { readonly isCleared: true; readonly lease: LockLease }
  | { readonly isCleared: false; readonly reason: "lockLost"; readonly lock: LockRefusal }
  /** These are not pending and ready any more; nothing has been cleared, and the old lease goes on. */
  | {
      readonly isCleared: false;
      readonly reason: "withdrawn";
      readonly entries: readonly SetEntry[];
    };

const restartSets = [
  "pendingForRestart",
  "readyForRestart",
] as const satisfies readonly CoordinationSet[];

export function clearRestartEntries(
  shared: SharedKeys,
  entries: readonly SetEntry[],
  lease: LockLease,
  settings: LockSettings,
  clock: Pick<Clock, "nowMs">,
): Promise<RestartClearance> {
  const { keys } = shared;
  const renew = leaseRenewal(lease, settings, clock);
  return transactShared(shared, async (transaction): Promise<RestartClearance> => {
    const renewal = await renew(transaction, keys);
    if (renewal.type === "refused") {
      return { isCleared: false, reason: "lockLost", lock: renewal.refusal };
    }
    if (renewal.type === "done") return { isCleared: true, lease: renewal.lease };
    const announced = await Promise.all(
      restartSets.map(async (set) => {
        const { entries: found } = contentsOf(keys, set, await getSet(transaction, keys, set));
        return new Set(found.map(nameOf));
      }),
    );
    const withdrawn = entries.filter((entry) => !announced.every((set) => set.has(nameOf(entry))));
    if (withdrawn.length > 0) return { isCleared: false, reason: "withdrawn", entries: withdrawn };
    for (const entry of entries) {
      for (const set of restartSets) transaction.clear(keys.setEntry(set, entry));
    }
    return { isCleared: true, lease: renewal.extend() };
  });
}

function nameOf(entry: SetEntry): string {
  return `${entry.processGroupIdPrefix}/${entry.processGroupId}`;
}
