// The ordered list of steps for a backup, under the names by which people know them, and the function that runs a snapshot
// through it. Rules: spec/backup.md [BK31].
import { append } from "../../env/long-lists.ts";
import type { BackupStatus } from "../../api/backup.ts";
import type { PlanEvent } from "../step.ts";
import { datedFacts } from "../facts.ts";
import type { NewWait } from "../wait.ts";
import { describeBackupAction } from "./action.ts";
import type { BackupAction } from "./action.ts";
import { updateBackupAgents } from "./agents.ts";
import { concludeBackup } from "./conclude.ts";
import type { PlannedBackupStatus } from "./conclude.ts";
import { deleteBackup } from "./deletion.ts";
import { expireBackup } from "./expiry.ts";
import { asleepSince, ownRecord } from "./facts.ts";
import { removeDrills } from "./drill-objects.ts";
import { followDrills } from "./drill-schedule.ts";
import { verifyBackup } from "./drill.ts";
import { failureWaits, withoutFailed } from "./failed-actions.ts";
import { areAgentsSilent, updateBackupStatus } from "./observed.ts";
import { isShortOfFaultTolerance, toggleBackupPaused } from "./pause.ts";
import { lookBehindGap } from "./gap.ts";
import { inItsPlace, isElsewhere, isUnproven, lookIntoNewPlace, movedOf } from "./moved.ts";
import { removeCommands } from "./remove-commands.ts";
import { removeBackupRuns } from "./remove-runs.ts";
import { followSchedule } from "./schedule.ts";
import type { BackupFacts, BackupSnapshot, FiguresWish, TimesWish } from "./snapshot.ts";
import { modifyBackup, startBackup, stopBackup } from "./start.ts";
import type { BackupDraft, BackupStep } from "./step.ts";
import { recordMove } from "./kept-move.ts";
import { recordBackupTimes } from "./times.ts";

const chain: readonly BackupStep[] = [
  // What agents and database show.
  { name: "updateBackupStatus", run: updateBackupStatus },
  // Pods of commands that ended are kept for a while.
  { name: "removeCommands", run: (snapshot) => removeCommands(snapshot) },
  // What drills have made and do not need any more.
  { name: "removeDrills", run: removeDrills },
  // The finalizer, and all that a deletion asks for.
  { name: "deleteBackup", run: deleteBackup },
  // The Deployment of the agents.
  { name: "updateBackupAgents", run: updateBackupAgents },
  { name: "startBackup", run: startBackup },
  { name: "stopBackup", run: stopBackup },
  { name: "toggleBackupPaused", run: toggleBackupPaused },
  { name: "modifyBackup", run: modifyBackup },
  // Whether what is written behind a gap can be restored.
  { name: "lookBehindGap", run: lookBehindGap },
  // Whether a backup that was moved can be restored from its new place.
  { name: "lookIntoNewPlace", run: lookIntoNewPlace },
  // What is older than the retention goes.
  { name: "expireBackup", run: expireBackup },
  // What a schedule does not keep goes.
  { name: "removeBackupRuns", run: removeBackupRuns },
  // Which version the database had at which time.
  { name: "recordBackupTimes", run: recordBackupTimes },
  // That it was moved, where a lost status does not lose it.
  { name: "recordMove", run: recordMove },
  // Whether it can be restored is tried.
  { name: "verifyBackup", run: verifyBackup },
];

export interface BackupPlan {
  readonly actions: readonly BackupAction[];
  /** For people. */
  readonly waits: readonly NewWait[];
  readonly events: readonly PlanEvent[];
  /** All but blockedBy, which tells since when each wait lasts. */
  readonly status: PlannedBackupStatus;
  /** What the next pass has to know. */
  readonly facts: BackupFacts;
  readonly isReconciled: boolean;
  /** All that the steps asked for, also what rests after a failure. */
  readonly wanted: readonly string[];
  /** Pods of ended commands whose output the next plan wants to see. */
  readonly reads: readonly string[];
  /** What the next plan wants to see of the record of times and versions. */
  readonly times: TimesWish | undefined;
  /** The database whose figures the next plan wants to see. */
  readonly figures: FiguresWish | undefined;
}

export function planBackup(given: BackupSnapshot): BackupPlan {
  const { snapshot, result: followed } = followSchedule(inItsPlace(given));
  const drills = followDrills(snapshot);
  const events: PlanEvent[] = [...(followed.events ?? []), ...(drills.events ?? [])];
  const actions: BackupAction[] = [];
  const reads: string[] = [];
  const waits: NewWait[] = failureWaits(snapshot);
  let times: TimesWish | undefined;
  let figures: FiguresWish | undefined;
  const scheduled = mergedStatus(startingStatus(snapshot), followed.status);
  const status = mergedStatus(scheduled, drills.status);
  const findings = {
    agentsSilent: areAgentsSilent(snapshot),
    faultToleranceReduced: isShortOfFaultTolerance(snapshot),
  };
  const facts = datedFacts(snapshot.facts, findings, snapshot.nowMs);
  let draft: BackupDraft = { status, facts, actions };
  for (const { run } of chain) {
    const result = run(snapshot, draft);
    append(actions, withoutSecondCommand(actions, result.actions ?? []));
    append(waits, result.waits ?? []);
    append(events, result.events ?? []);
    append(reads, result.reads ?? []);
    times ??= result.times;
    figures ??= result.figures;
    draft = { ...draft, status: mergedStatus(draft.status, result.status) };
    if (result.stop === true) break;
  }
  const wanted = actions.map(describeBackupAction);
  const due = withoutFailed(snapshot, actions);
  const conclusion = concludeBackup(snapshot, draft, waits);
  return { actions: due, wanted, reads, times, figures, events, facts, ...conclusion };
}

/** One command at a time: that of a later step waits until the pod of the earlier one has ended. */
function withoutSecondCommand(
  planned: readonly BackupAction[],
  added: readonly BackupAction[],
): readonly BackupAction[] {
  const isCommand = ({ type }: BackupAction): boolean => type === "createCommand";
  return planned.some(isCommand) ? added.filter((action) => !isCommand(action)) : added;
}

/** What is not seen anew stays as it was last seen. How a running backup goes on ends with it. */
function startingStatus(seen: BackupSnapshot): BackupStatus {
  const { backup, layer } = seen;
  const { status = {} } = backup;
  const { conditions: _c, blockedBy: _b, observedSince: _o, generations, ...kept } = status;
  const { lag, snapshot, gap, moved, restorable, verification: _v, drill: _d, ...lasting } = kept;
  const reconciled = generations?.reconciled;
  const isAsleep = asleepSince(seen) !== undefined;
  const pace = isAsleep ? {} : { ...(lag && { lag }), ...(snapshot && { snapshot }) };
  const going = { ...pace, ...(gap && { gap }), ...(moved && { moved }) };
  // The window of the old place is not that of the new one.
  const record = ownRecord(seen);
  const hasMoved =
    record !== undefined && (isUnproven(movedOf(seen, record)) || isElsewhere(seen, record));
  return {
    ...lasting,
    ...(restorable && !hasMoved && { restorable }),
    ...(layer.kind === "seen" ? {} : going),
    generations: reconciled === undefined ? {} : { reconciled },
  };
}

function mergedStatus(before: BackupStatus, more: Partial<BackupStatus> = {}): BackupStatus {
  return { ...before, ...more, generations: { ...before.generations, ...more.generations } };
}
