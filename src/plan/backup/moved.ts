// A backup that goes on in another place. The database goes on to call it restorable, and means what lies in the old place: in
// the new one there is nothing to restore before a snapshot that began there is complete. So what the database says does not
// count until the store itself was seen to be restorable. Rules: spec/backup.md [BK28], [BK29].
import type { BackupStatus } from "../../api/backup.ts";
import { placeOfUrl } from "../../build/backup-url.ts";
import type { BackupLayer, BackupRecord } from "../../fdb/backup-layer.ts";
import { formatTime } from "../../kube/time.ts";
import { calendarTimeMs, operatorTimeMs } from "../view/server-time.ts";
import type { Description } from "./description.ts";
import { ownRecord, wantedUrl } from "./facts.ts";
import { timeOf } from "./figures.ts";
import { notedMove } from "./kept-move.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";
import { lookIntoStore } from "./store-look.ts";

export type Moved = NonNullable<BackupStatus["moved"]>;

const step = "lookIntoNewPlace";
const shortestLookMs = 60_000;
const longestLookMs = 3_600_000;

/** Whether nothing counts as restorable where the backup lies now. */
export function isUnproven(moved: Moved | undefined): moved is Moved {
  return moved !== undefined && moved.from === undefined;
}

/** What is known of a move once the database was read: a new one, or the one that was known. */
export function movedOf(snapshot: BackupSnapshot, record: BackupRecord): Moved | undefined {
  const { backup, layer } = snapshot;
  const { status = {}, spec } = backup;
  const { backupUID = "", backupDetails, moved } = status;
  // A run of a schedule stays where it is.
  if (spec.schedule !== undefined) return undefined;
  // A status that is lost, or a resource that was made again, knows nothing of where the backup was.
  if (backupUID === "") return notedMove(snapshot, record);
  const hasLeft = isElsewhere(snapshot, record);
  if (backupUID !== record.uid) {
    // Started again where it was moved to: what lies there from before is as it was.
    const isKnown = moved !== undefined && (backupDetails?.url ?? "") !== "" && !hasLeft;
    return isKnown ? { ...moved, backupUID: record.uid } : undefined;
  }
  if (hasLeft) {
    const [newest] = layer.kind === "seen" ? layer.layer.times : [];
    const version = Math.max(newest?.version ?? 0, record.restorableTo ?? 0);
    return { backupUID: record.uid, version };
  }
  return moved?.backupUID === record.uid ? moved : notedMove(snapshot, record);
}

/** Whether it lies in another place than when it was last seen; each run of a schedule has a place of its own. */
export function isElsewhere(
  { backup: { spec, status } }: Pick<BackupSnapshot, "backup">,
  record: BackupRecord,
): boolean {
  const before = status?.backupDetails?.url ?? "";
  if (before === "" || spec.schedule !== undefined) return false;
  return placeOfUrl(before) !== placeOfUrl(record.url);
}

/** The snapshot with what holds in the place where the backup lies now. */
export function inItsPlace(snapshot: BackupSnapshot): BackupSnapshot {
  const { layer } = snapshot;
  const record = ownRecord(snapshot);
  if (layer.kind === "missing" || record === undefined) return snapshot;
  const moved = movedOf(snapshot, record);
  if (moved === undefined) return snapshot;
  const change = isUnproven(moved) ? unproven(record, moved) : provenFrom(record, moved);
  return { ...snapshot, layer: { ...layer, layer: { ...layer.layer, ...change } } };
}

function unproven(record: BackupRecord, { version }: Moved): Partial<BackupLayer> {
  const { restorableFrom: _f, restorableTo: _t, ...rest } = record;
  // Errors of the old place are over.
  const errors = record.errors.filter((error) => error.version > version);
  return { record: { ...rest, errors }, fromTime: undefined, toTime: undefined };
}

function provenFrom(record: BackupRecord, { from }: Moved): Partial<BackupLayer> {
  const version = from?.version ?? 0;
  if (version <= (record.restorableFrom ?? 0)) return {};
  // By the database's own record of times.
  const ms = calendarTimeMs(from?.time);
  const fromTime = ms === undefined ? undefined : { version, seconds: ms / 1000 };
  return { record: { ...record, restorableFrom: version }, fromTime };
}

export function lookIntoNewPlace(
  snapshot: BackupSnapshot,
  { status: { moved } }: BackupDraft,
): BackupStepResult {
  const record = ownRecord(snapshot);
  if (!isUnproven(moved) || record === undefined || !isDue(snapshot, moved, record)) return nothing;
  const look = lookIntoStore(snapshot, {
    step,
    context: `moved ${moved.version} ${moved.looked ?? ""}`,
    otherwise: "the backup counts as not restorable in its new place",
  });
  if ("result" in look) return look.result;
  const { restorableFrom } = inNewPlace(look.description, moved);
  const looked = formatTime(snapshot.nowMs);
  if (restorableFrom === undefined) return { status: { moved: { ...moved, looked } } };
  const times = snapshot.layer.kind === "seen" ? snapshot.layer.layer.times : [];
  const seconds = timeOf(times, restorableFrom);
  const time = seconds === undefined ? {} : { time: formatTime(Math.floor(seconds) * 1000) };
  const from = { version: restorableFrom, ...time };
  return { status: { moved: { ...moved, looked, from } } };
}

/**
 * What the store holds, without what only seems to be whole there. The snapshot that was under way at the move ends in the new
 * place, and names files that agents wrote to the old one, before the move and for a while after it. FoundationDB describes it as
 * restorable when the logs of the new place reach back to its beginning, and misses the files in a restore. The next one
 * begins after all of that has ended.
 */
export function inNewPlace(description: Description, { version, from }: Moved): Description {
  const { snapshots, restorableFrom = 0, restorableTo = 0 } = description;
  const [, ...whole] = snapshots.filter(({ end }) => end >= version);
  const first = from?.version ?? whole.find(({ isRestorable }) => isRestorable)?.end;
  if (first === undefined || restorableTo < first) {
    return { ...description, restorableFrom: undefined, restorableTo: undefined };
  }
  return { ...description, restorableFrom: Math.max(restorableFrom, first) };
}

/**
 * Whether anything in the place can be restored, for whoever would delete it: only the snapshot that was under way at the move, and
 * that is the first in a new place, is nothing. All others count, also those of before a backup was moved back, and those
 * of a move that was noticed late.
 */
export function mayBeRestored(
  { snapshots, restorableTo }: Description,
  moved: Moved | undefined,
): boolean {
  if (restorableTo === undefined) return false;
  if (!isUnproven(moved)) return true;
  return snapshots.some(
    ({ end, isRestorable }, index) => isRestorable && (index > 0 || end < moved.version),
  );
}

/** A snapshot has ended since the move, and nobody has looked for about as long as one takes. */
function isDue(snapshot: BackupSnapshot, moved: Moved, record: BackupRecord): boolean {
  if (record.url !== wantedUrl(snapshot)) return false;
  if ((record.lastSnapshotEnd ?? 0) <= moved.version) return false;
  const periodMs = record.snapshotSeconds * 1000;
  const pauseMs = Math.min(longestLookMs, Math.max(shortestLookMs, periodMs));
  return snapshot.nowMs - (operatorTimeMs(snapshot, moved.looked) ?? 0) >= pauseMs;
}
