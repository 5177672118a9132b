// When maintenance windows are open: each begins where its line of cron fires and lasts for its duration in real time, also over
// a change of the clocks. Several together are open while one of them is. Pure. Carries the rules WIN1 and WIN2 of
// spec/windows.md.
import { leastOf, mostOf } from "../env/long-lists.ts";
import { lastFire, nextFire } from "./cron.ts";
import type { Cron } from "./cron.ts";

export interface MaintenanceWindow {
  readonly cron: Cron;
  readonly timeZone: string;
  readonly durationMs: number;
}

/** When the window that is open at this moment closes; undefined while none is open. */
export function openUntil(
  windows: readonly MaintenanceWindow[],
  nowMs: number,
): number | undefined {
  const ends = windows.flatMap(({ cron, timeZone, durationMs }) => {
    const beganMs = lastFire(cron, timeZone, nowMs - durationMs, nowMs);
    return beganMs === undefined ? [] : [beganMs + durationMs];
  });
  return ends.length === 0 ? undefined : mostOf(ends);
}

/** Long enough for what opens once a month. */
const lookAheadMs = 35 * 86_400_000;
/** More openings in that time than these are not followed one by one. */
const openingsMax = 70;

/** Whether both are open at some moment of the next 35 days; true where that cannot be told. */
export function doMeet(
  first: readonly MaintenanceWindow[],
  second: readonly MaintenanceWindow[],
  nowMs: number,
): boolean {
  if (openUntil(first, nowMs) !== undefined && openUntil(second, nowMs) !== undefined) return true;
  if (opensInTime(first, second, nowMs) || opensInTime(second, first, nowMs)) return true;
  return meets(first, second, nowMs) ?? meets(second, first, nowMs) ?? true;
}

/** Whether the other opens before the one that is open at this moment closes. */
function opensInTime(
  one: readonly MaintenanceWindow[],
  other: readonly MaintenanceWindow[],
  atMs: number,
): boolean {
  const untilMs = openUntil(one, atMs);
  const next = untilMs === undefined ? undefined : nextOpening(other, atMs);
  return untilMs !== undefined && next !== undefined && next.atMs < untilMs;
}

/** By all openings of the one in that time; undefined when there is none, or too many. */
function meets(
  one: readonly MaintenanceWindow[],
  other: readonly MaintenanceWindow[],
  nowMs: number,
): boolean | undefined {
  let atMs = nowMs;
  for (let count = 0; count < openingsMax; count += 1) {
    const opening = nextOpening(one, atMs);
    if (opening === undefined || opening.atMs > nowMs + lookAheadMs) {
      return count === 0 ? undefined : false;
    }
    atMs = opening.atMs;
    if (openUntil(other, atMs) !== undefined) return true;
    if (opensInTime(one, other, atMs)) return true;
  }
  return undefined;
}

/** The next moment at which a window opens; undefined when none ever does. */
export function nextOpening(
  windows: readonly MaintenanceWindow[],
  afterMs: number,
): { readonly atMs: number; readonly timeZone: string } | undefined {
  const found = windows.flatMap(({ cron, timeZone }) => {
    const atMs = nextFire(cron, timeZone, afterMs);
    return atMs === undefined ? [] : [{ atMs, timeZone }];
  });
  const firstMs = leastOf(found.map(({ atMs }) => atMs));
  return found.find(({ atMs }) => atMs === firstMs);
}
