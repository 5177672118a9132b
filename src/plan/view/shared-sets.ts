// What this instance has seen of the coordination sets of all instances, and since when they have been as they are. Times
// are those of its own clock, from its own looks: no clock of another instance takes part.
// Rules: spec/coordination.md [CO20]-[CO22].
import { isGlobalMode } from "../../api/effective.ts";
import type { SetContents } from "../../fdb/coordination-sets.ts";
import { storedSets } from "../../fdb/keys.ts";
import type { CoordinationSet, SetEntry, StoredSet } from "../../fdb/keys.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { isTransactionSystem } from "../../model/process-class.ts";
import { parseProcessGroupId } from "../../model/process-group-id.ts";
import type { Snapshot } from "../snapshot.ts";
import type { StatusFields } from "../step.ts";

export type CoordinationSets = Readonly<Record<CoordinationSet, SetContents>> & {
  /** Written by the Go operator alone. */
  readonly processAddresses?: SetContents;
};

/** What is judged together: process groups of one kind, for one purpose. */
export interface Matter {
  readonly purpose: "exclusion" | "inclusion" | "restart";
  readonly scope: "storage" | "transaction" | "all";
}

export interface SetMemory {
  /** When each entry was seen first, by set, prefix and process group. */
  readonly firstSeenMs: ReadonlyMap<string, number>;
  /** By matter: what the two sets held at the last look, and since when every look has found just that. */
  readonly unchanged: ReadonlyMap<string, { readonly text: string; readonly sinceMs: number }>;
}

export interface CoordinationKnowledge {
  readonly sets: CoordinationSets;
  /** The maintenance windows that instances announced, by prefix. */
  readonly windows?: ReadonlyMap<string, string>;
  /** The fault domains in which they have fenced process groups, by prefix. */
  readonly fences?: ReadonlyMap<string, string>;
  /** When the sets were asked for. */
  readonly observedMs: number;
  readonly memory: SetMemory;
}

export const nothingSeen: SetMemory = { firstSeenMs: new Map(), unchanged: new Map() };

export const matters: readonly Matter[] = [
  { purpose: "exclusion", scope: "storage" },
  { purpose: "exclusion", scope: "transaction" },
  { purpose: "inclusion", scope: "storage" },
  { purpose: "inclusion", scope: "transaction" },
  { purpose: "restart", scope: "all" },
];

export const setsOfPurpose = {
  exclusion: { pending: "pendingForExclusion", ready: "readyForExclusion" },
  inclusion: { pending: "pendingForInclusion", ready: "readyForInclusion" },
  restart: { pending: "pendingForRestart", ready: "readyForRestart" },
} as const satisfies Record<Matter["purpose"], Record<"pending" | "ready", CoordinationSet>>;

/** Classes of the transaction system are one scope, since each exclusion of one of them costs a recovery. */
export function scopeOf(processGroupId: string): "storage" | "transaction" {
  const processClass = parseProcessGroupId(processGroupId)?.processClass ?? "";
  return isTransactionSystem(processClass) ? "transaction" : "storage";
}

export function isInScope({ scope }: Matter, processGroupId: string): boolean {
  return scope === "all" || scope === scopeOf(processGroupId);
}

export function matterKey({ purpose, scope }: Matter): string {
  return `${purpose}/${scope}`;
}

export function entryKey(entry: SetEntry): string {
  return `${entry.processGroupIdPrefix}/${entry.processGroupId}`;
}

export function seenKey(set: StoredSet, entry: SetEntry): string {
  return `${set}/${entryKey(entry)}`;
}

/** The memory after one more look. */
export function rememberSets(
  before: SetMemory,
  sets: CoordinationSets,
  observedMs: number,
): SetMemory {
  const firstSeenMs = new Map<string, number>();
  for (const set of storedSets) {
    const { entries = [], foreign = [] } = sets[set] ?? {};
    for (const entry of [...entries, ...foreign]) {
      const key = seenKey(set, entry);
      firstSeenMs.set(key, before.firstSeenMs.get(key) ?? observedMs);
    }
  }
  const unchanged = new Map<string, { text: string; sinceMs: number }>();
  for (const matter of matters) {
    const key = matterKey(matter);
    const text = textOf(sets, matter);
    const known = before.unchanged.get(key);
    unchanged.set(key, known?.text === text ? known : { text, sinceMs: observedMs });
  }
  return { firstSeenMs, unchanged };
}

function textOf(sets: CoordinationSets, matter: Matter): string {
  const { pending, ready } = setsOfPurpose[matter.purpose];
  const lists = [pending, ready].map((set) =>
    sets[set].entries
      .filter(({ processGroupId }) => isInScope(matter, processGroupId))
      .map((entry) => `${entryKey(entry)}=${entry.targets.join(",")}`)
      .sort(),
  );
  return JSON.stringify(lists);
}

/** Global mode is in force once the database is configured. */
export function isGlobal(snapshot: Pick<Snapshot, "cluster">, status: StatusFields): boolean {
  return isGlobalMode(snapshot.cluster.spec) && status.configured === true;
}

export function ownPrefixOf(snapshot: Pick<Snapshot, "cluster">): string {
  return snapshot.cluster.spec.processGroupIDPrefix ?? "";
}

/** What was read too long ago says nothing about the present. */
export function coordinationOf(
  snapshot: Pick<Snapshot, "knowledge" | "nowMs" | "options">,
): CoordinationKnowledge | undefined {
  const { coordination: known } = snapshot.knowledge;
  const isOld =
    known !== undefined && snapshot.nowMs - known.observedMs > snapshot.options.statusMaximumAgeMs;
  return isOld ? undefined : known;
}

/** Process groups that some instance wants to remove; none in local mode. */
export function leavingAnywhere(
  snapshot: Pick<Snapshot, "cluster" | "knowledge" | "nowMs" | "options">,
  status: StatusFields,
): readonly string[] {
  if (!isGlobal(snapshot, status)) return [];
  const entries = coordinationOf(snapshot)?.sets.pendingForRemoval.entries ?? [];
  return entries.map(({ processGroupId }) => processGroupId);
}

/** Entries that no instance of this operator wrote, but for those under our own prefix, which we overwrite. */
export function foreignEntries(sets: CoordinationSets, ownPrefix: string): readonly SetEntry[] {
  return storedSets.flatMap((set) =>
    (sets[set]?.foreign ?? []).filter(
      ({ processGroupIdPrefix }) => processGroupIdPrefix !== ownPrefix,
    ),
  );
}

/** Instances that are gone announce nothing any more, whatever they left. */
export function livingPrefixes({
  database,
  memory,
}: Pick<Snapshot, "database" | "memory">): ReadonlySet<string> {
  const processes = memory.once(processesOf, database.kind === "seen" ? database.status : {});
  return new Set(
    processes.flatMap((process) => {
      const id = parseProcessGroupId(localityOf(process, localityKeys.instance));
      return id === undefined ? [] : [id.prefix];
    }),
  );
}
