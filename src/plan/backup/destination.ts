// Whether a backup may write to its destination: no other backup does, and nothing lies there that is not its own.
// FoundationDB's tools check neither. Rules: spec/backup.md [BK50], [BK51], [BK77].
import { describeCommand } from "../../build/backup-command.ts";
import { backupUrl, placeOfUrl } from "../../build/backup-url.ts";
import { argumentsOf, commandIdentity } from "../../build/command-pod.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { NewWait } from "../wait.ts";
import { layerOf, nameOf, ownRecord, recordOf, wantedUrl, wasFirst } from "./facts.ts";
import { commandEnd } from "./command-end.ts";
import { isReadSince, lastEnd, runCommand } from "./run-command.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

/** Undefined when the backup may begin to write there. */
export function destinationResult(
  snapshot: BackupSnapshot,
  step: string,
): BackupStepResult | undefined {
  const inUse = destinationInUse(snapshot, step);
  if (inUse !== undefined) return { waits: [inUse] };
  // The tag has written there before: what lies there is of this database, also where account or parameters change.
  const before = recordOf(snapshot)?.url;
  if (before !== undefined && placeOfUrl(before) === placeOfUrl(wantedUrl(snapshot))) {
    return undefined;
  }
  return emptiness(snapshot, step);
}

/**
 * Whether what lies in the destination may be of this backup: the database has it under the tag, or had it when it was last
 * seen. A backup that waits before its first start has written nothing there, whatever another resource of the tag writes.
 */
export function hasWrittenThere(snapshot: BackupSnapshot): boolean {
  const { layer, backup } = snapshot;
  const seen = backup.status?.backupDetails?.url;
  const url = layer.kind === "seen" ? ownRecord(snapshot)?.url : seen;
  return url !== undefined && placeOfUrl(url) === placeOfUrl(wantedUrl(snapshot));
}

function destinationInUse(snapshot: BackupSnapshot, step: string): NewWait | undefined {
  const owner = destinationOwner(snapshot);
  if (owner === undefined) return undefined;
  return {
    step,
    reason: "BackupDestinationInUse",
    message: `The destination belongs to ${owner}: two backups in one place cannot be relied on`,
    remedy: "Give the backup a spec.blobStoreConfiguration.backupName of its own.",
    retryAfterMs: 60_000,
  };
}

/** Another backup that writes there, or may begin to, for people. */
export function destinationOwner(snapshot: BackupSnapshot): string | undefined {
  const { backup, others } = snapshot;
  const other = others.find(
    (each) =>
      placeOf(each) === placeOf(backup) &&
      (wasFirst(each, backup) || each.status?.backupDetails?.running === true),
  );
  if (other !== undefined) return `the backup ${nameOf(other)}`;
  const place = placeOfUrl(wantedUrl(snapshot));
  const writers = layerOf(snapshot)?.otherWriters ?? [];
  const writer = writers.find(({ url }) => placeOfUrl(url) === place);
  return writer && `a backup of the tag ${writer.tag}`;
}

export function placeOf(backup: FoundationDBBackup): string {
  return placeOfUrl(backupUrl(backup) ?? "");
}

/**
 * The newest command that let a database write there: an earlier look says nothing any more. That it may have been another
 * database is seen only when the present one was read since.
 */
function lastWriter(snapshot: BackupSnapshot): string {
  const ends = snapshot.commandPods
    .filter((pod) => ["start", "modify"].includes(commandIdentity(pod).type))
    .filter((pod) => argumentsOf(pod).includes(wantedUrl(snapshot)))
    .flatMap((pod) => commandEnd(snapshot, pod) ?? [])
    .filter((end) => end.isSuccess && isReadSince(snapshot, end))
    .toSorted((left, right) => left.endedMs - right.endedMs);
  return ends.at(-1)?.pod.metadata.uid ?? "";
}

/** Looks into the destination with the credentials of the agents, which proves these too. */
function emptiness(snapshot: BackupSnapshot, step: string): BackupStepResult | undefined {
  const { backup } = snapshot;
  // A database that was made anew knows nothing of the backup that wrote there since an earlier look.
  const uid = recordOf(snapshot)?.uid ?? backup.status?.backupUID ?? "";
  const command = describeCommand(backup, wantedUrl(snapshot), uid + lastWriter(snapshot));
  const end = lastEnd(snapshot, command);
  if (end === undefined) return runCommand(snapshot, step, command);
  if (!end.isSuccess && /Backup does not exist/.test(end.message)) return undefined;
  if (!end.isSuccess) return runCommand(snapshot, step, command);
  return {
    waits: [
      {
        step,
        reason: "BackupDestinationNotEmpty",
        message:
          "Another backup lies in the destination already: with both in one place neither could be relied on",
        object: `pod/${end.pod.metadata.name ?? ""}`,
        remedy:
          "Set spec.blobStoreConfiguration.backupName to a new name, or delete what lies there with `fdbbackup delete` if nobody needs it.",
        retryAfterMs: 300_000,
      },
    ],
  };
}

export function runUrlsOf({ status }: FoundationDBBackup): string[] {
  return (status?.runs ?? []).flatMap(({ url }) => url ?? []);
}

/** As its spec names it, and as the database showed it. */
export function placesOf(backup: FoundationDBBackup): string[] {
  const shown = backup.status?.backupDetails?.url;
  return [placeOf(backup), ...(shown === undefined ? [] : [placeOfUrl(shown)])];
}
