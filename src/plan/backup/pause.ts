// Step toggleBackupPaused: agents are paused for a whole database, so all its backups have to agree.
// Rules: spec/backup.md [BK60], [BK62].
import { isUnmanaged } from "../../api/effective-backup.ts";
import { isSameCluster, layerOf, nameOf, shouldBePaused } from "./facts.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupStepResult } from "./step.ts";

const step = "toggleBackupPaused";

export function toggleBackupPaused(snapshot: BackupSnapshot): BackupStepResult {
  const { backup, others } = snapshot;
  const layer = layerOf(snapshot);
  if (isUnmanaged(backup.spec) || layer === undefined) return nothing;
  const wanted = shouldBePaused(backup);
  // A backup that is stopped has no say while others run.
  const other = others.find(
    (each) =>
      isSameCluster(each, backup) &&
      !isUnmanaged(each.spec) &&
      each.metadata.deletionTimestamp === undefined &&
      shouldBePaused(each) !== wanted &&
      each.spec.backupState !== "Stopped",
  );
  if (other !== undefined && backup.spec.backupState !== "Stopped") {
    return { waits: [disputed(snapshot, nameOf(other), wanted)] };
  }
  if (other !== undefined || layer.isPaused === wanted) return nothing;
  const generation = backup.metadata.generation ?? 0;
  return {
    actions: [{ type: "setPaused", step, isPaused: wanted }],
    status: { generations: { needsBackupPauseToggle: generation } },
  };
}

function disputed(
  { backup }: BackupSnapshot,
  other: string,
  wanted: boolean,
): NonNullable<BackupStepResult["waits"]>[number] {
  const [own, theirs] = wanted ? ["Paused", "Running"] : ["Running", "Paused"];
  return {
    step,
    reason: "BackupPauseDisputed",
    message: `${nameOf(backup)} wants ${own} and ${other} wants ${theirs}: agents are paused for the whole database, so nothing is changed`,
    remedy:
      "Set spec.backupState of both backups to the same value, or to Stopped for one of them.",
    retryAfterMs: 60_000,
  };
}
