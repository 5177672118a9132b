// Step toggleBackupPaused: agents are paused for a whole database, so all its backups have to agree. They may be paused
// while the database is short of its fault tolerance, too. Rules: spec/backup.md [BK60]-[BK64].
import type { FoundationDBBackup } from "../../api/backup.ts";
import { isUnmanaged } from "../../api/effective-backup.ts";
import { lastsFor } from "../facts.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import type { NewWait } from "../wait.ts";
import { isRunning, isSameCluster, layerOf, nameOf, recordOf, tagOwner } from "./facts.ts";
import type { BackupFacts, BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";

const step = "toggleBackupPaused";
/** A process that restarts is no trouble yet. */
const lastingMs = 30_000;

export function toggleBackupPaused(
  snapshot: BackupSnapshot,
  { facts }: BackupDraft,
): BackupStepResult {
  const { backup, others } = snapshot;
  const layer = layerOf(snapshot);
  if (isUnmanaged(backup.spec) || layer === undefined || isDuplicate(snapshot)) return nothing;
  const wish = pauseWish(snapshot, facts, backup);
  const waits = suspension(snapshot, facts);
  if (wish === "Either") return { waits };
  // A backup that is stopped has no say while others run.
  const other = others.find(
    (each) =>
      isSameCluster(each, backup) &&
      !isUnmanaged(each.spec) &&
      each.metadata.deletionTimestamp === undefined &&
      isOpposite(pauseWish(snapshot, facts, each), wish) &&
      !isDuplicate({ backup: each, others: [backup, ...others] }) &&
      each.spec.backupState !== "Stopped",
  );
  if (other !== undefined && backup.spec.backupState !== "Stopped") {
    return { waits: [disputed(snapshot, nameOf(other), wish), ...waits] };
  }
  const isPaused = wish === "Paused";
  if (other !== undefined || layer.isPaused === isPaused) return { waits };
  const generation = backup.metadata.generation ?? 0;
  return {
    actions: isOlderThanWrite(snapshot) ? [] : [{ type: "setPaused", step, isPaused }],
    waits,
    status: { generations: { needsBackupPauseToggle: generation } },
  };
}

/** What was asked for before our own write cannot show it. */
function isOlderThanWrite({ layer, nowMs, pauseWrittenMs = 0 }: BackupSnapshot): boolean {
  // A clock that was set back says nothing about which came first.
  if (layer.kind !== "seen" || pauseWrittenMs > nowMs) return false;
  return layer.observedMs <= pauseWrittenMs;
}

/** Another resource has its tag, and it never had a backup of its own: it has no say. */
function isDuplicate(view: Pick<BackupSnapshot, "backup" | "others">): boolean {
  return (view.backup.status?.backupUID ?? "") === "" && tagOwner(view) !== undefined;
}

export type PauseWish = "Paused" | "Running" | "Either";

/** What a backup wants of the agents: while it is not clear whether the database is whole, they stay as they are. */
export function pauseWish(
  snapshot: BackupSnapshot,
  facts: BackupFacts,
  { metadata, spec }: FoundationDBBackup,
): PauseWish {
  if (spec.backupState === "Paused") return "Paused";
  if (spec.suspendOnUnhealthy !== true || spec.backupState === "Stopped") return "Running";
  const { backup, database } = snapshot;
  if (database === undefined) return "Either";
  if (faultToleranceProblem(database, undefined) === undefined) return "Running";
  const isOwn = metadata.uid === backup.metadata.uid;
  const isLasting = lastsFor(facts.faultToleranceReduced, lastingMs, snapshot.nowMs);
  return isOwn && isLasting && isRunning(recordOf(snapshot)) ? "Paused" : "Either";
}

function isOpposite(left: PauseWish, right: PauseWish): boolean {
  return left !== "Either" && right !== "Either" && left !== right;
}

/** Of a running backup that is to be suspended then; without a status the last finding stands. */
export function isShortOfFaultTolerance(snapshot: BackupSnapshot): boolean | "unknown" {
  const { backup, database, layer } = snapshot;
  const { suspendOnUnhealthy, backupState } = backup.spec;
  if (suspendOnUnhealthy !== true || backupState === "Paused" || backupState === "Stopped") {
    return false;
  }
  if (layer.kind === "missing" || database === undefined) return "unknown";
  return isRunning(layer.layer.record) && faultToleranceProblem(database, undefined) !== undefined;
}

function suspension(snapshot: BackupSnapshot, facts: BackupFacts): NewWait[] {
  const { database } = snapshot;
  if (facts.faultToleranceReduced === undefined || !isRunning(recordOf(snapshot))) return [];
  const problem = database && faultToleranceProblem(database, undefined);
  const isPaused = layerOf(snapshot)?.isPaused === true;
  // Without a status nothing changes: what was told stands while the agents are paused.
  if (problem === undefined && !isPaused) return [];
  const why = problem ?? "the database does not show its status";
  return [
    {
      step,
      reason: "BackupSuspended",
      message: isPaused
        ? `All agents of the database are paused while it is short of its fault tolerance: ${why}`
        : `All agents of the database are paused if this lasts half a minute: ${why}`,
      remedy:
        "Nothing if the database repairs itself: the agents go on then. To back up all the same, set spec.suspendOnUnhealthy to false.",
      retryAfterMs: 10_000,
    },
  ];
}

function disputed({ backup }: BackupSnapshot, other: string, wish: PauseWish): NewWait {
  const [own, theirs] = wish === "Paused" ? ["Paused", "Running"] : ["Running", "Paused"];
  return {
    step,
    reason: "BackupPauseDisputed",
    message: `${nameOf(backup)} wants ${own} and ${other} wants ${theirs}: agents are paused for the whole database, so nothing is changed`,
    remedy:
      "Set spec.backupState and spec.suspendOnUnhealthy of both backups to the same values, or spec.backupState to Stopped for one of them.",
    retryAfterMs: 60_000,
  };
}

/** The agents are paused for the sake of this backup alone: nobody would resume them after it. */
export function isSuspended(snapshot: BackupSnapshot): boolean {
  const { backup, others } = snapshot;
  const { suspendOnUnhealthy, backupState = "Running" } = backup.spec;
  if (suspendOnUnhealthy !== true || backupState !== "Running") return false;
  if (layerOf(snapshot)?.isPaused !== true) return false;
  return !others.some(
    (other) =>
      isSameCluster(other, backup) &&
      (other.spec.suspendOnUnhealthy === true || other.spec.backupState === "Paused"),
  );
}
