// Who takes part in an act of several instances: process groups that are announced and ready, and those that are
// announced and not ready, compared over what the database shows. Rules: spec/coordination.md [CO23]-[CO26].
import type { StoredEntry } from "../fdb/coordination-sets.ts";
import type { SetEntry } from "../fdb/keys.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { instanceLocality } from "../model/process-group-id.ts";
import { processesByInstance } from "../model/locality.ts";
import { exclusionsOf } from "./removal-targets.ts";
import type { Exclusions } from "./removal-targets.ts";
import { entryKey, isInScope, setsOfPurpose } from "./shared-sets.ts";
import type { CoordinationSets, Matter } from "./shared-sets.ts";
import { unreachableAddresses } from "./unreachable-processes.ts";

export interface SharedEntries {
  /** Announced and ready. */
  readonly ready: readonly StoredEntry[];
  /** In one set and not in the other. */
  readonly missing: readonly SetEntry[];
}

export function sharedEntries(
  matter: Matter,
  sets: CoordinationSets,
  status: DatabaseStatus,
): SharedEntries {
  const names = setsOfPurpose[matter.purpose];
  const inScope = (set: keyof CoordinationSets): readonly StoredEntry[] =>
    sets[set].entries.filter(({ processGroupId }) => isInScope(matter, processGroupId));
  const announced = inScope(names.ready);
  const targets = new Map(announced.map((entry) => [entryKey(entry), entry.targets]));
  const isCompared = comparisonOf(matter, status);
  const chosen = (entries: readonly StoredEntry[]): StoredEntry[] =>
    entries.filter((entry) => isCompared(entry, targets.get(entryKey(entry)) ?? []));
  const pending = chosen(inScope(names.pending));
  const ready = chosen(announced).filter((entry) => !isRisen(matter, entry, status));
  const pendingKeys = new Set(pending.map(entryKey));
  const readyKeys = new Set(ready.map(entryKey));
  const missing = [
    ...pending.filter((entry) => !readyKeys.has(entryKey(entry))),
    ...ready.filter((entry) => !pendingKeys.has(entryKey(entry))),
  ];
  return { ready: ready.filter((entry) => pendingKeys.has(entryKey(entry))), missing };
}

/** Exclusions: what is not excluded yet. Inclusions: what is. Restarts: what lives. */
function comparisonOf(
  { purpose }: Matter,
  status: DatabaseStatus,
): (entry: SetEntry, targets: readonly string[]) => boolean {
  const exclusions = exclusionsOf(status);
  const processes = processesByInstance(status);
  switch (purpose) {
    case "exclusion":
      return (entry, targets) =>
        !isExcludedThere(entry, status) &&
        !(targets.length > 0 && targets.every((target) => isListed(exclusions, target)));
    case "inclusion":
      return (entry, targets) =>
        isExcludedThere(entry, status) || targets.some((target) => isListed(exclusions, target));
    case "restart": {
      const unreachable = unreachableAddresses(status);
      return (entry) =>
        (processes.get(entry.processGroupId) ?? []).some(
          ({ address }) => address !== undefined && !unreachable.has(address),
        );
    }
  }
}

/** A process that reports is not included while its instance believes that it is gone. */
function isRisen({ purpose }: Matter, entry: SetEntry, status: DatabaseStatus): boolean {
  return purpose === "inclusion" && processesByInstance(status).has(entry.processGroupId);
}

/** By its locality, or because all its processes say so. */
function isExcludedThere({ processGroupId }: SetEntry, status: DatabaseStatus): boolean {
  if (exclusionsOf(status).localities.has(instanceLocality(processGroupId))) return true;
  const processes = processesByInstance(status).get(processGroupId) ?? [];
  return processes.length > 0 && processes.every((process) => process.excluded === true);
}

export function isListed(exclusions: Exclusions, target: string): boolean {
  return exclusions.localities.has(target) || exclusions.addresses.has(target);
}
