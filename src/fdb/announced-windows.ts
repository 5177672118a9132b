// The maintenance windows of the instances of one database, each under its own prefix, so that those that never meet can be
// told. Nothing is decided by them. Carries the rules WIN24 and WIN25 of spec/windows.md.
import { bytesOfText, textOfBytes } from "./bytes.ts";
import { checkNamePart } from "./coordination-sets.ts";
import { textBelow, transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

/** An empty text takes the entry away. */
export async function announceWindows(
  shared: SharedKeys,
  processGroupIdPrefix: string,
  text: string,
): Promise<void> {
  checkNamePart(processGroupIdPrefix);
  const key = shared.keys.windowsEntry(processGroupIdPrefix);
  await transactShared(shared, async (transaction) => {
    if (text === "") transaction.clear(key);
    else transaction.set(key, bytesOfText(text));
  });
}

/** By prefix, as they were announced. */
export function readWindows(shared: SharedKeys): Promise<ReadonlyMap<string, string>> {
  const bounds = shared.keys.windows();
  return transactShared(shared, async (transaction) => {
    const items = await transaction.getRange(bounds.begin, bounds.end);
    return new Map(items.map(({ key, value }) => [textBelow(bounds, key), textOfBytes(value)]));
  });
}
