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
