// The figures of a backup: what can be restored, as versions and times, how far that is behind, and how much was written.
// Times come from the database's own record of versions, which holds through recoveries. Rules: spec/backup.md [BK22], [BK80].
import type { BackupStatus } from "../../api/backup.ts";
import type { BackupLayer } from "../../fdb/backup-layer.ts";
import { formatTime } from "../../kube/time.ts";
import type { TimedVersion } from "../../model/backup-time-map.ts";
import { isRunning } from "./facts.ts";

type Figures = Pick<BackupStatus, "restorable" | "lag" | "bytes" | "snapshot">;

const versionsPerSecond = 1_000_000;

export function figuresOf(layer: BackupLayer, nowMs: number): Figures {
  const { record } = layer;
  if (record === undefined) return {};
  const { logBytes: logs, rangeBytes: snapshots } = record;
  const lagMs = isRunning(record) ? lagOf(layer, nowMs) : undefined;
  return {
    ...restorableOf(layer),
    ...(lagMs === undefined ? {} : { lag: durationText(lagMs) }),
    bytes: { logs, snapshots, total: logs + snapshots },
    ...snapshotOf(layer),
  };
}

function restorableOf(layer: BackupLayer): Pick<Figures, "restorable"> {
  const { record, fromTime } = layer;
  if (record?.restorableFrom === undefined || record.restorableTo === undefined) return {};
  const to = lastTime(layer, record.restorableTo);
  const begin = timeOf(fromTime === undefined ? [] : [fromTime], record.restorableFrom);
  // Versions jump in a recovery: what follows from the pair before it alone may be later than the end.
  const from = begin === undefined || to === undefined ? begin : Math.min(begin, to);
  return {
    restorable: {
      from: { version: record.restorableFrom, ...timeText(from) },
      to: { version: record.restorableTo, ...timeText(to) },
    },
  };
}

function timeText(seconds: number | undefined): { time?: string } {
  return seconds === undefined ? {} : { time: formatTime(Math.floor(seconds) * 1000) };
}

/** How far the last point that can be restored is behind; undefined when there is none, or no time is known. */
export function lagOf(layer: BackupLayer, nowMs: number): number | undefined {
  const version = layer.record?.restorableTo;
  if (version === undefined) return undefined;
  const seconds = lastTime(layer, version);
  return seconds === undefined ? undefined : Math.max(0, nowMs - seconds * 1000);
}

/** By the recent pairs, or by the one that was looked up for it. */
function lastTime({ times, toTime }: BackupLayer, version: number): number | undefined {
  return timeOf(times, version) ?? timeOf(toTime === undefined ? [] : [toTime], version);
}

/** When the database had a version: after the last pair that is not above it, and not after the next pair. */
export function timeOf(times: readonly TimedVersion[], version: number): number | undefined {
  const index = times.findIndex((pair) => pair.version <= version);
  const pair = times[index];
  if (pair === undefined) return undefined;
  const seconds = pair.seconds + (version - pair.version) / versionsPerSecond;
  const next = times[index - 1];
  return next === undefined ? seconds : Math.min(seconds, next.seconds);
}

/** How far the time of the present snapshot has gone; agents write a snapshot evenly over its period. */
function snapshotOf({ record, times }: BackupLayer): Pick<Figures, "snapshot"> {
  const [newest] = times;
  const { snapshotBegin: begin, snapshotTarget: target } = record ?? {};
  if (!isRunning(record) || newest === undefined) return {};
  if (begin === undefined || target === undefined || target <= begin) return {};
  const share = (newest.version - begin) / (target - begin);
  const leftSeconds = Math.max(0, target - newest.version) / versionsPerSecond;
  return {
    snapshot: {
      progress: Math.max(0, Math.min(100, Math.floor(share * 100))),
      eta: formatTime(Math.floor(newest.seconds + leftSeconds) * 1000),
    },
  };
}

/** The two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h${minutes % 60}m` : `${Math.floor(hours / 24)}d${hours % 24}h`;
}
