// FoundationDB says that all data has all its copies until it has noticed that a storage server is gone for good. Until then
// only the ledger knows of what went without exclusion, and an operator that has just started has none of the one before.
// Rules: spec/safety.md [S45], [S162], [S163].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isTest } from "../../model/process-class.ts";
import { hasReported } from "../../model/process-group.ts";
import type { SafetyView } from "./view.ts";

/** FoundationDB reacts to the loss of a storage server after a minute. */
export const failureReactionMs = 90_000;

/** Why the figures of the database may leave out what was lost before this operator looked, as a clause. */
export function unnoticedLossProblem({
  nowMs,
  watchedSinceMs = nowMs,
  madeConnectionString,
}: Pick<SafetyView, "nowMs" | "watchedSinceMs" | "madeConnectionString">): string | undefined {
  // Of a database that it created itself it knows everything.
  if (madeConnectionString !== undefined) return undefined;
  if (nowMs - watchedSinceMs >= failureReactionMs) return undefined;
  return "the operator has just begun to look, and the database may not have noticed yet what it lost before";
}

/** None of its processes reports, and the database may not have noticed that yet, so it counts on the copies there. */
export function isGoneUnnoticed(
  { nowMs, missingGroups }: Pick<SafetyView, "nowMs" | "missingGroups">,
  group: ProcessGroup,
): boolean {
  const sinceMs = missingGroups?.get(group.processGroupID);
  if (sinceMs === undefined || isTest(group.processClass) || !hasReported(group)) return false;
  return nowMs - sinceMs < failureReactionMs;
}
