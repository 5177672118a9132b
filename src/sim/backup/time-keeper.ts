// Times and versions: the database notes a pair of both every ten seconds while it serves, and every timestamp of the
// backup tools comes from these pairs. Versions jump at a recovery, so a timestamp behind one may lie in the future.
// The pairs follow from what the database did and cost nothing until they are read. Carries rule BSIM20.
import { binaryText, bytesOfBinary } from "../../fdb/bytes.ts";
import { decodeTuple, encodeTuple } from "../../fdb/tuple.ts";
import type { Database } from "../database/database.ts";
import type { Item } from "../key-value/versioned-map.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";

export interface TimePair {
  readonly second: number;
  readonly version: number;
}

const stepSeconds = 10;
const versionsPerSecond = 1_000_000;
const mapPrefix = "\xff\x02/timeKeeper/map/";
const mapEnd = "\xff\x02/timeKeeper/map0";

/** The pairs that were noted in [fromSecond, toSecond). */
export function timePairs(database: Database, fromSecond: number, toSecond: number): TimePair[] {
  const nowMs = database.fabric.clock.nowMs();
  const first = Math.max(firstSecond(database), Math.ceil(fromSecond / stepSeconds) * stepSeconds);
  const pairs: TimePair[] = [];
  for (let second = first; second < toSecond && second * 1000 <= nowMs; second += stepSeconds) {
    const pair = pairAt(database, second);
    if (pair !== undefined) pairs.push(pair);
  }
  return pairs;
}

/** Rounded down to the second, as the tools show it. */
export function secondOfVersion(database: Database, version: number): number {
  const nowSecond = database.fabric.clock.nowMs() / 1000;
  let [low, high] = [0, Math.ceil((nowSecond - firstSecond(database)) / stepSeconds) + 1];
  const secondOf = (step: number): number => firstSecond(database) + step * stepSeconds;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (database.store.versionAt(secondOf(middle) * 1000) <= version) low = middle + 1;
    else high = middle;
  }
  const pair = pairBefore(database, secondOf(Math.max(0, low - 1)));
  if (pair === undefined) return 0;
  return Math.floor(pair.second + (version - pair.version) / versionsPerSecond);
}

/** Zero for a time before everything, a version of the future for a time of the future. */
export function versionOfSecond(database: Database, second: number): number {
  const pair = pairBefore(database, second);
  if (pair === undefined) return 0;
  return pair.version + (second - pair.second) * versionsPerSecond;
}

/** The keys of the map in a range, in the order of the times. */
export function timeKeeperKeys(database: Database, range: KeyRange): Item[] {
  if (range.end <= mapPrefix || range.begin >= mapEnd) return [];
  const from = secondOfKey(range.begin) ?? 0;
  const to = secondOfKey(range.end) ?? Number.MAX_SAFE_INTEGER;
  return timePairs(database, from, to + 1)
    .map(({ second, version }) => ({
      key: mapPrefix + binaryText(encodeTuple([second])),
      value: encodeTuple([version]),
    }))
    .filter(({ key }) => key >= range.begin && key < range.end);
}

function secondOfKey(key: string): number | undefined {
  if (!key.startsWith(mapPrefix) || key.length < mapPrefix.length + 5) return undefined;
  const tuple = bytesOfBinary(key.slice(mapPrefix.length, mapPrefix.length + 5));
  if (tuple[0] !== 0x18) return undefined;
  const [second] = decodeTuple(tuple);
  return typeof second === "number" ? second : undefined;
}

function pairAt(database: Database, second: number): TimePair | undefined {
  if (!wasServing(database, second * 1000)) return undefined;
  return { second, version: database.store.versionAt(second * 1000) };
}

function pairBefore(database: Database, second: number): TimePair | undefined {
  const newest = Math.min(second, database.fabric.clock.nowMs() / 1000);
  let at = Math.floor(newest / stepSeconds) * stepSeconds;
  for (; at >= firstSecond(database); at -= stepSeconds) {
    const pair = pairAt(database, at);
    if (pair !== undefined) return pair;
  }
  return undefined;
}

function firstSecond(database: Database): number {
  const first = database.history.find((record) => record.acceptedMs !== undefined)?.acceptedMs;
  if (first === undefined) return Number.MAX_SAFE_INTEGER;
  return Math.ceil(first / 1000 / stepSeconds) * stepSeconds;
}

function wasServing(database: Database, atMs: number): boolean {
  const { stalledSinceMs, history } = database;
  if (stalledSinceMs !== undefined && atMs >= stalledSinceMs) return false;
  return !history.some(
    (record) =>
      record.acceptedMs !== undefined && atMs >= record.stalledSinceMs && atMs < record.acceptedMs,
  );
}

/** As the tools print a time: 2026/11/15.21:35:11+0000. */
export function timeText(second: number): string {
  const [date = "", time = ""] = new Date(second * 1000).toISOString().split("T");
  return `${date.replaceAll("-", "/")}.${time.slice(0, 8)}+0000`;
}

/** The second of such a text; undefined when it is written in another way. */
export function secondOfText(text: string): number | undefined {
  const pattern = /^(\d{4})\/(\d\d)\/(\d\d)\.(\d\d):(\d\d):(\d\d)([+-])(\d\d)(\d\d)$/;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index]);
  const utcMs = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6));
  const zoneMs = (part(8) * 60 + part(9)) * 60_000;
  return (match[7] === "+" ? utcMs - zoneMs : utcMs + zoneMs) / 1000;
}
