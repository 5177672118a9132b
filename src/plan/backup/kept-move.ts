// Step recordMove: that a backup was moved is noted at its map of times, which outlives the status and the resource. The database
// itself forgets it, and calls restorable what lies in the old place. Rules: spec/backup.md [BK28].
import { isUnmanaged } from "../../api/effective-backup.ts";
import { moveNoteOf, timeMapObject, withMoveNote } from "../../build/backup-time-map.ts";
import type { MoveNote } from "../../build/backup-time-map.ts";
import { placeOfUrl } from "../../build/backup-url.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import { ownRecord } from "./facts.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";

const step = "recordMove";

/** The move of a backup into the place where it lies, as it was noted. */
export function notedMove(
  { timeMap }: Pick<BackupSnapshot, "timeMap">,
  record: BackupRecord,
): Omit<MoveNote, "place"> | undefined {
  const note = timeMap && moveNoteOf(timeMap);
  // A map may be of an earlier backup of the name, in another database.
  if (note?.backupUID !== record.uid || note.place !== placeOfUrl(record.url)) return undefined;
  const { place: _, ...move } = note;
  return move;
}

export function recordMove(
  snapshot: BackupSnapshot,
  { status: { moved }, actions }: BackupDraft,
): BackupStepResult {
  const { backup, timeMap } = snapshot;
  const record = ownRecord(snapshot);
  if (record === undefined || isUnmanaged(backup.spec)) return nothing;
  // The map is written in this pass already.
  if (actions.some(({ type }) => type === "createTimeMap" || type === "updateTimeMap")) {
    return nothing;
  }
  if (timeMap === undefined && moved === undefined) return nothing;
  const live = timeMap ?? timeMapObject(backup, []);
  const note = moved && { ...moved, place: placeOfUrl(record.url) };
  const object = withMoveNote(live, note);
  if (object === live) return nothing;
  const type = timeMap === undefined ? "createTimeMap" : "updateTimeMap";
  return { actions: [{ type, step, object }] };
}
