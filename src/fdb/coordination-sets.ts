// The sets by which instances in global mode tell each other what they want to do and what is ready. An
// instance writes only under its own prefix and reads all. Carries rules SET1 to SET12.
import { isTest } from "../model/process-class.ts";
import { parseProcessGroupId } from "../model/process-group-id.ts";
import type { FdbTransaction, KeyValue } from "./admin.ts";
import { announcementKinds, decodeSetValue, encodeTargets, storedSets } from "./keys.ts";
import type { CoordinationSet, OperatorKeys, SetEntry, StoredSet } from "./keys.ts";
import { transactShared } from "./shared-keys.ts";
import type { SharedKeys } from "./shared-keys.ts";

/** Targets, addresses or a locality, belong to the sets in `setsWithTargets` and to no other. */
export type EntryUpdate =
  | { readonly action: "add"; readonly targets?: readonly string[] }
  | { readonly action: "delete" };

/** What happens to which process group, by set. */
export type SetUpdates = {
  readonly [set in CoordinationSet]?: ReadonlyMap<string, EntryUpdate>;
} & {
  /** What the Go operator left there can be deleted, and nothing else. */
  readonly processAddresses?: ReadonlyMap<string, EntryUpdate>;
};

export interface StoredEntry extends SetEntry {
  readonly targets: readonly string[];
}

/** An entry that no instance of this operator wrote. */
export interface ForeignEntry extends SetEntry {
  /** When the Go operator wrote it; undefined when the value is not its form either. */
  readonly writtenAtSeconds: number | undefined;
}

export interface SetContents {
  /** In the order of their keys. */
  readonly entries: readonly StoredEntry[];
  readonly foreign: readonly ForeignEntry[];
}

const setsWithTargets: ReadonlySet<StoredSet> = new Set(["readyForExclusion", "readyForInclusion"]);

/** All updates happen or none. Entries of `test` processes are never added. */
export async function updateSets(
  shared: SharedKeys,
  processGroupIdPrefix: string,
  updates: SetUpdates,
): Promise<void> {
  checkNamePart(processGroupIdPrefix);
  const writes = storedSets.flatMap((set) =>
    [...(updates[set] ?? [])].map(([processGroupId, update]) => {
      checkNamePart(processGroupId);
      const key = shared.keys.setEntry(set, { processGroupIdPrefix, processGroupId });
      if (update.action === "delete") return { key, value: undefined };
      const value = encodeTargets(checkedTargets(set, processGroupId, update.targets ?? []));
      return isTestProcessGroup(processGroupId) ? undefined : { key, value };
    }),
  );
  await transactShared(shared, async (transaction) => {
    for (const write of writes) {
      if (write === undefined) continue;
      if (write.value === undefined) transaction.clear(write.key);
      else transaction.set(write.key, write.value);
    }
  });
}

/** The given sets as they are at one instant: of all instances, or of the one with this prefix. */
export function readSets<Set extends StoredSet>(
  shared: SharedKeys,
  sets: readonly Set[],
  processGroupIdPrefix?: string,
): Promise<Readonly<Record<Set, SetContents>>> {
  return transactShared(shared, async (transaction) => {
    const contents = await Promise.all(
      sets.map(async (set) => {
        const items = await getSet(transaction, shared.keys, set, processGroupIdPrefix);
        return [set, contentsOf(shared.keys, set, items)] as const;
      }),
    );
    return Object.fromEntries(contents) as Record<Set, SetContents>;
  });
}

/**
 * Takes every entry of an instance out of all sets, on the word of a person who knows that nobody stands behind them. The
 * prefix may be empty, as that of an instance of the Go operator can be; entries of all others stay.
 */
export async function clearInstance(
  shared: SharedKeys,
  processGroupIdPrefix: string,
): Promise<void> {
  const { keys } = shared;
  await transactShared(shared, async (transaction) => {
    for (const set of storedSets) {
      for (const { key } of await getSet(transaction, keys, set, processGroupIdPrefix)) {
        const entry = keys.parseSetEntry(set, key);
        // An empty prefix reads the whole set, other instances included.
        if (entry?.processGroupIdPrefix === processGroupIdPrefix) transaction.clear(key);
      }
    }
    for (const kind of announcementKinds) {
      transaction.clear(keys.announcementEntry(kind, processGroupIdPrefix));
    }
  });
}

export function getSet(
  transaction: FdbTransaction,
  keys: OperatorKeys,
  set: StoredSet,
  processGroupIdPrefix?: string,
): Promise<KeyValue[]> {
  const { begin, end } = keys.set(set, processGroupIdPrefix);
  return transaction.getRange(begin, end);
}

export function contentsOf(
  keys: OperatorKeys,
  set: StoredSet,
  items: readonly KeyValue[],
): SetContents {
  const entries: StoredEntry[] = [];
  const foreign: ForeignEntry[] = [];
  for (const { key, value } of items) {
    const entry = keys.parseSetEntry(set, key);
    if (entry === undefined) continue;
    const decoded = set === "processAddresses" ? undefined : decodeSetValue(value);
    if (decoded?.type === "targets" && areTargetsOf(set, decoded.targets)) {
      entries.push({ ...entry, targets: decoded.targets });
    } else {
      const writtenAtSeconds = decoded?.type === "foreign" ? decoded.writtenAtSeconds : undefined;
      foreign.push({ ...entry, writtenAtSeconds });
    }
  }
  return { entries, foreign };
}

function isTestProcessGroup(processGroupId: string): boolean {
  return isTest(parseProcessGroupId(processGroupId)?.processClass ?? "");
}

function areTargetsOf(set: StoredSet, targets: readonly string[]): boolean {
  if (!setsWithTargets.has(set)) return targets.length === 0;
  return targets.length > 0 && targets.every((target) => /^[\x21-\x2b\x2d-\x7e]+$/.test(target));
}

function checkedTargets(
  set: StoredSet,
  processGroupId: string,
  targets: readonly string[],
): readonly string[] {
  if (set !== "processAddresses" && areTargetsOf(set, targets)) return targets;
  throw new Error(`${JSON.stringify(targets)} cannot be the value of ${processGroupId} in ${set}`);
}

/** An empty part or one with a slash would end up under the prefix of another instance. */
export function checkNamePart(part: string): void {
  if (part === "" || part.includes("/")) {
    throw new Error(`"${part}" cannot be a part of a key in a coordination set`);
  }
}
