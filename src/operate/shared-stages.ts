// The way from a decision of several instances to its act, in stages: take the lock, look once more at fresh sets and a
// fresh status, clear the announcements of what is restarted. Each stage is one call to the database or one transaction,
// so that a search can let everything happen between them. Rules: spec/coordination.md [CO33]-[CO37],
// spec/safety.md [S94], [S99].
import type { Clock } from "../env/clock.ts";
import type { AdminClient } from "../fdb/admin.ts";
import { readSets, updateSets } from "../fdb/coordination-sets.ts";
import type { EntryUpdate } from "../fdb/coordination-sets.ts";
import { isFdbError } from "../fdb/error.ts";
import { storedSets } from "../fdb/keys.ts";
import type { SetEntry } from "../fdb/keys.ts";
import { hasTimeLeft, takeLock } from "../fdb/lock.ts";
import type { LockLease, LockRefusal, LockSettings } from "../fdb/lock.ts";
import { clearRestartEntries } from "../fdb/restart-entries.ts";
import type { SharedKeys } from "../fdb/shared-keys.ts";
import { formatTime } from "../kube/time.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { DisruptiveAction } from "../plan/action.ts";
import { refusal } from "../plan/safety/refusal.ts";
import type { Refusal } from "../plan/safety/refusal.ts";
import { sharedActProblem } from "../plan/coordination/shared-act.ts";
import type { CoordinationSets } from "../plan/view/shared-sets.ts";
import type { SafetyCheck } from "../plan/snapshot.ts";

export interface StageTools {
  readonly keys: SharedKeys;
  readonly settings: LockSettings;
  readonly clock: Pick<Clock, "nowMs">;
  readonly admin: Pick<AdminClient, "status">;
  readonly timeoutMs: number;
  /** Of a status. */
  readonly statusTimeoutMs: number;
  /** When the newest status that is known was asked for. */
  readonly statusAskedMs: () => number | undefined;
  /** The checks of one instance on a status of just now. */
  readonly check: (status: DatabaseStatus, observedMs: number) => Refusal | undefined;
  /** Only tests switch checks off. */
  readonly disabled: ReadonlySet<SafetyCheck>;
}

/** Each act takes the lock anew, which extends it: so it is never used after somebody else could have it. */
export interface Progress {
  readonly stage: "lock" | "sets" | "status" | "clear" | "act";
  readonly lease: LockLease | undefined;
  readonly sets?: CoordinationSets;
}

export const firstStage: Progress = { stage: "lock", lease: undefined };

export type StageResult = Progress | { readonly stage: "refused"; readonly refusal: Refusal };

export async function nextStage(
  tools: StageTools,
  action: DisruptiveAction,
  progress: Progress,
): Promise<StageResult> {
  const { disabled } = tools;
  switch (progress.stage) {
    case "lock": {
      if (!action.needsLock || disabled.has("lock"))
        return { ...progress, stage: lookStage(tools, action, undefined) };
      const result = await takeLock(tools.keys, tools.settings, tools.clock);
      if (!result.isHeld) return refused(refusal("LockHeld", lockText(result)));
      if (!hasTimeLeft(result, tools.clock.nowMs(), tools.timeoutMs)) {
        return refused(refusal("LockHeld", "the lock is too short for a command to the database"));
      }
      return { stage: lookStage(tools, action, result), lease: result };
    }
    case "sets":
      return { ...progress, stage: "status", sets: await readSets(tools.keys, storedSets) };
    case "status":
      return lookAtStatus(tools, action, progress);
    case "clear":
      return clearEntries(tools, action.together?.entries ?? [], progress);
    case "act":
      return progress;
  }
}

/** What has to be looked at again, since another instance may have acted before we had the lock. */
function lookStage(
  { disabled, statusAskedMs }: StageTools,
  action: DisruptiveAction,
  lease: LockLease | undefined,
): Progress["stage"] {
  if (action.together === undefined) {
    const isKnown = lease === undefined || (statusAskedMs() ?? -Infinity) >= lease.heldSinceMs;
    return isKnown || disabled.has("freshLook") ? "act" : "status";
  }
  return disabled.has("freshLook") ? clearStage(disabled, action) : "sets";
}

function clearStage(
  disabled: ReadonlySet<SafetyCheck>,
  { type, together }: DisruptiveAction,
): Progress["stage"] {
  const isNeeded = type === "killProcesses" && together !== undefined;
  return isNeeded && !disabled.has("clearBeforeKill") ? "clear" : "act";
}

async function lookAtStatus(
  tools: StageTools,
  action: DisruptiveAction,
  { lease, sets }: Progress,
): Promise<StageResult> {
  // The time of the question, so that it is never taken for newer than it is.
  const observedMs = tools.clock.nowMs();
  let status: DatabaseStatus;
  try {
    status = await tools.admin.status(tools.statusTimeoutMs);
  } catch (error) {
    if (!isFdbError(error)) throw error;
    const message = `the database does not answer: ${error.message}`;
    return refused(refusal("DatabaseUnreachable", message));
  }
  const problem =
    sets !== undefined && action.together !== undefined
      ? sharedActProblem(action.together, sets, status)
      : undefined;
  if (problem !== undefined) return refused(refusal("EvidenceStale", problem));
  const found = tools.check(status, observedMs);
  if (found !== undefined) return refused(found);
  return { stage: clearStage(tools.disabled, action), lease };
}

/** The last transaction before a restart: who is restarted announces nothing any more, whoever it belongs to. */
async function clearEntries(
  { keys, settings, clock }: StageTools,
  entries: readonly SetEntry[],
  progress: Progress,
): Promise<StageResult> {
  const { lease } = progress;
  if (lease === undefined) {
    await clearWithoutLock(keys, entries);
    return { stage: "act", lease };
  }
  const clearance = await clearRestartEntries(keys, entries, lease, settings, clock);
  if (clearance.isCleared) return { stage: "act", lease: clearance.lease };
  if (clearance.reason === "lockLost")
    return refused(refusal("LockHeld", lockText(clearance.lock)));
  const names = clearance.entries.map(({ processGroupId }) => processGroupId).join(", ");
  return refused(refusal("EvidenceStale", `meanwhile not ready: ${names}`));
}

/** Only when a test has switched the lock off. */
async function clearWithoutLock(keys: SharedKeys, entries: readonly SetEntry[]): Promise<void> {
  for (const prefix of new Set(entries.map((entry) => entry.processGroupIdPrefix))) {
    const ids = entries
      .filter((entry) => entry.processGroupIdPrefix === prefix)
      .map((entry): [string, EntryUpdate] => [entry.processGroupId, { action: "delete" }]);
    const updates = new Map(ids);
    await updateSets(keys, prefix, { pendingForRestart: updates, readyForRestart: updates });
  }
}

function refused(reason: Refusal): StageResult {
  return { stage: "refused", refusal: reason };
}

function lockText(lock: LockRefusal): string {
  if (lock.reason === "ownerDenied") return "this instance is on the deny list of the database";
  const owner = lock.owner === "" ? "an instance without a prefix" : `"${lock.owner ?? "nobody"}"`;
  const until =
    lock.untilMs === undefined
      ? ""
      : `; unless it is renewed, it is taken over at ${formatTime(lock.untilMs)}`;
  return `the lock of the database is held by ${owner}${until}`;
}
