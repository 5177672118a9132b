// Whether the data of a backup is the only one of its database that can be restored, by what the database and the store say: such
// data goes only when somebody has said so. Rules: spec/backup.md [BK71], [BK76].
import type { FoundationDBBackup } from "../../api/backup.ts";
import { placeOfUrl } from "../../build/backup-url.ts";
import type { NewWait } from "../wait.ts";
import { placeOf, placesOf, runUrlsOf } from "./destination.ts";
import { isOurs, isRestorable, isSameCluster, nameOf, recordOf } from "./facts.ts";
import { mayBeRestored } from "./moved.ts";
import { isMissing } from "./remove-runs.ts";
import { hasSucceeded } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";
import { lookIntoStore } from "./store-look.ts";

export const deleteLastAnnotation = "foundationdb.org/delete-last-backup";

const step = "deleteBackup";

/** Why the data must stay, as the database tells; undefined when it may go, or the database does not know. */
export function lastRefusal(snapshot: BackupSnapshot): NewWait | undefined {
  return mayGoAlthoughLast(snapshot) || !wasRestorable(snapshot)
    ? undefined
    : lastWait(snapshot.backup);
}

/** It was said so, or there is another one that can be restored. */
function mayGoAlthoughLast({ backup, others }: BackupSnapshot): boolean {
  const { name = "", annotations = {} } = backup.metadata;
  return (
    annotations[deleteLastAnnotation] === name ||
    others.some(
      (other) =>
        isSameCluster(other, backup) &&
        liesElsewhere(other, backup) &&
        other.status?.backupDetails?.restorable === true &&
        other.metadata.deletionTimestamp === undefined,
    )
  );
}

/**
 * By its spec and by what it shows: an unmanaged one may show the very backup that is to go, and one whose spec names a new place
 * may still lie where this one does.
 */
function liesElsewhere(other: FoundationDBBackup, backup: FoundationDBBackup): boolean {
  const own = new Set([placeOf(backup), ...runUrlsOf(backup).map(placeOfUrl)]);
  return placesOf(other).every((place) => !own.has(place));
}

export const keepText =
  "To keep the data and let the resource go: set spec.deletionPolicy to stop.";

/** What is wrong with the store may stay so: whoever waits for it learns how to go on without it. */
export function withWayOut(result: BackupStepResult, way: string): BackupStepResult {
  const waits = (result.waits ?? []).map((wait): NewWait =>
    wait.reason === "BackupCommandRunning" || wait.remedy === undefined
      ? wait
      : { ...wait, remedy: `${wait.remedy} ${way}` },
  );
  return { ...result, waits };
}

function annotateText(name: string): string {
  return `kubectl annotate fdbbackup ${name} ${deleteLastAnnotation}=${name}.`;
}

function lastWait(backup: FoundationDBBackup): NewWait {
  const { name = "" } = backup.metadata;
  return {
    step,
    reason: "BackupIsLast",
    message: `${nameOf(backup)} is the only backup of its database that can be restored, so its data is not deleted`,
    remedy: `To delete it all the same: ${annotateText(name)} To keep it: set spec.deletionPolicy to stop.`,
    retryAfterMs: 300_000,
  };
}

/**
 * What the store itself says of data that the database, when it was last seen, did not call restorable: agents may have written
 * the rest since then. Asked again right before the data is deleted.
 */
export function lookBeforeRemoval(
  snapshot: BackupSnapshot,
  url: string,
): { readonly reads: readonly string[] } | { readonly result: BackupStepResult } {
  const { backup } = snapshot;
  if (mayGoAlthoughLast(snapshot) || wasRestorable(snapshot)) return { reads: [] };
  const wish = { step, url, context: "before removal", otherwise: "no data is deleted" };
  const look = lookIntoStore(snapshot, wish);
  if ("result" in look) {
    if (isMissing(look.end)) return { reads: [] };
    const unlooked = `To delete the data without this look: ${annotateText(backup.metadata.name ?? "")}`;
    return { result: withWayOut(look.result, `${unlooked} ${keepText}`) };
  }
  if (!mayBeRestored(look.description, backup.status?.moved)) return { reads: look.reads };
  // Remembered: a store that holds much is not to be looked through every ten minutes while nobody decides.
  const { restorableFrom, restorableTo } = look.description;
  const restorable = {
    ...(restorableFrom === undefined ? {} : { from: { version: restorableFrom } }),
    ...(restorableTo === undefined ? {} : { to: { version: restorableTo } }),
  };
  return { result: { reads: look.reads, waits: [lastWait(backup)], status: { restorable } } };
}

/**
 * When nobody can be asked any more, what was last seen counts. What could be restored once still can be while the tag
 * begins anew in the same place.
 */
function wasRestorable(snapshot: BackupSnapshot): boolean {
  const record = recordOf(snapshot);
  const { status = {} } = snapshot.backup;
  if (hasSucceeded(status) || status.restorable !== undefined) return true;
  const seen = status.backupDetails?.restorable === true;
  return record === undefined ? seen : isRestorable(record) && isOurs(snapshot, record);
}
