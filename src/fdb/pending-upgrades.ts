// Which process groups are staged for an upgrade, over all instances: the one that restarts the database waits
// until every process is listed. The keys are those of the Go operator. Carries rules LOCK30 to LOCK34.
import { bytesOfText, textOfBytes } from "./bytes.ts";
import { isLeaseCurrent } from "./lock.ts";
import type { LockLease } from "./lock.ts";
import { UnreadableValueError, textBelow, transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

export function registerPendingUpgrades(
  shared: SharedKeys,
  version: string,
  processGroupIds: readonly string[],
): Promise<void> {
  return transactShared(shared, async (transaction) => {
    for (const id of processGroupIds) {
      transaction.set(shared.keys.pendingUpgrade(version, id), bytesOfText(id));
    }
  });
}

/** For one version, or for all. */
export function readPendingUpgrades(
  shared: SharedKeys,
  version: string | undefined,
): Promise<ReadonlySet<string>> {
  const bounds = shared.keys.pendingUpgrades(version);
  return transactShared(shared, async (transaction) => {
    const ids = new Set<string>();
    for (const { key, value } of await transaction.getRange(bounds.begin, bounds.end)) {
      const name = textBelow(bounds, key);
      const id = version === undefined ? name.slice(name.indexOf("/") + 1) : name;
      if (textOfBytes(value) !== id) {
        throw new UnreadableValueError(key, value, `the process group id ${id}`);
      }
      ids.add(id);
    }
    return ids;
  });
}

/** Process groups that will not take part after all, whatever the version was; entries of others stay. */
export function withdrawPendingUpgrades(
  shared: SharedKeys,
  processGroupIds: readonly string[],
): Promise<void> {
  const ids = new Set(processGroupIds);
  const { begin, end } = shared.keys.pendingUpgrades();
  return transactShared(shared, async (transaction) => {
    for (const { key, value } of await transaction.getRange(begin, end)) {
      if (ids.has(textOfBytes(value))) transaction.clear(key);
    }
  });
}

/** For all versions, and only while the lease is current; false when it is not, and then nothing is cleared. */
export function clearPendingUpgrades(shared: SharedKeys, lease: LockLease): Promise<boolean> {
  const { begin, end } = shared.keys.pendingUpgrades();
  return transactShared(shared, async (transaction) => {
    if (!(await isLeaseCurrent(transaction, shared.keys, lease))) return false;
    transaction.clearRange(begin, end);
    return true;
  });
}
