// When several instances may act as one: every announced process group is ready, and the sets have stayed as they are
// for a while, so that nobody who was about to announce is left behind. Rules: spec/coordination.md [CO20]-[CO32].
import type { Remembering } from "../../env/memory.ts";
import { leastOf } from "../../env/long-lists.ts";
import type { StoredEntry } from "../../fdb/coordination-sets.ts";
import type { SetEntry } from "../../fdb/keys.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { sharedEntries } from "./shared-entries.ts";
import { matterKey, seenKey, setsOfPurpose } from "../view/shared-sets.ts";
import type { CoordinationKnowledge, Matter } from "../view/shared-sets.ts";
import type { PlanOptions } from "../snapshot.ts";

export type SharedVerdict =
  /** Nothing of this instance is ready. */
  | { readonly kind: "idle" }
  | { readonly kind: "waiting"; readonly missing: readonly SetEntry[]; readonly untilMs: number }
  | { readonly kind: "settling"; readonly remainingMs: number }
  /** `isOverdue`: others are announced and have not become ready for so long that nobody waits. */
  | {
      readonly kind: "agreed";
      readonly entries: readonly StoredEntry[];
      readonly isOverdue: boolean;
    };

/** How long after a process became ready an exclusion goes ahead without those that are not. */
export function patienceMs({ globalSynchronizationWaitMs: waitMs }: PlanOptions): number {
  return Math.max(5 * waitMs, 5 * 60_000);
}

export function sharedVerdict(
  view: Remembering,
  matter: Matter,
  { sets, observedMs, memory }: CoordinationKnowledge,
  status: DatabaseStatus,
  ownPrefix: string,
  options: PlanOptions,
): SharedVerdict {
  const { ready, missing } = sharedEntries(view, matter, sets, status, ownPrefix);
  const isOurs = ready.some(({ processGroupIdPrefix }) => processGroupIdPrefix === ownPrefix);
  if (!isOurs) return { kind: "idle" };
  if (missing.length > 0) {
    // A restart costs everybody a recovery and an inclusion hurts nobody by being late: they wait for ever.
    if (matter.purpose !== "exclusion") return { kind: "waiting", missing, untilMs: Infinity };
    const set = setsOfPurpose[matter.purpose].ready;
    const seen = ready.map((entry) => memory.firstSeenMs.get(seenKey(set, entry)) ?? observedMs);
    const untilMs = leastOf(seen) + patienceMs(options);
    if (observedMs < untilMs) return { kind: "waiting", missing, untilMs };
    return { kind: "agreed", entries: ready, isOverdue: true };
  }
  const sinceMs = memory.unchanged.get(matterKey(matter))?.sinceMs ?? observedMs;
  const remainingMs = sinceMs + options.globalSynchronizationWaitMs - observedMs;
  if (remainingMs > 0) return { kind: "settling", remainingMs };
  return { kind: "agreed", entries: ready, isOverdue: false };
}
