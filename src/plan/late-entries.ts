// Announcements of a restart that came too late: the process has started since, with all that its pod was given, and
// would be restarted for nothing. Times are those of this instance's clock. Rules: spec/coordination.md [CO71].
import type { DatabaseStatus } from "../model/database-status.ts";
import { processesByInstance } from "../model/locality.ts";
import { entryKey, seenKey } from "./shared-sets.ts";
import type { CoordinationKnowledge, CoordinationSets } from "./shared-sets.ts";

/** Nobody becomes ready again so soon after a start, but a transaction of before it may still arrive. */
const lateMs = 20_000;

/** Keys of the entries of other instances; `observedMs` is when the status was asked for. */
export function lateEntries(
  { sets, memory }: CoordinationKnowledge,
  status: DatabaseStatus,
  observedMs: number,
  ownPrefix: string,
): ReadonlySet<string> {
  const processes = processesByInstance(status);
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
