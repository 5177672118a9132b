// Whether this instance may have entries in the coordination sets. Beside another operator, which cannot read them, and
// under a prefix that another resource uses as well, it has none, and does nothing together. An instance that leaves
// global mode takes out what it has. Rules: spec/coordination.md [CO14], [CO66], [CO67].
import type { Remembering } from "../../env/memory.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { EntryUpdate, SetUpdates } from "../../fdb/coordination-sets.ts";
import { storedSets } from "../../fdb/keys.ts";
import type { StoredSet } from "../../fdb/keys.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { parseProcessGroupId } from "../../model/process-group-id.ts";
import { coordinationOf, foreignEntries, ownPrefixOf } from "../view/shared-sets.ts";
import type { CoordinationSets } from "../view/shared-sets.ts";
import { foreignWait, prefixWait } from "./shared-waits.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { unreachableAddresses } from "../view/unreachable-processes.ts";
import type { NewWait } from "../wait.ts";

/** Why this instance has no entries and does nothing together; undefined when it takes part. */
export function apartWait(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
): NewWait | undefined {
  const known = coordinationOf(snapshot);
  const status = databaseStatus(snapshot);
  if (known === undefined || status === undefined) return undefined;
  const ownPrefix = ownPrefixOf(snapshot);
  const foreign = foreignEntries(known.sets, ownPrefix);
  if (foreign.length > 0) return foreignWait(foreign);
  const strangers = strangersUnder(snapshot, status, groups, ownPrefix);
  return strangers.length === 0 ? undefined : prefixWait(ownPrefix, strangers);
}

/** Live processes that carry the prefix and belong to no process group of this resource. */
function strangersUnder(
  snapshot: Remembering,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
  prefix: string,
): string[] {
  const own = new Set(groups.map((group) => group.processGroupID));
  return [...livingIds(snapshot, status)]
    .filter((id) => !own.has(id) && parseProcessGroupId(id)?.prefix === prefix)
    .sort();
}

function livingIds(snapshot: Remembering, status: DatabaseStatus): ReadonlySet<string> {
  const unreachable = unreachableAddresses(status);
  const living = [...processesByInstance(snapshot, status)].filter(([, processes]) =>
    processes.some(({ address = "" }) => !unreachable.has(address)),
  );
  return new Set(living.map(([id]) => id));
}

/** Everything under a prefix is taken out, but for what belongs to the live processes of another resource. */
export function withdrawal(
  snapshot: Remembering,
  sets: CoordinationSets,
  prefix: string,
  groups: readonly ProcessGroup[],
  status: DatabaseStatus,
): SetUpdates {
  const own = new Set(groups.map((group) => group.processGroupID));
  const living = livingIds(snapshot, status);
  const found: Partial<Record<StoredSet, ReadonlyMap<string, EntryUpdate>>> = {};
  for (const set of storedSets) {
    const { entries = [], foreign = [] } = sets[set] ?? {};
    const ids = [...entries, ...foreign]
      .filter(({ processGroupIdPrefix }) => processGroupIdPrefix === prefix)
      .map(({ processGroupId }) => processGroupId)
      .filter((id) => own.has(id) || !living.has(id));
    const updates = new Map<string, EntryUpdate>(ids.map((id) => [id, { action: "delete" }]));
    if (updates.size > 0) found[set] = updates;
  }
  return found;
}
