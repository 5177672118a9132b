// After processGroupIDPrefix has changed, the entries of an instance lie under its old prefix, which the ids of
// its process groups still carry. They move all together, so that no other instance ever sees them
// missing. Carries rules SET20 to SET23.
import type { FdbTransaction } from "./admin.ts";
import { checkNamePart, getSet } from "./coordination-sets.ts";
import { coordinationSets } from "./keys.ts";
import type { CoordinationSet, OperatorKeys, SetEntry } from "./keys.ts";
import { transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

/**
 * Moves what the sets hold for these process groups from their old prefixes to the new one. An entry that is
 * under the new prefix already is newer and stays.
 */
export async function migratePrefix(
  shared: SharedKeys,
  processGroups: readonly SetEntry[],
  newPrefix: string,
): Promise<void> {
  checkNamePart(newPrefix);
  const idsByPrefix = new Map<string, Set<string>>();
  for (const { processGroupIdPrefix, processGroupId } of processGroups) {
    if (processGroupIdPrefix === newPrefix) continue;
    const ids = idsByPrefix.get(processGroupIdPrefix) ?? new Set<string>();
    idsByPrefix.set(processGroupIdPrefix, ids.add(processGroupId));
  }
  if (idsByPrefix.size === 0) return;
  await transactShared(shared, async (transaction) => {
    await Promise.all(
      coordinationSets.map((set) => moveSet(transaction, shared.keys, set, idsByPrefix, newPrefix)),
    );
  });
}

async function moveSet(
  transaction: FdbTransaction,
  keys: OperatorKeys,
  set: CoordinationSet,
  idsByPrefix: ReadonlyMap<string, ReadonlySet<string>>,
  newPrefix: string,
): Promise<void> {
  const present = await getSet(transaction, keys, set, newPrefix);
  const taken = new Set(present.map(({ key }) => keys.parseSetEntry(set, key)?.processGroupId));
  for (const [oldPrefix, ids] of idsByPrefix) {
    for (const { key, value } of await getSet(transaction, keys, set, oldPrefix)) {
      const entry = keys.parseSetEntry(set, key);
      // An empty old prefix reads the whole set, other instances included.
      if (entry?.processGroupIdPrefix !== oldPrefix || !ids.has(entry.processGroupId)) continue;
      transaction.clear(key);
      if (taken.has(entry.processGroupId)) continue;
      taken.add(entry.processGroupId);
      transaction.set(keys.setEntry(set, { ...entry, processGroupIdPrefix: newPrefix }), value);
    }
  }
}
