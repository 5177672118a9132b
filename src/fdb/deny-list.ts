// The instances that may not take the lock, as people list them in lockOptions.denyList. The keys are those of
// the Go operator. Carries rules LOCK20 to LOCK22.
import type { FdbTransaction } from "./admin.ts";
import { bytesOfText } from "./bytes.ts";
import type { OperatorKeys } from "./keys.ts";
import { textBelow, transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

export interface DenyListEntry {
  /** The processGroupIDPrefix of an instance; may be empty. */
  readonly id: string;
  /** True takes the instance off the list, false puts it on. */
  readonly allow: boolean;
}

export async function isDenied(
  transaction: FdbTransaction,
  keys: OperatorKeys,
  id: string,
): Promise<boolean> {
  return (await transaction.get(keys.denyListEntry(id))) !== undefined;
}

export function readDenyList(shared: SharedKeys): Promise<string[]> {
  const bounds = shared.keys.denyList();
  return transactShared(shared, async (transaction) => {
    const items = await transaction.getRange(bounds.begin, bounds.end);
    return items.map(({ key }) => textBelow(bounds, key));
  });
}

/** Changes only what differs; ids that are not named stay as they are. Of two entries for an id the last counts. */
export function updateDenyList(
  shared: SharedKeys,
  entries: readonly DenyListEntry[],
): Promise<void> {
  const wanted = new Map(entries.map(({ id, allow }) => [id, allow]));
  return transactShared(shared, async (transaction) => {
    for (const [id, allow] of wanted) {
      const key = shared.keys.denyListEntry(id);
      if ((await isDenied(transaction, shared.keys, id)) !== allow) continue;
      if (allow) transaction.clear(key);
      else transaction.set(key, bytesOfText(id));
    }
  });
}
