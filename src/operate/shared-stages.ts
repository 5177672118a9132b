// The way from a decision of several instances to its act, in stages: take the lock, look once more at fresh sets and a
// fresh status, clear the announcements of what is restarted. Each stage is one call to the database or one transaction,
// so that a search can let everything happen between them. Rules: spec/coordination.md [CO33]-[CO37],
// spec/safety.md [S94], [S99].
import { Memory } from "../env/memory.ts";
import type { Clock } from "../env/clock.ts";
import type { AdminClient } from "../fdb/admin.ts";
import { readSets } from "../fdb/coordination-sets.ts";
import { isFdbError } from "../fdb/error.ts";
import { storedSets } from "../fdb/keys.ts";
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
  /** In their order. */
  readonly stages: readonly Stage[];
}

export interface Stage {
  readonly name: "lock" | "sets" | "status" | "clear";
  readonly isNeeded: (action: DisruptiveAction, look: Look) => boolean;
  /** What it adds to the progress, or why the act may not happen. */
  readonly run: (
    tools: StageTools,
    action: DisruptiveAction,
    progress: Progress,
  ) => Promise<Omit<Progress, "stage"> | Refused>;
}

type Look = Pick<StageTools, "statusAskedMs"> & Pick<Progress, "lease">;

/** Each act takes the lock anew, which extends it: so it is never used after somebody else could have it. */
export interface Progress {
  readonly stage: Stage["name"] | "act";
  readonly lease: LockLease | undefined;
  readonly sets?: CoordinationSets;
}

interface Refused {
  readonly stage: "refused";
  readonly refusal: Refusal;
}

export type StageResult = Progress | Refused;

export const sharedStages: readonly Stage[] = [
  { name: "lock", isNeeded: ({ needsLock }) => needsLock, run: takeTheLock },
  // Another instance may have acted before we had the lock.
  { name: "sets", isNeeded: ({ together }) => together !== undefined, run: readTheSets },
  { name: "status", isNeeded: isStatusNeeded, run: lookAtStatus },
  {
    name: "clear",
    isNeeded: ({ type, together }) => type === "killProcesses" && together !== undefined,
    run: clearEntries,
  },
];

export function firstStage(stages: readonly Stage[], action: DisruptiveAction): Progress {
  const look = { lease: undefined, statusAskedMs: () => undefined };
  return { stage: neededStage(stages, action, look), lease: undefined };
}

function neededStage(
  stages: readonly Stage[],
  action: DisruptiveAction,
  look: Look,
): Progress["stage"] {
  return stages.find(({ isNeeded }) => isNeeded(action, look))?.name ?? "act";
}

export async function nextStage(
  tools: StageTools,
  action: DisruptiveAction,
  progress: Progress,
): Promise<StageResult> {
  const index = tools.stages.findIndex(({ name }) => name === progress.stage);
  const stage = tools.stages[index];
  if (stage === undefined) return progress;
  const result = await stage.run(tools, action, progress);
  if ("refusal" in result) return result;
  const look = { lease: result.lease, statusAskedMs: tools.statusAskedMs };
  return { ...result, stage: neededStage(tools.stages.slice(index + 1), action, look) };
}

async function takeTheLock({ keys, settings, clock, timeoutMs }: StageTools) {
  const result = await takeLock(keys, settings, clock);
  if (!result.isHeld) return refused(refusal("LockHeld", lockText(result)));
  if (!hasTimeLeft(result, clock.nowMs(), timeoutMs)) {
    return refused(refusal("LockHeld", "the lock is too short for a command to the database"));
  }
  return { lease: result };
}

async function readTheSets({ keys }: StageTools, _: DisruptiveAction, { lease }: Progress) {
  return { lease, sets: await readSets(keys, storedSets) };
}

/** A status of before we had the lock does not show what another instance did until then. */
function isStatusNeeded({ together }: DisruptiveAction, { lease, statusAskedMs }: Look): boolean {
  if (together !== undefined) return true;
  return lease !== undefined && (statusAskedMs() ?? -Infinity) < lease.heldSinceMs;
}

async function lookAtStatus(
  tools: StageTools,
  action: DisruptiveAction,
  { lease, sets }: Progress,
): Promise<{ lease: LockLease | undefined } | Refused> {
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
      ? sharedActProblem({ memory: new Memory() }, action.together, sets, status)
      : undefined;
  if (problem !== undefined) return refused(refusal("EvidenceStale", problem));
  const found = tools.check(status, observedMs);
  if (found !== undefined) return refused(found);
  return { lease };
}

/** The last transaction before a restart: who is restarted announces nothing any more, whoever it belongs to. */
async function clearEntries(
  { keys, settings, clock }: StageTools,
  { together }: DisruptiveAction,
  { lease }: Progress,
) {
  if (lease === undefined) return refused(refusal("LockHeld", "the lock has not been taken"));
  const entries = together?.entries ?? [];
  const clearance = await clearRestartEntries(keys, entries, lease, settings, clock);
  if (clearance.isCleared) return { lease: clearance.lease };
  if (clearance.reason === "lockLost")
    return refused(refusal("LockHeld", lockText(clearance.lock)));
  const names = clearance.entries.map(({ processGroupId }) => processGroupId).join(", ");
  return refused(refusal("EvidenceStale", `meanwhile not ready: ${names}`));
}

function refused(reason: Refusal): Refused {
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
