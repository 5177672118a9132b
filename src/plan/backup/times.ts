// Step recordBackupTimes: which version the database had at which time is written beside the backup, at most every ten
// minutes, so that a restore to a time needs no database. Rules: spec/backup.md [BK130], [BK133], [BK134].
import { isUnmanaged } from "../../api/effective-backup.ts";
import { timeMapObject } from "../../build/backup-time-map.ts";
import { isAhead, newestPair, parseTimeMap } from "../../model/backup-time-map.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import { thinTimeMap } from "../../model/backup-time-thinning.ts";
import { isOurs, isRunning, layerOf } from "./facts.ts";
import type { BackupSnapshot, TimesWish } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupStepResult } from "./step.ts";

const step = "recordBackupTimes";
const intervalSeconds = 600;

export function recordBackupTimes(snapshot: BackupSnapshot): BackupStepResult {
  const { backup, timeMap: live, times } = snapshot;
  const wish = timesWish(snapshot);
  if (wish === undefined) return nothing;
  if (times?.afterSeconds !== wish.afterSeconds) return { times: wish };
  const stored = wish.last === undefined ? [] : pastPairs(snapshot);
  const pairs = thinTimeMap([...withoutExpired(snapshot, stored), ...times.pairs]);
  const wanted = timeMapObject(backup, pairs);
  // What was read is kept until it is written.
  if (live === undefined) {
    return { actions: [{ type: "createTimeMap", step, object: wanted }], times: wish };
  }
  const object = { ...live, data: { ...live.data, ...wanted.data } };
  return { actions: [{ type: "updateTimeMap", step, object }], times: wish };
}

/** What is missing in the map; undefined when it is new enough. */
function timesWish(snapshot: BackupSnapshot): TimesWish | undefined {
  const layer = layerOf(snapshot);
  const record = layer?.record;
  if (record?.restorableTo === undefined || isUnmanaged(snapshot.backup.spec)) return undefined;
  const newest = layer?.times[0];
  if (newest === undefined || !isOurs(snapshot, record)) return undefined;
  const newestKept = newestPair(snapshot.timeMap?.data);
  const isPast = newestKept === undefined || !isAhead(newestKept, snapshot.nowMs);
  const last = isPast ? newestKept : pastPairs(snapshot).at(-1);
  if (!isRunning(record)) {
    // The map of a backup that has ended is complete once it reaches beyond its end, and is not begun before it can.
    const isCovered = last !== undefined && last.version >= record.restorableTo;
    if (isCovered || newest.version < record.restorableTo) return undefined;
  }
  // A pair is noted every ten seconds: the one before is where the window begins.
  if (last === undefined) return { afterSeconds: (layer?.fromTime?.seconds ?? 0) - 11 };
  if (newest.seconds - last.seconds < intervalSeconds) return undefined;
  return { afterSeconds: last.seconds, last };
}

/** Without what a clock noted that was far ahead: nothing would be added until that time. */
function pastPairs({ timeMap, nowMs }: BackupSnapshot): TimePair[] {
  return parseTimeMap(timeMap?.data).filter((pair) => !isAhead(pair, nowMs));
}

/** Of the pairs that only expired data needs, the last one stays: it is where the window begins. */
function withoutExpired({ backup }: BackupSnapshot, pairs: readonly TimePair[]): TimePair[] {
  const from = backup.status?.expiry?.restorableFrom ?? 0;
  const kept = pairs.findIndex((_, index) => (pairs[index + 1]?.version ?? Infinity) > from);
  return pairs.slice(Math.max(0, kept));
}
