// What the database alone says about a backup, read in one transaction of a few keys, and pausing all agents of a database
// in another. Carries the rules BK20 to BK23 of spec/backup.md.
import { leastOf } from "../env/long-lists.ts";
import { aheadSecondsMax } from "../model/backup-time-map.ts";
import type { TimedVersion } from "../model/backup-time-map.ts";
import type { AdminClient, FdbTransaction } from "./admin.ts";
import {
  decodeCounter,
  decodeError,
  decodeNumber,
  decodeTag,
  decodeText,
  decodeTimedVersion,
  errorBounds,
  pauseKey,
  propertyKey,
  tagBounds,
  tagKey,
  timeBounds,
  timeKey,
  uidText,
  workerPauseKey,
} from "./backup-keys.ts";
import type { BackupError } from "./backup-keys.ts";
import { bytesOfText } from "./bytes.ts";

/** In the order of the numbers by which FoundationDB stores them. */
const backupStates = [
  "Errored",
  "Submitted",
  "Running",
  "RunningDifferentially",
  "Completed",
  "NeverRan",
  "Aborted",
  "PartiallyAborted",
] as const;

export type BackupState = (typeof backupStates)[number];

/** The backup that a tag stands for. */
export interface BackupRecord {
  readonly uid: string;
  readonly state: BackupState;
  /** As it was given to `start`, with a secret if there was one in it. */
  readonly url: string;
  readonly snapshotSeconds: number;
  /** It ends by itself when its snapshot is complete: a one-time backup, or one that was discontinued. */
  readonly stopsWhenDone: boolean;
  readonly logBytes: number;
  readonly rangeBytes: number;
  /** The first version that can be restored, and the last. */
  readonly restorableFrom?: number;
  readonly restorableTo?: number;
  readonly snapshotBegin?: number;
  readonly snapshotTarget?: number;
  readonly lastSnapshotEnd?: number;
  readonly errors: readonly BackupError[];
}

export interface BackupLayer {
  /** All agents of the database, whatever the tag. */
  readonly isPaused: boolean;
  /** Undefined when the tag was never used. */
  readonly record: BackupRecord | undefined;
  /** The newest pairs first; none on a database that has just been created. */
  readonly times: readonly TimedVersion[];
  /** The pairs before the first and the last version that can be restored. */
  readonly fromTime: TimedVersion | undefined;
  readonly toTime: TimedVersion | undefined;
  /** The version so long ago as was asked for; undefined when the record of times does not reach back so far. */
  readonly retainedFrom: number | undefined;
  /** Backups of other tags that run; looked at only while that of the tag does not. */
  readonly otherWriters: readonly TaggedUrl[];
}

export interface TaggedUrl {
  readonly tag: string;
  readonly url: string;
}

/** The state is one in which the tools call a backup running. */
export function isRunningState(state: BackupState | undefined): boolean {
  return state === "Submitted" || state === "Running" || state === "RunningDifferentially";
}

/** A pair every ten seconds: the last ten minutes. */
const recentTimes = 60;
const errorsMaximum = 20;
const otherTagsMaximum = 50;
/** Halving the keys of a year of pairs needs fewer. */
const searchMaximum = 40;

export interface LayerQuestion {
  readonly tag: string;
  /** How long ago the version is wanted that the database then had. */
  readonly retainedSeconds?: number | undefined;
  /** What time it is by our own clock: a pair that is ahead of it is of a clock that was wrong. */
  readonly nowSeconds?: number | undefined;
  /** Where the restorable window begins since older data was expired. */
  readonly expiredTo?: number | undefined;
  /** When the window began as it was last seen: a search for it costs more reads than all the rest. */
  readonly from?: TimedVersion | undefined;
}

export function readBackupLayer(
  admin: Pick<AdminClient, "transact">,
  { tag, retainedSeconds, nowSeconds = Infinity, expiredTo = 0, from }: LayerQuestion,
  timeoutMs: number,
): Promise<BackupLayer> {
  return admin.transact(
    async (transaction) => {
      const [paused, tagged, pairs] = await Promise.all([
        transaction.get(pauseKey, { snapshot: true }),
        transaction.get(tagKey(tag), { snapshot: true }),
        transaction.getRange(timeBounds.begin, timesEnd(nowSeconds), {
          limit: recentTimes,
          reverse: true,
          snapshot: true,
        }),
      ]);
      const uid = tagged && decodeTag(tagged);
      const stored = uid && (await readRecord(transaction, uid));
      const record = stored && withoutExpired(stored, expiredTo);
      const times = pairs.flatMap(({ key, value }) => decodeTimedVersion(key, value) ?? []);
      const fromTime =
        from !== undefined && from.version === record?.restorableFrom
          ? from
          : await pairBefore(transaction, times, record?.restorableFrom);
      const toTime = await pairBefore(transaction, times, record?.restorableTo);
      const newestSeconds = times[0] && Math.min(times[0].seconds, nowSeconds);
      const retainedFrom = await versionBefore(transaction, times, newestSeconds, retainedSeconds);
      const otherWriters = isRunningState(record?.state) ? [] : await readWriters(transaction, tag);
      return {
        isPaused: paused !== undefined,
        record,
        times,
        fromTime,
        toTime,
        retainedFrom,
        otherWriters,
      };
    },
    { timeoutMs, readSystemKeys: true, lockAware: true },
  );
}

/** Pairs that a clock wrote which was far ahead stay the newest until that time comes: they are no measure of what is new. */
function timesEnd(nowSeconds: number): Uint8Array {
  return Number.isFinite(nowSeconds) ? timeKey(nowSeconds + aheadSecondsMax) : timeBounds.end;
}

async function readWriters(transaction: FdbTransaction, tag: string): Promise<TaggedUrl[]> {
  const options = { limit: otherTagsMaximum, snapshot: true };
  const entries = await transaction.getRange(tagBounds.begin, tagBounds.end, options);
  const found = entries.map(async ({ key, value }): Promise<TaggedUrl | undefined> => {
    const name = decodeText(key.subarray(tagBounds.begin.length)) ?? "";
    const uid = decodeTag(value);
    if (uid === undefined || name === tag) return undefined;
    const state = await transaction.get(propertyKey(uid, "stateEnum"), { snapshot: true });
    if (!isRunningState(backupStates[decodeNumber(state) ?? -1])) return undefined;
    const url = await transaction.get(propertyKey(uid, "backupContainer"), { snapshot: true });
    return { tag: name, url: decodeText(url) ?? "" };
  });
  return (await Promise.all(found)).filter((writer) => writer !== undefined);
}

async function readRecord(
  transaction: FdbTransaction,
  uid: Uint8Array,
): Promise<BackupRecord | undefined> {
  const get = (property: string): Promise<Uint8Array | undefined> =>
    transaction.get(propertyKey(uid, property), { snapshot: true });
  const bounds = errorBounds(uid);
  const [state, url, interval, stops, logBytes, rangeBytes] = await Promise.all(
    [
      "stateEnum",
      "backupContainer",
      "snapshotIntervalSeconds",
      "stopWhenDone",
      "logBytesWritten",
      "rangeBytesWritten",
    ].map(get),
  );
  const [logEnd, firstEnd, lastEnd, begin, target] = await Promise.all(
    [
      "latestLogEndVersion",
      "firstSnapshotEndVersion",
      "latestSnapshotEndVersion",
      "snapshotBeginVersion",
      "snapshotTargetEndVersion",
    ].map(async (property) => decodeNumber(await get(property))),
  );
  const errors = await transaction.getRange(bounds.begin, bounds.end, {
    limit: errorsMaximum,
    snapshot: true,
  });
  const stored = decodeNumber(state);
  if (stored === undefined) return undefined;
  return {
    uid: uidText(uid),
    state: backupStates[stored] ?? "Errored",
    url: decodeText(url) ?? "",
    snapshotSeconds: decodeNumber(interval) ?? 0,
    stopsWhenDone: decodeNumber(stops) === 1,
    logBytes: decodeCounter(logBytes) ?? 0,
    rangeBytes: decodeCounter(rangeBytes) ?? 0,
    ...restorableWindow(logEnd, firstEnd, lastEnd),
    ...(begin === undefined ? {} : { snapshotBegin: begin }),
    ...(target === undefined ? {} : { snapshotTarget: target }),
    ...(lastEnd === undefined ? {} : { lastSnapshotEnd: lastEnd }),
    errors: errors.flatMap(({ key, value }) => decodeError(bounds, key, value) ?? []),
  };
}

/** Logs reach beyond the end of the first snapshot. The end of the logs itself is not written any more. */
function restorableWindow(
  logEnd: number | undefined,
  firstEnd: number | undefined,
  lastEnd: number | undefined,
): Pick<BackupRecord, "restorableFrom" | "restorableTo"> {
  if (logEnd === undefined || firstEnd === undefined || logEnd <= firstEnd) return {};
  return { restorableFrom: firstEnd, restorableTo: Math.max(logEnd - 1, lastEnd ?? 0) };
}

/** The last pair whose version is not above the given one, found by halving the times. */
async function pairBefore(
  transaction: FdbTransaction,
  recent: readonly TimedVersion[],
  version: number | undefined,
): Promise<TimedVersion | undefined> {
  if (version === undefined) return undefined;
  const known = recent.find((pair) => pair.version <= version);
  if (known !== undefined) return known;
  let [begin, end] = [timeBounds.begin, timeBounds.end];
  const [first] = await transaction.getRange(begin, end, { limit: 1, snapshot: true });
  const oldest = first && decodeTimedVersion(first.key, first.value);
  const newest = recent.at(-1);
  if (oldest === undefined || newest === undefined || oldest.version > version) return undefined;
  let found = oldest;
  let [low, high] = [oldest.seconds, newest.seconds];
  for (let step = 0; step < searchMaximum && low < high; step += 1) {
    const middle = Math.ceil((low + high) / 2);
    end = timeKey(middle + 1);
    const [entry] = await transaction.getRange(timeKey(low), end, {
      limit: 1,
      reverse: true,
      snapshot: true,
    });
    const pair = entry && decodeTimedVersion(entry.key, entry.value);
    if (pair !== undefined && pair.version <= version) {
      found = pair;
      low = Math.max(middle, low + 1);
    } else {
      high = middle - 1;
    }
  }
  return found;
}

/** The record of the database does not know what was expired from the store. */
function withoutExpired(record: BackupRecord, expiredTo: number): BackupRecord {
  const { restorableFrom } = record;
  if (restorableFrom === undefined || restorableFrom >= expiredTo) return record;
  return { ...record, restorableFrom: expiredTo };
}

/** Two minutes of pairs. */
const neighbours = 12;

/**
 * A clock that was put back notes new versions at times that were noted before: where versions go back, the lowest one about that
 * time counts, and none that is above the versions of later times.
 */
async function versionBefore(
  transaction: FdbTransaction,
  recent: readonly TimedVersion[],
  newestSeconds: number | undefined,
  agoSeconds: number | undefined,
): Promise<number | undefined> {
  if (newestSeconds === undefined || agoSeconds === undefined) return undefined;
  const options = { limit: neighbours, reverse: true, snapshot: true };
  const end = timeKey(Math.max(0, newestSeconds - agoSeconds) + 1);
  const entries = await transaction.getRange(timeBounds.begin, end, options);
  const pairs = entries.flatMap(({ key, value }) => decodeTimedVersion(key, value) ?? []);
  const [last] = pairs;
  if (last === undefined) return undefined;
  const isMixed = pairs.some(
    ({ version }, index) => version > (pairs[index - 1]?.version ?? version),
  );
  const version = isMixed ? leastOf(pairs.map((pair) => pair.version)) : last.version;
  const isTooNew = recent.some((pair) => pair.seconds > last.seconds && pair.version < version);
  return isTooNew ? undefined : version;
}

/** Both keys change together, as the tools do it: the one is for agents, the other for workers of partitioned logs. */
export function setAgentsPaused(
  admin: Pick<AdminClient, "transact">,
  isPaused: boolean,
  timeoutMs: number,
): Promise<void> {
  return admin.transact(
    (transaction) => {
      if (isPaused) transaction.set(pauseKey, new Uint8Array());
      else transaction.clear(pauseKey);
      transaction.set(workerPauseKey, bytesOfText(isPaused ? "1" : "0"));
      return Promise.resolve();
    },
    { timeoutMs, accessSystemKeys: true, lockAware: true },
  );
}
