// What each instance of one database tells the others beside the sets, as a text under its own prefix: its maintenance windows, so that
// those that never meet can be told, and its fences, so that the others know for how long a fault domain stays down.
// Carries the rules WIN24 and WIN25 of spec/windows.md and FENCE14 of spec/fencing.md.
import { bytesOfText, textOfBytes } from "./bytes.ts";
import { checkNamePart } from "./coordination-sets.ts";
import type { Announcement } from "./keys.ts";
import { textBelow, transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

/** An empty text takes the entry away. */
export async function announce(
  shared: SharedKeys,
  kind: Announcement,
  processGroupIdPrefix: string,
  text: string,
): Promise<void> {
  checkNamePart(processGroupIdPrefix);
  const key = shared.keys.announcementEntry(kind, processGroupIdPrefix);
  await transactShared(shared, async (transaction) => {
    if (text === "") transaction.clear(key);
    else transaction.set(key, bytesOfText(text));
  });
}

/** By prefix, as they were announced. */
export function readAnnouncements(
  shared: SharedKeys,
  kind: Announcement,
): Promise<ReadonlyMap<string, string>> {
  const bounds = shared.keys.announcements(kind);
  return transactShared(shared, async (transaction) => {
    const items = await transaction.getRange(bounds.begin, bounds.end);
    return new Map(items.map(({ key, value }) => [textBelow(bounds, key), textOfBytes(value)]));
  });
}
