// Process groups that go down for maintenance, with the time at which they were listed. The keys are those of
// the Go operator. Carries rules LOCK40 to LOCK42, MNT1, MNT8.
import { decodeMaintenance, encodeMaintenance } from "./keys.ts";
import { textBelow, transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

const personsPrefix = "person/";

/** A person's maintenance lasts no longer, and an older mark means nothing. */
export const personsMaximumMs = 14_400_000;

/** The entry by which a person says that the maintenance of a fault domain is theirs; no process group has such an id. */
export function personsMark(zone: string): string {
  return `${personsPrefix}${zone}`;
}

/** The fault domain of such an entry; undefined for any other. */
export function zoneOfMark(id: string): string | undefined {
  return id.startsWith(personsPrefix) ? id.slice(personsPrefix.length) : undefined;
}

export function addToMaintenanceList(
  shared: SharedKeys,
  processGroupIds: readonly string[],
  sinceSeconds: number,
): Promise<void> {
  const value = encodeMaintenance(sinceSeconds);
  return transactShared(shared, async (transaction) => {
    for (const id of processGroupIds) transaction.set(shared.keys.maintenanceEntry(id), value);
  });
}

/** Seconds since the epoch by process group; 0, which is long over, where the value cannot be read. */
export function readMaintenanceList(shared: SharedKeys): Promise<ReadonlyMap<string, number>> {
  const bounds = shared.keys.maintenance();
  return transactShared(shared, async (transaction) => {
    const items = await transaction.getRange(bounds.begin, bounds.end);
    return new Map(
      items.map(({ key, value }) => [textBelow(bounds, key), decodeMaintenance(value) ?? 0]),
    );
  });
}

export function removeFromMaintenanceList(
  shared: SharedKeys,
  processGroupIds: readonly string[],
): Promise<void> {
  return transactShared(shared, async (transaction) => {
    for (const id of processGroupIds) transaction.clear(shared.keys.maintenanceEntry(id));
  });
}
