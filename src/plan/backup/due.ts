// When something that a line of cron begins is due: a run of a schedule, or a drill. Of several times that were missed only the
// newest is. Pure. Rules: spec/backup.md [BK145], [BK160].
import { timeZoneOf } from "../../api/effective-backup.ts";
import { mostOf } from "../../env/long-lists.ts";
import { formatTime } from "../../kube/time.ts";
import { lastFire, nextFire } from "../../model/cron.ts";
import type { Cron } from "../../model/cron.ts";
import { calendarTimeMs } from "../view/server-time.ts";

/** A line of cron, as a spec has it. */
export interface Timing {
  readonly cron: string;
  readonly timeZone?: string;
}

/** What a status remembers of it. */
export interface StoredTiming {
  readonly cron?: string;
  readonly timeZone?: string;
  readonly since?: string;
}

export interface RememberedTiming {
  readonly timeZone: string;
  readonly sinceMs: number;
  readonly status: StoredTiming & { readonly next?: string };
}

/** A line that is new, or another one, makes up for nothing. */
export function rememberedTiming(
  timing: Timing,
  known: StoredTiming | undefined,
  cron: Cron,
  nowMs: number,
): RememberedTiming {
  const [line, timeZone] = [timing.cron, timeZoneOf(timing)];
  const isKnown = known?.cron === line && known.timeZone === timeZone;
  const sinceMs = (isKnown ? calendarTimeMs(known.since) : undefined) ?? nowMs;
  const nextMs = nextFire(cron, timeZone, nowMs);
  const next = nextMs === undefined ? {} : { next: formatTime(nextMs) };
  const status = { cron: line, timeZone, since: formatTime(sinceMs), ...next };
  return { timeZone, sinceMs, status };
}

/**
 * The newest time that is due and was not met yet. Of several that were missed it is the only one. A clock that was put back
 * meets times again that were met.
 */
export function dueTime(
  { timeZone, sinceMs }: RememberedTiming,
  cron: Cron,
  met: readonly string[],
  nowMs: number,
): number | undefined {
  const times = met.map((time) => calendarTimeMs(time) ?? 0);
  const passed = [sinceMs, ...times].filter((atMs) => atMs <= nowMs);
  const fromMs = passed.length === 0 ? nowMs : mostOf(passed);
  const due = lastFire(cron, timeZone, fromMs, nowMs);
  return due !== undefined && times.includes(due) ? undefined : due;
}
