// What a step rests a disruptive act on, or why it cannot decide in this pass: a status that is there and shows our own
// last act, nothing that runs or was decided before it in the same pass, and no refusal by the checks of the one door.
// Rules: spec/restart.md [T7], [T8], spec/removal.md [R26].
import { isAvailable } from "../../model/availability.ts";
import { remedyOf } from "../reasons/registry.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { locksOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { actionKey } from "../action-key.ts";
import { isDisruptive } from "../action.ts";
import { describeAction } from "../describe-action.ts";
import type { DisruptiveAction } from "../action.ts";
import { hold, sentence } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { silenceOf, unavailabilityOf } from "../view/unavailability.ts";
import type { Snapshot } from "../snapshot.ts";
import { withGroups } from "../view/cluster-view.ts";
import type { Draft } from "../step.ts";
import { actRefusal } from "./act-refusal.ts";
import { statusProblem } from "./evidence.ts";
import type { Refusal } from "./refusal.ts";
import { knownDeadAddresses } from "./view.ts";

export interface Evidence {
  readonly status: DatabaseStatus;
  readonly evidenceMs: number;
}

/** A status that shows everything that we did ourselves, of a database that works. */
export function evidenceOf(snapshot: Snapshot, draft: Draft): Evidence | Hold {
  const { database, runningCommand } = snapshot;
  if (runningCommand !== undefined) {
    const message = `The database is asked to ${runningCommand}`;
    return hold("CommandRunning", message, remedyOf("CommandRunning"), 5_000);
  }
  if (database.kind === "missing") {
    const { reason, clause, remedy } = silenceOf(database);
    return hold(reason, sentence(clause), remedy, 5_000);
  }
  if (database.observedMs <= snapshot.lastDatabaseWriteMs) {
    const message = "The status is older than the last change to the database";
    return hold("StatusOutdated", message, remedyOf("StatusOutdated"), 1_000);
  }
  if (!isAvailable(database.status)) {
    const message = `The database is not available: ${unavailabilityOf(database.status)}`;
    return hold("DatabaseUnavailable", message, remedyOf("DatabaseUnavailable"), 2_000);
  }
  const earlier = earlierAct(snapshot, draft);
  if (earlier !== undefined) {
    const message = `Something else comes first: ${earlier}`;
    return hold("ActInFlight", message, "Nothing: one act follows the other.", 1_000);
  }
  return { status: database.status, evidenceMs: database.observedMs };
}

/** Why nothing may be concluded from the status, as a clause; undefined when it may. */
export function statusProblemOf(snapshot: Snapshot): string | undefined {
  return statusProblem(snapshot.database, {
    lastWriteMs: snapshot.lastDatabaseWriteMs,
    nowMs: snapshot.nowMs,
    maximumAgeMs: snapshot.options.evidenceMaximumAgeMs,
    isKnownDead: knownDeadAddresses(snapshot),
    memory: snapshot.memory,
  });
}

export function evidenceMsOf(snapshot: Snapshot): number {
  return snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
}

/** Something else changes what an act would rest on, so it is decided again in a later pass. */
export function isOccupied(snapshot: Snapshot, draft: Draft): boolean {
  return snapshot.runningCommand !== undefined || earlierAct(snapshot, draft) !== undefined;
}

/**
 * An act that the guard keeps refusing, or that has failed and is to be tried later, does not happen now and holds
 * nobody back.
 */
function earlierAct(snapshot: Snapshot, draft: Draft): string | undefined {
  const acts = draft.actions.filter(isDisruptive);
  if (acts.length === 0) return undefined;
  const resting = new Set(snapshot.refusals.map(({ key }) => key));
  for (const failure of snapshot.failures) {
    if (failure.retryAtMs > snapshot.nowMs) resting.add(failure.key);
  }
  const first = acts.find((act) => !resting.has(actionKey(act)));
  return first && describeAction(first);
}

/**
 * Why the guard would refuse the act at this moment, given the process groups as this pass leaves them, so that nothing
 * is announced that does not happen.
 */
export function refusalOf(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  action: DisruptiveAction,
): Refusal | undefined {
  return actRefusal(withGroups(snapshot, groups), action);
}

/** Whether acts of this resource take the lock of the database. */
export function needsLock(snapshot: Snapshot): boolean {
  return locksOf(snapshot.cluster.spec).isEnabled;
}
