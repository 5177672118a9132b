// Who reads what lies in a place of the store: a restore that was started, or is about to be. Data that goes under it would
// leave it standing still with its destination locked. Pure. Rules: spec/backup.md [BK79].
import { isOver, wasStarted } from "../../api/effective-restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { backupUrl, placeOfUrl } from "../../build/backup-url.ts";
import type { NewWait } from "../wait.ts";
import { nameOf } from "./facts.ts";

/** A restore that reads one of these places. */
export function readerOf(
  restores: readonly FoundationDBRestore[],
  urls: readonly string[],
): FoundationDBRestore | undefined {
  const places = new Set(urls.map(placeOfUrl));
  return restores.find((restore) => {
    const url = isOver(restore) ? undefined : readUrl(restore);
    return url !== undefined && places.has(placeOfUrl(url));
  });
}

/** Stored before a start; the Go operator stores none. */
function readUrl(restore: FoundationDBRestore): string | undefined {
  return restore.status?.url ?? (wasStarted(restore) ? backupUrl(restore) : undefined);
}

export function readerWait(step: string, reader: FoundationDBRestore): NewWait {
  return {
    step,
    reason: "BackupBeingRestored",
    message: `No data is deleted while the restore ${nameOf(reader)} reads it`,
    object: `foundationdbrestore/${reader.metadata.name ?? ""}`,
    remedy:
      "Nothing: it passes by itself when the restore has ended. If nobody needs the restore, delete it.",
    retryAfterMs: 30_000,
  };
}
