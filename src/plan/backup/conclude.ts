// The end of a plan about a backup: conditions, waits and generations of the status. Rules: spec/backup.md [BK85], [BK89].
import { conditionIn } from "../../kube/condition.ts";
import type { BackupStatus } from "../../api/backup.ts";
import {
  agentCountOf,
  isContinuous,
  isUnmanaged,
  retentionOf,
} from "../../api/effective-backup.ts";
import { observedSince } from "../facts.ts";
import { datedConditions } from "../status/status-conditions.ts";
import type { Judgement } from "../status/judgement.ts";
import type { NewWait } from "../wait.ts";
import type { BackupAction } from "./action.ts";
import { behind } from "./behind.ts";
import { drillStep } from "./drill-objects.ts";
import { verified } from "./drill-verdict.ts";
import { expired } from "./expired.ts";
import { gapText, isOpenGap } from "./gap.ts";
import { isUnproven } from "./moved.ts";
import {
  asleepSince,
  isAtRest,
  isRunning,
  layerOf,
  modificationOf,
  ownRecord,
  shouldRun,
} from "./facts.ts";
import { isNoAgentHeard, silentText } from "./observed.ts";
import { pauseWish } from "./pause.ts";
import { versionWait } from "./run-command.ts";
import { hasSucceeded } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupDraft } from "./step.ts";

export type PlannedBackupStatus = Omit<BackupStatus, "blockedBy">;

export interface Conclusion {
  readonly status: PlannedBackupStatus;
  readonly waits: readonly NewWait[];
  readonly isReconciled: boolean;
}

export function concludeBackup(
  snapshot: BackupSnapshot,
  draft: BackupDraft,
  waits: readonly NewWait[],
): Conclusion {
  const { backup, nowMs } = snapshot;
  const generation = backup.metadata.generation ?? 0;
  const isReconciled = isAsWanted(snapshot, draft);
  const agents = areAgentsCurrent(snapshot, draft) ? {} : { needsBackupAgentUpdate: generation };
  const generations = isReconciled
    ? { reconciled: generation }
    : { ...draft.status.generations, ...agents };
  const judgements = {
    Reconciled: reconciled(snapshot, draft, waits, isReconciled),
    Running: running(snapshot),
    Restorable: restorable(snapshot, draft),
    ...(isUnmanaged(backup.spec) ? {} : { Behind: behind(snapshot) ?? last(snapshot, "Behind") }),
    ...(isRetained(snapshot) ? { Expired: expired(snapshot) ?? last(snapshot, "Expired") } : {}),
    ...(backup.spec.verification === undefined ? {} : { Verified: verified(draft.status) }),
  };
  return {
    waits,
    isReconciled,
    status: {
      ...draft.status,
      conditions: datedConditions(backup, nowMs, judgements),
      ...observedSince(draft.facts),
      generations,
    },
  };
}

function isRetained({ backup: { spec } }: BackupSnapshot): boolean {
  return retentionOf(spec) !== undefined && isContinuous(spec) && !isUnmanaged(spec);
}

function areAgentsCurrent({ backup }: BackupSnapshot, { status }: BackupDraft): boolean {
  return status.agentCount === agentCountOf(backup.spec) && status.deploymentConfigured === true;
}

/** Pods of finished commands that go, old data, the map of times and drills are no change of the backup. */
const upkeep: ReadonlySet<string> = new Set([
  "removeCommands",
  "lookBehindGap",
  "lookIntoNewPlace",
  "expireBackup",
  "removeBackupRuns",
  "recordBackupTimes",
  "recordMove",
  "removeDrills",
  drillStep,
]);

function isChange({ step }: BackupAction): boolean {
  return !upkeep.has(step);
}

/** As the Go operator judges it. */
function isAsWanted(snapshot: BackupSnapshot, draft: BackupDraft): boolean {
  const { backup } = snapshot;
  if (draft.actions.some(isChange) || !areAgentsCurrent(snapshot, draft)) return false;
  if (backup.metadata.deletionTimestamp !== undefined) return false;
  if (isUnmanaged(backup.spec)) return true;
  if (asleepSince(snapshot) !== undefined) return isAtRest(snapshot);
  const layer = layerOf(snapshot);
  if (layer === undefined) return false;
  return (
    shouldRun(snapshot) === isRunning(ownRecord(snapshot)) &&
    isPauseAsWanted(snapshot, draft, layer.isPaused) &&
    modificationOf(snapshot) === undefined
  );
}

function isPauseAsWanted(
  snapshot: BackupSnapshot,
  { facts }: BackupDraft,
  isPaused: boolean,
): boolean {
  const wish = pauseWish(snapshot, facts, snapshot.backup);
  return wish === "Either" || (wish === "Paused") === isPaused;
}

function reconciled(
  { backup }: BackupSnapshot,
  { actions }: BackupDraft,
  waits: readonly NewWait[],
  isReconciled: boolean,
): Judgement {
  const generation = backup.metadata.generation ?? 0;
  if (isReconciled) {
    return judge("True", "ReconciliationComplete", `Reconciled generation ${generation}`);
  }
  const [wait] = waits;
  if (wait !== undefined && actions.length === 0) return judge("False", wait.reason, wait.message);
  return judge("False", "Reconciling", `Generation ${generation} is being brought about`);
}

function running(snapshot: BackupSnapshot): Judgement {
  const since = asleepSince(snapshot);
  if (since !== undefined) {
    const text = `The database sleeps: it was stopped at ${since}. The backup goes on when it wakes`;
    return judge("False", "Asleep", text);
  }
  const layer = layerOf(snapshot);
  if (layer === undefined) return last(snapshot, "Running");
  const record = ownRecord(snapshot);
  if (record === undefined) return judge("False", "NeverRan", "The backup was never started");
  if (!isRunning(record)) {
    return judge("False", record.state, `The backup does not run: ${record.state}`);
  }
  if (layer.isPaused) return judge("False", "Paused", "All agents of the database are paused");
  if (isNoAgentHeard(snapshot) === true) return stuck(snapshot);
  return judge("True", record.state, "The backup runs");
}

/** It was started, and nobody works on it. */
function stuck(snapshot: BackupSnapshot): Judgement {
  const mismatch = versionWait(snapshot, "");
  if (mismatch === undefined) return judge("False", "AgentsSilent", silentText);
  return judge("False", "VersionMismatch", `${silentText}. ${mismatch.message}`);
}

const movedText =
  "The backup was moved, and in its new place there is no point yet that can be restored; what was written before lies in the old place";

function restorable(snapshot: BackupSnapshot, { status }: BackupDraft): Judgement {
  const layer = layerOf(snapshot);
  if (layer === undefined) return last(snapshot, "Restorable");
  if (hasSucceeded(status)) return judge("True", "Restorable", "A run can be restored");
  if (isOpenGap(status.gap)) return judge("False", "Gap", gapText(status.gap));
  if (isUnproven(status.moved)) return judge("False", "Moved", movedText);
  if (ownRecord(snapshot)?.restorableTo === undefined) {
    return judge("False", "NotRestorable", "There is no point yet that can be restored");
  }
  return judge("True", "Restorable", "The backup can be restored");
}

/** Who cannot ask says what was found last, as long as there was something. */
function last({ backup }: BackupSnapshot, type: string): Judgement {
  const found = conditionIn(backup.status, type);
  if (found === undefined) return judge("Unknown", "NotAsked", "The database was not asked yet");
  return { status: found.status, reason: found.reason, message: found.message };
}

function judge(status: Judgement["status"], reason: string, message: string): Judgement {
  return { status, reason, message: message.slice(0, 4096) };
}
