// What a step that restarts or moves something rests its decision on, or why it cannot decide in this pass. Such a
// step acts alone: one disruptive act at a time, each on a status that shows the act before.
// Rules: spec/restart.md [T7], [T8].
import { locksOf } from "../api/effective.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { describeAction, isDisruptive } from "./action.ts";
import type { DisruptiveAction } from "./action.ts";
import { actRefusal } from "./safety/act-refusal.ts";
import { refusalRemedies } from "./safety/refusal.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";
import { unavailabilityOf } from "./unavailability.ts";
import type { NewWait, WaitReason } from "./wait.ts";

export interface Evidence {
  readonly status: DatabaseStatus;
  readonly evidenceMs: number;
}

export interface Hold {
  readonly reason: WaitReason;
  readonly message: string;
  readonly remedy: string;
  readonly retryAfterMs: number;
}

export const unreachableRemedy =
  "Look at the pods of the coordinators and at `fdbcli --exec 'status details'` in one of them.";

export const calmRemedy =
  "Nothing, when it passes by itself; otherwise look at the status of the database.";

/** A status that shows everything that we did ourselves, of a database that works. */
export function evidenceOf(snapshot: Snapshot, draft: Draft): Evidence | Hold {
  const { database, runningCommand } = snapshot;
  if (runningCommand !== undefined) {
    const message = `The database is asked to ${runningCommand}`;
    return hold("CommandRunning", message, "Nothing: it answers within seconds.", 5_000);
  }
  if (database.kind === "missing") {
    const message = `The database does not answer: ${database.message}`;
    return hold("DatabaseUnreachable", message, unreachableRemedy, 5_000);
  }
  if (database.observedMs <= snapshot.lastDatabaseWriteMs) {
    const message = "The status is older than the last change to the database";
    return hold("StatusOutdated", message, "Nothing: a newer status is being read.", 1_000);
  }
  if (database.status.client?.database_status?.available !== true) {
    const message = `The database is not available: ${unavailabilityOf(database.status)}`;
    return hold("DatabaseUnavailable", message, unreachableRemedy, 2_000);
  }
  const earlier = earlierAct(snapshot, draft);
  if (earlier !== undefined) {
    const message = `Something else comes first: ${earlier}`;
    return hold("ActInFlight", message, "Nothing: one act follows the other.", 1_000);
  }
  return { status: database.status, evidenceMs: database.observedMs };
}

/** Why the guard would refuse the act at this moment, so that nothing is announced that does not happen. */
export function refusalOf(snapshot: Snapshot, action: DisruptiveAction): Hold | undefined {
  const found = actRefusal(snapshot, action);
  if (found === undefined) return undefined;
  const remedy = refusalRemedies[found.reason] ?? calmRemedy;
  return hold(found.reason, sentence(found.message), remedy, 2_000);
}

/** An act that the guard keeps refusing holds nobody back: it does not happen. */
function earlierAct(snapshot: Snapshot, draft: Draft): string | undefined {
  const refused = new Set(snapshot.refusals.map((refusal) => refusal.what));
  const act = draft.actions.find(
    (action) => isDisruptive(action) && !refused.has(describeAction(action)),
  );
  return act && describeAction(act);
}

export function isHold(found: Evidence | Hold): found is Hold {
  return "reason" in found;
}

export function hold(
  reason: WaitReason,
  message: string,
  remedy: string,
  retryAfterMs: number,
): Hold {
  return { reason, message, remedy, retryAfterMs };
}

export function heldWait(step: string, held: Hold, what: string): NewWait {
  return { step, ...held, message: `${what}. ${held.message}`, isForDatabase: true };
}

/** Whether acts of this resource take the lock of the database. */
export function needsLock(snapshot: Snapshot): boolean {
  return locksOf(snapshot.cluster.spec).isEnabled;
}

/** An event tells of a transition, so it comes once and not with every pass that still waits. */
export function isNewWait(snapshot: Snapshot, step: string, reason: WaitReason): boolean {
  return !snapshot.previousWaits.some((wait) => wait.step === step && wait.reason === reason);
}

/** Checks answer with clauses; a wait says them as sentences. */
export function sentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}
