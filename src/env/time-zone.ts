// Local times of a time zone and the instants that they stand for: none where a clock is put forward, two where it is put
// back. The rules of the zones are those that the machine's runtime brings along. Carries the rule BK141 of spec/backup.md.

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, made);
  return made;
}

/** Whether the name is one of the IANA database, such as Europe/Berlin. */
export function isTimeZone(zone: string): boolean {
  try {
    formatOf(zone);
    return /^[A-Za-z]/.test(zone);
  } catch {
    // Nothing else can be wrong with a format.
    return false;
  }
}

/** What a clock on the wall shows, as if it were UTC. */
export function localMsOf(zone: string, atMs: number): number {
  const secondMs = Math.floor(atMs / 1000) * 1000;
  if (zone === "UTC") return secondMs;
  let known = localTimes.get(zone);
  // Whoever asks asks for the same few instants again and again: the beginnings of the days around now.
  if (known === undefined || known.size >= knownMax) localTimes.set(zone, (known = new Map()));
  let localMs = known.get(secondMs);
  if (localMs === undefined) known.set(secondMs, (localMs = askedOf(zone, secondMs)));
  return localMs;
}

const localTimes = new Map<string, Map<number, number>>();
const knownMax = 512;

function askedOf(zone: string, atMs: number): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name) ?? 0);
  return Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
}

const dayMs = 86_400_000;

export interface Instants {
  /** When a clock on the wall shows the time, the earliest first. */
  readonly shown: readonly number[];
  /** When it would show it had it not been put forward. */
  readonly skipped: number;
}

/** The instants of times on a local day, which begins at `startMs`. Clocks are put forward or back once in three days at most. */
export function instantsOn(zone: string, startMs: number): (localMs: number) => Instants {
  const offsetAt = (atMs: number): number => localMsOf(zone, atMs) - Math.floor(atMs / 1000) * 1000;
  const [before, after] = [offsetAt(startMs - dayMs), offsetAt(startMs + 2 * dayMs)];
  const offsets = before === after ? [before] : [before, after];
  return (localMs) => {
    const found = offsets.map((offset) => localMs - offset);
    const isShown = (atMs: number, index: number): boolean => offsetAt(atMs) === offsets[index];
    const shown = found.length === 1 ? found : found.filter(isShown);
    return { shown: shown.toSorted((left, right) => left - right), skipped: localMs - before };
  };
}
