// What every act of the removal steps asks for first: a status that is there, fresh, complete and newer than our own last
// act; nothing else that goes on or was decided in this pass; and no refusal by the checks of the one door.
// Rules: spec/removal.md [R26].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { describeAction, isDisruptive } from "./action.ts";
import type { DisruptiveAction } from "./action.ts";
import { actRefusal } from "./safety/act-refusal.ts";
import { statusProblem } from "./safety/evidence.ts";
import type { Refusal } from "./safety/refusal.ts";
import { knownDeadAddresses } from "./safety/view.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";

/** Why nothing may be concluded from the status, as a clause; undefined when it may. */
export function statusProblemOf(snapshot: Snapshot): string | undefined {
  return statusProblem(snapshot.database, {
    lastWriteMs: snapshot.lastDatabaseWriteMs,
    nowMs: snapshot.nowMs,
    maximumAgeMs: snapshot.options.evidenceMaximumAgeMs,
    isKnownDead: knownDeadAddresses(snapshot),
  });
}

export function evidenceMsOf(snapshot: Snapshot): number {
  return snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
}

/**
 * Something else changes what an act would rest on, so it is decided again in a later pass. An act that the guard
 * keeps refusing, or that has failed and is to be tried later, does not happen now and holds nobody back.
 */
export function isOccupied(snapshot: Snapshot, draft: Draft): boolean {
  if (snapshot.runningCommand !== undefined) return true;
  const resting = new Set(snapshot.refusals.map((refusal) => refusal.what));
  for (const failure of snapshot.failures) {
    if (failure.retryAtMs > snapshot.nowMs) resting.add(failure.what);
  }
  return draft.actions.some(
    (action) => isDisruptive(action) && !resting.has(describeAction(action)),
  );
}

/** Why the guard would refuse the act, given the process groups as this pass leaves them. */
export function refusalOf(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  action: DisruptiveAction,
): Refusal | undefined {
  const status = { ...snapshot.cluster.status, processGroups: groups };
  return actRefusal({ ...snapshot, cluster: { ...snapshot.cluster, status } }, action);
}
