// When a line of cron with five fields fires, in a time zone. As other crons have it: where both days are named either one
// will do; a time that a clock skips when it is put forward fires all the same, one that it shows twice fires once. Lines
// whose hour is * go by real time instead. Carries the rules BK140 and BK141 of spec/backup.md.
import { leastOf } from "../env/long-lists.ts";
import { parsed, unparsed } from "./parsed.ts";
import type { Parsed } from "./parsed.ts";
import { instantsOn, localMsOf } from "../env/time-zone.ts";

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  readonly daysOfWeek: readonly number[];
  /** Both days are named, so either one will do. */
  readonly isEitherDay: boolean;
  readonly isEveryHour: boolean;
}

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names of the values, from the first one on. */
  readonly names?: readonly string[];
}

const monthNames: readonly string[] = [
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec",
];
const dayNames: readonly string[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields = [
  { name: "minute", first: 0, last: 59 },
  { name: "hour", first: 0, last: 23 },
  { name: "day of month", first: 1, last: 31 },
  { name: "month", first: 1, last: 12, names: monthNames },
  { name: "day of week", first: 0, last: 7, names: dayNames },
] as const satisfies readonly Field[];

export function parseCron(line: string): Parsed<Cron> {
  const parts = line.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    const count = line.trim() === "" ? 0 : parts.length;
    return unparsed(
      `it has ${count} fields, not five: minute, hour, day of month, month, day of week`,
    );
  }
  const values = fields.map((field, index) => valuesOf(field, parts[index] ?? ""));
  const wrong = values.find((each) => typeof each === "string");
  if (wrong !== undefined) return unparsed(wrong);
  const [minutes = [], hours = [], daysOfMonth = [], months = [], days = []] = values as number[][];
  const isNamed = (index: number): boolean => !/^[*?]/.test(parts[index] ?? "");
  return parsed({
    ...{ minutes, hours, daysOfMonth, months },
    // Sunday is 0 and 7.
    daysOfWeek: [...new Set(days.map((day) => day % 7))].toSorted((a, b) => a - b),
    isEitherDay: isNamed(2) && isNamed(4),
    isEveryHour: !isNamed(1),
  });
}

function valuesOf(field: Field, text: string): number[] | string {
  const found = new Set<number>();
  for (const item of text.split(",")) {
    const wrong = `"${item}" is no ${field.name}: use ${field.first} to ${field.last}, *, ranges, steps and lists`;
    const match = /^(?:([*?])|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(item);
    if (match === null) return wrong;
    const [, any, from = "", to, step] = match;
    const begin = any === undefined ? valueOf(field, from) : field.first;
    // A step after a single value goes on to the last one.
    const open = any !== undefined || (to === undefined && step !== undefined);
    const end = open ? field.last : to === undefined ? begin : valueOf(field, to);
    const width = step === undefined ? 1 : Number(step);
    if (begin === undefined || end === undefined || begin > end || width < 1) return wrong;
    for (let value = begin; value <= end; value += width) found.add(value);
  }
  return [...found].toSorted((left, right) => left - right);
}

function valueOf({ first, last, names = [] }: Field, text: string): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return first + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= first && value <= last ? value : undefined;
}

const dayMs = 86_400_000;
/** The 29th of February can be eight years away. */
const daysMax = 9 * 366;

/** The first instant after the given one; undefined when the line never fires. */
export function nextFire(cron: Cron, zone: string, afterMs: number): number | undefined {
  const today = dayOf(zone, afterMs);
  for (let day = today - 1; day <= today + daysMax; day += 1) {
    const found = firesOn(cron, zone, day).find((atMs) => atMs > afterMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last instant after the first one given, and not after the second. */
export function lastFire(
  cron: Cron,
  zone: string,
  afterMs: number,
  untilMs: number,
): number | undefined {
  const [first, today] = [dayOf(zone, afterMs), dayOf(zone, untilMs)];
  for (let day = today + 1; day >= Math.max(first - 1, today - daysMax); day -= 1) {
    const found = firesOn(cron, zone, day).findLast((atMs) => atMs > afterMs && atMs <= untilMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

function dayOf(zone: string, atMs: number): number {
  return Math.floor(localMsOf(zone, atMs) / dayMs);
}

/** All instants on a local day, counted from 1970-01-01. */
function firesOn(cron: Cron, zone: string, day: number): number[] {
  if (!isDay(cron, new Date(day * dayMs))) return [];
  const instantsOf = instantsOn(zone, day * dayMs);
  const fires = cron.hours.flatMap((hour) =>
    cron.minutes.flatMap((minute) => {
      const { shown, skipped } = instantsOf(day * dayMs + (hour * 60 + minute) * 60_000);
      if (cron.isEveryHour) return shown;
      return shown.length === 0 ? [skipped] : shown.slice(0, 1);
    }),
  );
  return [...new Set(fires)].toSorted((left, right) => left - right);
}

/** The shortest time between two fires on one day or on neighbouring ones, by the clock on the wall; Infinity when there is none. */
export function leastFireDistance(cron: Cron): number {
  const minutes = cron.hours.flatMap((hour) => cron.minutes.map((minute) => hour * 60 + minute));
  const between = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
  const over = 1_440 * leastDays(cron) + (minutes[0] ?? 0) - (minutes.at(-1) ?? 0);
  return leastOf([...between, over]) * 60_000;
}

/** Between two days on which it fires: a leap year and a common one show all that can follow each other. */
function leastDays(cron: Cron): number {
  let [least, last] = [Infinity, -Infinity];
  for (let day = firstDay; day < firstDay + 731; day += 1) {
    if (!isDay(cron, new Date(day * dayMs))) continue;
    least = Math.min(least, day - last);
    if (least === 1) return least;
    last = day;
  }
  return least;
}

/** 2028 is a leap year. */
const firstDay = Date.UTC(2028, 0, 1) / dayMs;

function isDay(cron: Cron, date: Date): boolean {
  if (!cron.months.includes(date.getUTCMonth() + 1)) return false;
  const ofMonth = cron.daysOfMonth.includes(date.getUTCDate());
  const ofWeek = cron.daysOfWeek.includes(date.getUTCDay());
  return cron.isEitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}
