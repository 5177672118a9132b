// Which coordination sets a process group belongs in, from what is known about it alone, and the updates that bring the
// entries of this instance there. Rules: spec/coordination.md [CO3]-[CO12].
import type { EntryUpdate, SetContents, SetUpdates } from "../../fdb/coordination-sets.ts";
import { coordinationSets, storedSets } from "../../fdb/keys.ts";
import type { CoordinationSet, SetEntry, StoredSet } from "../../fdb/keys.ts";
import type { CoordinationSets } from "../view/shared-sets.ts";
import type { Draft } from "../step.ts";

/** What decides about the membership of one process group. */
export interface Member {
  readonly processGroupId: string;
  readonly isMarked: boolean;
  /** It will be removed as it is. */
  readonly isExclusionSkipped: boolean;
  /** The database excludes all of it, or it was proven empty. */
  readonly isExcluded: boolean;
  /** The database still lists an exclusion of it. */
  readonly isListed: boolean;
  readonly needsRestart: boolean;
  /** What it should run with has reached its pod. */
  readonly canRestart: boolean;
}

type Membership = Readonly<Record<CoordinationSet, "yes" | "no" | "kept">>;

/** "kept": another step decides; what is there stays. */
export function membershipOf(member: Member): Membership {
  const isPending = member.isMarked && !member.isExclusionSkipped && !member.isExcluded;
  const yes = (isIn: boolean): "yes" | "no" => (isIn ? "yes" : "no");
  const needsRestart = member.needsRestart && !member.isMarked;
  return {
    pendingForRemoval: yes(member.isMarked),
    pendingForExclusion: yes(isPending),
    pendingForInclusion: yes(member.isMarked),
    pendingForRestart: yes(needsRestart),
    readyForExclusion: isPending ? "kept" : "no",
    readyForInclusion: member.isMarked && member.isListed ? "kept" : "no",
    readyForRestart: yes(needsRestart && member.canRestart),
  };
}

export function membershipUpdates(
  members: readonly Member[],
  sets: CoordinationSets,
  ownPrefix: string,
): SetUpdates {
  const memberships = new Map(
    members.map((member) => [member.processGroupId, membershipOf(member)] as const),
  );
  const found: Partial<Record<StoredSet, Map<string, EntryUpdate>>> = {};
  for (const set of storedSets) {
    const updates = new Map<string, EntryUpdate>();
    const { own, unreadable } = ownEntries(sets[set], ownPrefix);
    const placeOf = (membership: Membership | undefined): "yes" | "no" | "kept" =>
      set === "processAddresses" ? "no" : (membership?.[set] ?? "no");
    for (const id of [...own, ...unreadable].sort()) {
      const place = placeOf(memberships.get(id));
      if (place === "no" || (place === "kept" && unreadable.has(id))) {
        updates.set(id, { action: "delete" });
      }
    }
    for (const [id, membership] of memberships) {
      if (placeOf(membership) === "yes" && !own.has(id)) updates.set(id, { action: "add" });
    }
    if (updates.size > 0) found[set] = updates;
  }
  return found;
}

function ownEntries(
  { entries, foreign }: SetContents = { entries: [], foreign: [] },
  ownPrefix: string,
): { own: ReadonlySet<string>; unreadable: ReadonlySet<string> } {
  const ids = (list: readonly SetEntry[]): ReadonlySet<string> =>
    new Set(
      list
        .filter(({ processGroupIdPrefix }) => processGroupIdPrefix === ownPrefix)
        .map(({ processGroupId }) => processGroupId),
    );
  return { own: ids(entries), unreadable: ids(foreign) };
}

/** Updates that bring the ready entries of this instance to exactly these, within the process groups that are judged. */
export function readyUpdates(
  set: CoordinationSet,
  wanted: ReadonlyMap<string, readonly string[]>,
  sets: CoordinationSets,
  ownPrefix: string,
): SetUpdates {
  const updates = new Map<string, EntryUpdate>();
  const present = new Map(
    sets[set].entries
      .filter(({ processGroupIdPrefix }) => processGroupIdPrefix === ownPrefix)
      .map((entry) => [entry.processGroupId, entry.targets.join(",")]),
  );
  for (const [id, targets] of wanted) {
    if (present.get(id) !== targets.join(",")) updates.set(id, { action: "add", targets });
  }
  for (const id of present.keys()) if (!wanted.has(id)) updates.set(id, { action: "delete" });
  return updates.size === 0 ? {} : { [set]: updates };
}

export function isEmptyUpdate(updates: SetUpdates): boolean {
  return storedSets.every((set) => (updates[set]?.size ?? 0) === 0);
}

/** This pass changes what the others know, so that nothing is decided on it before it is stored. */
export function isTelling({ actions }: Pick<Draft, "actions">): boolean {
  return actions.some(
    ({ type }) => type === "updateCoordination" || type === "migrateCoordination",
  );
}

/** Several steps update the sets: it is one transaction. A later step knows better. */
export function mergedUpdates(first: SetUpdates, second: SetUpdates): SetUpdates {
  const found: Partial<Record<StoredSet, ReadonlyMap<string, EntryUpdate>>> = {};
  for (const set of storedSets) {
    const merged = new Map([...(first[set] ?? []), ...(second[set] ?? [])]);
    if (merged.size > 0) found[set] = merged;
  }
  return found;
}

/** Entries of our own process groups that lie under another prefix than ours. */
export function strayEntries(
  ids: ReadonlySet<string>,
  sets: CoordinationSets,
  ownPrefix: string,
): readonly SetEntry[] {
  const found = new Map<string, SetEntry>();
  for (const set of coordinationSets) {
    for (const { processGroupIdPrefix, processGroupId } of [
      ...sets[set].entries,
      ...sets[set].foreign,
    ]) {
      if (processGroupIdPrefix === ownPrefix || !ids.has(processGroupId)) continue;
      found.set(`${processGroupIdPrefix}/${processGroupId}`, {
        processGroupIdPrefix,
        processGroupId,
      });
    }
  }
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}
