// Which version the database of a backup had at which time, as the operator keeps it beside the backup: a restore to a time
// then needs no database that is still there. Carries the rules BK130 to BK132 of spec/backup.md.

/** A version that the database had at a time, by its own record: the seconds are rounded down. */
export interface TimedVersion {
  readonly seconds: number;
  readonly version: number;
}

export interface TimePair extends TimedVersion {
  /** Between the pair before and this one versions and time did not go together: a recovery, or a record with a hole. */
  readonly isAfterGap?: boolean;
}

const versionsPerSecond = 1_000_000;
/** By how much a pair may be wrong: its second is rounded down, and versions move in small leaps. */
const slackSeconds = 3;
const suffix = "-timeline";
const dataKey = "timeline";

/** Of the ConfigMap that holds the pairs of a backup. */
export function timeMapName(backupName: string): string {
  return `${backupName}${suffix}`;
}

/** The backup whose pairs lie in a ConfigMap of this name. */
export function backupNameOfTimeMap(name: string): string {
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : "";
}

/** One line for each pair, the oldest first: a time, a version and, after a gap, the word "gap". */
export function formatTimeMap(pairs: readonly TimePair[]): Record<string, string> {
  const lines = pairs.map(({ seconds, version, isAfterGap }) => {
    const time = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
    return `${time} ${version}${isAfterGap === true ? " gap" : ""}\n`;
  });
  return { [dataKey]: lines.join("") };
}

/** What cannot be read is left out, which makes a gap of it; sorted by time. */
export function parseTimeMap(data: Readonly<Record<string, string>> | undefined): TimePair[] {
  return parseTimeLines((data?.[dataKey] ?? "").split("\n"));
}

export function parseTimeLines(lines: readonly string[]): TimePair[] {
  const pairs: TimePair[] = [];
  let isDamaged = false;
  for (const line of lines) {
    if (line.trim() === "") continue;
    const pair = parseTimeLine(line);
    const last = pairs.at(-1);
    if (pair === undefined || (last !== undefined && pair.seconds <= last.seconds)) {
      isDamaged = true;
      continue;
    }
    pairs.push(isDamaged ? { ...pair, isAfterGap: true } : pair);
    isDamaged = false;
  }
  return pairs;
}

export function parseTimeLine(line: string): TimePair | undefined {
  const match = /^\s*(\S+Z) (\d{1,16})( gap)?\s*$/.exec(line);
  const [, time = "", digits = "", gap] = match ?? [];
  const [ms, version] = [Date.parse(time), Number(digits)];
  if (match === null || Number.isNaN(ms) || !Number.isSafeInteger(version)) return undefined;
  const pair = { seconds: Math.floor(ms / 1000), version };
  return gap === undefined ? pair : { ...pair, isAfterGap: true };
}

/** Two clocks that are right differ by less. */
export const aheadSecondsMax = 3_600;

/** A clock that was far ahead for a moment noted a time that has not come: nothing after it would count until then. */
export function isAhead({ seconds }: TimedVersion, nowMs: number): boolean {
  return seconds > nowMs / 1000 + aheadSecondsMax;
}

/** The newest pair of a map that may be long. */
export function newestPair(
  data: Readonly<Record<string, string>> | undefined,
): TimePair | undefined {
  const text = (data?.[dataKey] ?? "").trimEnd();
  return parseTimeLine(text.slice(text.lastIndexOf("\n") + 1));
}

export type VersionAtTime =
  | {
      readonly kind: "found";
      /** Never later than what was asked for. */
      readonly version: number;
      /** By how much it may be earlier. */
      readonly errorSeconds: number;
      /** The time lies after the last pair, so its version is the best that is known. */
      readonly isAfterLast: boolean;
    }
  /** The time lies before the first pair; undefined when there is none at all. */
  | { readonly kind: "before"; readonly first: TimePair | undefined };

/** Versions of a database never go back: where they do, the cluster was made anew, and what lies before is of another database. */
function ofLastDatabase(pairs: readonly TimePair[]): readonly TimePair[] {
  const first = pairs.findLastIndex(
    ({ version }, index) => version < (pairs[index - 1]?.version ?? 0),
  );
  return first < 0 ? pairs : pairs.slice(first);
}

/** Outside of gaps a database gives out at most a million versions a second, so the pair behind a time bounds it from below. */
export function versionAtTime(all: readonly TimePair[], seconds: number): VersionAtTime {
  const pairs = ofLastDatabase(all);
  const next = pairs.findIndex((pair) => pair.seconds + 1 > seconds);
  const before = pairs[next < 0 ? pairs.length - 1 : next - 1];
  if (before === undefined) return { kind: "before", first: pairs[0] };
  const after = next < 0 ? undefined : pairs[next];
  const isAfterLast = after === undefined;
  const most = before.version + (seconds - before.seconds) * versionsPerSecond;
  if (after === undefined || after.isAfterGap === true) {
    const errorSeconds = Math.ceil(seconds - before.seconds);
    return { kind: "found", version: before.version, errorSeconds, isAfterLast };
  }
  const leftSeconds = after.seconds - seconds + slackSeconds;
  const least = after.version - leftSeconds * versionsPerSecond;
  const version = Math.floor(Math.max(before.version, Math.min(least, most)));
  const possible = most + slackSeconds * versionsPerSecond - version;
  const errorSeconds = Math.ceil(Math.min(possible / versionsPerSecond, seconds - before.seconds));
  return { kind: "found", version, errorSeconds, isAfterLast };
}
