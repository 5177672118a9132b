// Who takes part in an act of several instances: process groups that are announced and ready, and those that are
// announced and not ready, compared over what the database shows. What is stored may be old, so that every entry of
// another instance is held against the status. Rules: spec/coordination.md [CO23]-[CO26], [CO40], [CO64], [CO65], [CO70].
import type { StoredEntry } from "../../fdb/coordination-sets.ts";
import type { CoordinationSet, SetEntry } from "../../fdb/keys.ts";
import type { Remembering } from "../../env/memory.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { instanceLocality } from "../../model/process-group-id.ts";
import {
  localityKeys,
  localityOf,
  processesByInstance,
  processesOf,
} from "../../model/locality.ts";
import { exclusionsOf, hasRole } from "../view/exclusion-targets.ts";
import type { Exclusions } from "../view/exclusion-targets.ts";
import { hostOf } from "../../model/address.ts";
import { entryKey, isInScope, seenKey, setsOfPurpose } from "../view/shared-sets.ts";
import type { CoordinationKnowledge, CoordinationSets, Matter } from "../view/shared-sets.ts";
import { unreachableAddresses } from "../view/unreachable-processes.ts";

export interface SharedEntries {
  /** Announced and ready. */
  readonly ready: readonly StoredEntry[];
  /** In one set and not in the other. */
  readonly missing: readonly SetEntry[];
}

/** What entries are held against. */
interface Sight {
  readonly ownPrefix: string;
  readonly exclusions: Exclusions;
  readonly processes: ReadonlyMap<string, readonly StatusProcess[]>;
  readonly unreachable: ReadonlySet<string>;
  /** Ids of the process groups whose processes live at a host. */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>;
}

/** As the instance with this prefix sees it. */
export function sharedEntries(
  view: Remembering,
  matter: Matter,
  sets: CoordinationSets,
  status: DatabaseStatus,
  ownPrefix: string,
): SharedEntries {
  const names = setsOfPurpose[matter.purpose];
  const inScope = (set: CoordinationSet): readonly StoredEntry[] =>
    sets[set].entries.filter(({ processGroupId }) => isInScope(matter, processGroupId));
  const announced = inScope(names.ready);
  const targets = new Map(announced.map((entry) => [entryKey(entry), entry.targets]));
  const sight = sightOf(view, status, ownPrefix);
  const chosen = (entries: readonly StoredEntry[]): StoredEntry[] =>
    entries.filter((entry) =>
      isCompared(matter, { ...entry, targets: targets.get(entryKey(entry)) ?? [] }, sight),
    );
  const pending = chosen(inScope(names.pending));
  const ready = chosen(announced).filter((entry) => isUsable(matter, entry, sight));
  const pendingKeys = new Set(pending.map(entryKey));
  const readyKeys = new Set(ready.map(entryKey));
  const missing = [
    ...pending.filter((entry) => !readyKeys.has(entryKey(entry))),
    ...ready.filter((entry) => !pendingKeys.has(entryKey(entry))),
  ];
  return { ready: ready.filter((entry) => pendingKeys.has(entryKey(entry))), missing };
}

function sightOf(view: Remembering, status: DatabaseStatus, ownPrefix: string): Sight {
  return {
    ...{ ownPrefix, holders: view.memory.once(holdersIn, status) },
    exclusions: exclusionsOf(view, status),
    processes: processesByInstance(view, status),
    unreachable: view.memory.once(unreachableAddresses, status),
  };
}

function holdersIn(status: DatabaseStatus): ReadonlyMap<string, ReadonlySet<string>> {
  const holders = new Map<string, Set<string>>();
  for (const process of processesOf(status)) {
    const host = hostOf(process.address ?? "");
    const ids = holders.get(host) ?? new Set<string>();
    holders.set(host, ids.add(localityOf(process, localityKeys.instance)));
  }
  return holders;
}

/** Exclusions: what is not excluded yet, and lives or is ours. Inclusions: what is excluded. Restarts: what lives. */
function isCompared({ purpose }: Matter, entry: StoredEntry, sight: Sight): boolean {
  const { targets } = entry;
  const isListedTarget = (target: string): boolean => isListed(sight.exclusions, target);
  switch (purpose) {
    case "exclusion":
      if (!isOwn(entry, sight) && !sight.processes.has(entry.processGroupId)) return false;
      if (isNamedByLocality(entry, sight)) return false;
      // Its instance asks for more than a person has excluded, such as one port of an address.
      if (targets.length > 0) return !targets.every(isListedTarget);
      return !isExcludedThere(entry, sight);
    case "inclusion":
      if (!isOwn(entry, sight) && strangersAt(entry, sight).length > 0) return false;
      if (holdsData(entry, sight)) return false;
      return isExcludedThere(entry, sight) || targets.some(isListedTarget);
    case "restart":
      return livingOf(entry, sight).length > 0;
  }
}

/** What is stored still names the process group, and nobody else. Our own entries were looked at in this very pass. */
function isUsable({ purpose }: Matter, entry: StoredEntry, sight: Sight): boolean {
  switch (purpose) {
    case "exclusion":
      return (
        isOwn(entry, sight) || (strangersAt(entry, sight).length === 0 && isCovered(entry, sight))
      );
    case "inclusion":
      // A process that reports is not included while its instance believes that it is gone.
      return !sight.processes.has(entry.processGroupId);
    case "restart":
      return true;
  }
}

function isOwn({ processGroupIdPrefix }: SetEntry, { ownPrefix }: Sight): boolean {
  return processGroupIdPrefix === ownPrefix;
}

/** Targets that mean somebody else: the locality of another process group, or an address that another one has by now. */
function strangersAt({ processGroupId, targets }: StoredEntry, { holders }: Sight): string[] {
  return targets.filter((target) =>
    target.startsWith("locality_")
      ? target !== instanceLocality(processGroupId)
      : [...(holders.get(hostOf(target)) ?? [])].some((id) => id !== processGroupId),
  );
}

/** All processes of the group that live are meant by the targets. */
function isCovered(entry: StoredEntry, sight: Sight): boolean {
  if (entry.targets.includes(instanceLocality(entry.processGroupId))) return true;
  const hosts = new Set(entry.targets.map(hostOf));
  return livingOf(entry, sight).every(({ address = "" }) => hosts.has(hostOf(address)));
}

function livingOf({ processGroupId }: SetEntry, sight: Sight): readonly StatusProcess[] {
  return (sight.processes.get(processGroupId) ?? []).filter(
    ({ address }) => address !== undefined && !sight.unreachable.has(address),
  );
}

/** It may take hours until the database has moved everything away. */
function holdsData(entry: SetEntry, sight: Sight): boolean {
  return livingOf(entry, sight).some((process) => hasRole(process, "storage"));
}

function isNamedByLocality({ processGroupId }: SetEntry, { exclusions }: Sight): boolean {
  return exclusions.localities.has(instanceLocality(processGroupId));
}

/** By its locality, or because all its processes say so. */
function isExcludedThere(entry: SetEntry, sight: Sight): boolean {
  if (isNamedByLocality(entry, sight)) return true;
  const own = sight.processes.get(entry.processGroupId) ?? [];
  return own.length > 0 && own.every((process) => process.excluded === true);
}

export function isListed(exclusions: Exclusions, target: string): boolean {
  return exclusions.localities.has(target) || exclusions.addresses.has(target);
}

// Announcements of a restart that came too late: the process has started since, with all that its pod was given, and
// would be restarted for nothing. Times are those of this instance's clock. Rules: spec/coordination.md [CO71].
/** Nobody becomes ready again so soon after a start, but a transaction of before it may still arrive. */
const lateMs = 20_000;

/** Keys of the entries of other instances; `observedMs` is when the status was asked for. */
export function lateEntries(
  view: Remembering,
  { sets, memory }: CoordinationKnowledge,
  status: DatabaseStatus,
  observedMs: number,
  ownPrefix: string,
): ReadonlySet<string> {
  const processes = processesByInstance(view, status);
  const late = sets.readyForRestart.entries.filter((entry) => {
    const seenMs = memory.firstSeenMs.get(seenKey("readyForRestart", entry));
    const own = processes.get(entry.processGroupId) ?? [];
    if (entry.processGroupIdPrefix === ownPrefix || seenMs === undefined || own.length === 0) {
      return false;
    }
    return own.every(
      ({ uptime_seconds: uptime }) =>
        uptime !== undefined && seenMs < observedMs - uptime * 1000 + lateMs,
    );
  });
  return new Set(late.map(entryKey));
}

/** The sets as if the late ones had not been announced. */
export function withoutLate(sets: CoordinationSets, late: ReadonlySet<string>): CoordinationSets {
  if (late.size === 0) return sets;
  const kept = (set: "pendingForRestart" | "readyForRestart") => ({
    ...sets[set],
    entries: sets[set].entries.filter((entry) => !late.has(entryKey(entry))),
  });
  return {
    ...sets,
    pendingForRestart: kept("pendingForRestart"),
    readyForRestart: kept("readyForRestart"),
  };
}
