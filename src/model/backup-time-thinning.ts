// Keeps the map of times and versions of a backup small: new pairs are added at its end, and the older a stretch is, the
// fewer of its pairs stay. What is left out makes an answer less exact, never later than asked for. Carries the rules BK131
// and BK132 of spec/backup.md.
import type { TimedVersion, TimePair } from "./backup-time-map.ts";

/** A record has a pair every ten seconds; a database that is busy may be some seconds late. */
const stepSecondsMax = 30;
/** By how much versions may be ahead of or behind the time of a step without a recovery in it. */
const aheadSecondsMax = 3;
const behindSecondsMax = 5;
const versionsPerSecond = 1_000_000;

/** Adds what the database has noted since the last pair. */
export function extendTimeMap(
  pairs: readonly TimePair[],
  noted: readonly TimedVersion[],
): TimePair[] {
  const all = [...pairs];
  for (const { seconds, version } of noted) {
    const last = all.at(-1);
    if (last !== undefined && seconds <= last.seconds) continue;
    const pair = { seconds, version };
    const isSteady = last === undefined || isSteadyStep(last, pair);
    all.push(isSteady ? pair : { ...pair, isAfterGap: true });
  }
  return all;
}

function isSteadyStep(from: TimedVersion, to: TimedVersion): boolean {
  const seconds = to.seconds - from.seconds;
  const ahead = (to.version - from.version) / versionsPerSecond - seconds;
  return seconds <= stepSecondsMax && ahead <= aheadSecondsMax && -ahead <= behindSecondsMax;
}

const daySeconds = 86_400;
/** How far pairs of an age are apart. */
const widths: readonly { readonly ageSeconds: number; readonly widthSeconds: number }[] = [
  { ageSeconds: 14 * daySeconds, widthSeconds: 600 },
  { ageSeconds: 60 * daySeconds, widthSeconds: 3_600 },
  { ageSeconds: 365 * daySeconds, widthSeconds: 21_600 },
  { ageSeconds: Infinity, widthSeconds: daySeconds },
];
/** Of both sides of gaps, in each stretch. */
const gapPairsMax = 4;
/** About forty bytes each. */
export const timePairsMax = 6_000;

/** The first pair of each stretch, both sides of its gaps, and the newest pair. */
export function thinTimeMap(pairs: readonly TimePair[]): TimePair[] {
  let thinned = thinnedBy(pairs, 1);
  for (let factor = 2; thinned.length > timePairsMax && factor < 2 ** 30; factor *= 2) {
    thinned = thinnedBy(pairs, factor);
  }
  return thinned.slice(-timePairsMax);
}

function thinnedBy(pairs: readonly TimePair[], factor: number): TimePair[] {
  const newest = pairs.at(-1)?.seconds ?? 0;
  const kept: TimePair[] = [];
  let [stretch, gapPairs, isGapLost] = ["", 0, false];
  for (const [index, pair] of pairs.entries()) {
    const own = stretchOf(pair, newest, factor);
    const isFirst = own !== stretch;
    if (isFirst) [stretch, gapPairs] = [own, 0];
    const isAtGap = pair.isAfterGap === true || pairs[index + 1]?.isAfterGap === true;
    const isKept = isFirst || index === pairs.length - 1 || (isAtGap && gapPairs < gapPairsMax);
    if (isAtGap) gapPairs += 1;
    if (pair.isAfterGap === true) isGapLost = true;
    if (!isKept) continue;
    kept.push(isGapLost ? { ...pair, isAfterGap: true } : pair);
    isGapLost = false;
  }
  return kept;
}

function stretchOf({ seconds }: TimePair, newest: number, factor: number): string {
  const age = newest - seconds;
  const width = (widths.find(({ ageSeconds }) => age < ageSeconds)?.widthSeconds ?? 1) * factor;
  return `${width} ${Math.floor(seconds / width)}`;
}
