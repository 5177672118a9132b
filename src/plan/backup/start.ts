// Steps startBackup, stopBackup and modifyBackup: what `fdbbackup` has to do so that the database does what the spec says.
// Rules: spec/backup.md [BK36], [BK53]-[BK58].
import { isUnmanaged, tagOf } from "../../api/effective-backup.ts";
import { endCommand, modifyCommand, startCommand } from "../../build/backup-command.ts";
import { maskedUrl } from "../../build/backup-url.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import type { NewWait } from "../wait.ts";
import { destinationResult } from "./destination.ts";
import {
  isOurs,
  isRunning,
  layerOf,
  modificationOf,
  nameOf,
  recordOf,
  shouldRun,
  tagOwner,
  wantedUrl,
} from "./facts.ts";
import { runCommand } from "./run-command.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupStepResult } from "./step.ts";

export function startBackup(snapshot: BackupSnapshot): BackupStepResult {
  const step = "startBackup";
  const { backup } = snapshot;
  const layer = layerOf(snapshot);
  if (isUnmanaged(backup.spec) || layer === undefined || !shouldRun(snapshot)) return nothing;
  const taken = tagTaken(snapshot, step, layer.record);
  if (taken !== undefined) return { waits: [taken], stop: true };
  if (isRunning(layer.record)) return nothing;
  const status = { generations: { needsBackupStart: generationOf(snapshot) } };
  const destination = destinationResult(snapshot, step);
  if (destination !== undefined) return { ...destination, status };
  // A start that succeeds changes the uid, so the next one would be another command.
  const command = startCommand(backup, wantedUrl(snapshot), layer.record?.uid ?? "");
  return { ...runCommand(snapshot, step, command), status };
}

/** One tag is one backup: the resource that was made first has it, and what somebody else runs is not touched. */
function tagTaken(
  snapshot: BackupSnapshot,
  step: string,
  record: BackupRecord | undefined,
): NewWait | undefined {
  const tag = tagOf(snapshot.backup.spec);
  const first = tagOwner(snapshot);
  const isForeign = record !== undefined && isRunning(record) && !isOurs(snapshot, record);
  if (first === undefined && !isForeign) return undefined;
  const who =
    first === undefined
      ? `a backup to ${maskedUrl(record?.url ?? "")} that this resource did not start`
      : `the backup ${nameOf(first)}`;
  return {
    step,
    reason: "BackupTagInUse",
    message: `The tag ${tag} of the database is used by ${who}`,
    remedy:
      first === undefined
        ? `Make the resource anew with another spec.tag, or end the other backup with \`fdbbackup discontinue -t ${tag}\`.`
        : "Make one of the two resources anew with a spec.tag of its own.",
    retryAfterMs: 60_000,
  };
}

export function stopBackup(snapshot: BackupSnapshot): BackupStepResult {
  const step = "stopBackup";
  const { backup } = snapshot;
  const record = recordOf(snapshot);
  if (isUnmanaged(backup.spec) || record === undefined || !isRunning(record)) return nothing;
  if (shouldRun(snapshot) || !isOurs(snapshot, record)) return nothing;
  const status = { generations: { needsBackupStop: generationOf(snapshot) } };
  if (record.stopsWhenDone) {
    const message = "The backup was told to stop, and goes on until it can be restored";
    const remedy = "Nothing: it passes by itself when agents run.";
    const wait: NewWait = { step, reason: "BackupStopping", message, remedy, retryAfterMs: 15_000 };
    return { waits: [wait], status };
  }
  const command = endCommand(backup, "discontinue", record.uid);
  return { ...runCommand(snapshot, step, command), status };
}

export function modifyBackup(snapshot: BackupSnapshot): BackupStepResult {
  const step = "modifyBackup";
  const { backup } = snapshot;
  if (isUnmanaged(backup.spec) || !shouldRun(snapshot)) return nothing;
  const record = recordOf(snapshot);
  const change = modificationOf(snapshot);
  if (record === undefined || change === undefined) return nothing;
  const status = { generations: { needsBackupModification: generationOf(snapshot) } };
  const destination = change.url === undefined ? undefined : destinationResult(snapshot, step);
  if (destination !== undefined) return { ...destination, status };
  // What the database has now is part of it: the same change can be wanted again later.
  const context = [record.uid, record.url, record.snapshotSeconds].join(" ");
  const command = modifyCommand(backup, context, change);
  return { ...runCommand(snapshot, step, command), status };
}

function generationOf({ backup }: BackupSnapshot): number {
  return backup.metadata.generation ?? 0;
}
