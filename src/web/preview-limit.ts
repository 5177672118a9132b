// How long a preview that a page asked for may take: the server ends it then, and the page says so beforehand.
// Rules: spec/web.md [WEB25], spec/page.md [PAGE16].

/** By the clock, from the question on. */
export const previewLimitMs = 600_000;
/** Of computing, so that one that does not come to an end gives what it has found before it is ended. */
const computeSecondsMax = 480;

/** A copy of more process groups computes for minutes. */
export const manyGroups = 300;

/** How many times it is tried out. With other chances other things may happen; of a large cluster once has to do. */
export function previewSeeds(processGroups: number): number {
  return processGroups > manyGroups ? 1 : 2;
}

/** The more process groups there are, the longer a copy of them computes. */
export function computeSeconds(processGroups: number): number {
  return Math.min(computeSecondsMax, 60 + Math.ceil(processGroups / 4));
}
