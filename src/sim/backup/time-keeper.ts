// Times and versions: the database notes a pair of both every ten seconds while it serves, and every timestamp of the
// backup tools comes from these pairs. Versions jump at a recovery, so a timestamp behind one may lie in the future.
// The pairs follow from what the database did and cost nothing until they are read. Carries rule BSIM20.
import { append } from "../../env/long-lists.ts";
import { binaryText } from "../../fdb/bytes.ts";
import { encodeTuple } from "../../fdb/tuple.ts";
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
export function timeKeeperKeys(database: Database, range: KeyRange): readonly Item[] {
  if (range.end <= mapPrefix || range.begin >= mapEnd) return [];
  const { items, nextSecond } = settledItems(database);
  const unsettled = timePairs(database, nextSecond, Infinity).map(itemOf);
  return [items, unsettled].flatMap((part) =>
    part.slice(lowerBound(part, range.begin), lowerBound(part, range.end)),
  );
}

interface Kept {
  readonly items: Item[];
  nextSecond: number;
}

/** Pairs that can no longer change, so that a map of months is not made anew for every read. */
const kept = new WeakMap<Database, Kept>();
/** That a database stands still may be known only a moment later. */
const settledSeconds = 60;

function settledItems(database: Database): Kept {
  const known = kept.get(database) ?? { items: [], nextSecond: 0 };
  kept.set(database, known);
  const settled = database.fabric.clock.nowMs() / 1000 - settledSeconds;
  append(known.items, timePairs(database, known.nextSecond, settled).map(itemOf));
  known.nextSecond = Math.max(known.nextSecond, settled);
  return known;
}

function itemOf({ second, version }: TimePair): Item {
  const key = mapPrefix + binaryText(encodeTuple([second]));
  return { key, value: encodeTuple([version]) };
}

/** The index of the first item that is not before a key. */
function lowerBound(items: readonly Item[], key: string): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
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
