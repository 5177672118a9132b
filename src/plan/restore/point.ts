// Which version a restore goes to, out of what the store holds. FoundationDB's own translation of times needs the original
// database and takes a wrong one without a word, so times are translated here. Pure. Rules: spec/restore.md [RS47]-[RS49].
import { pointOf } from "../../api/effective-restore.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { formatTime } from "../../kube/time.ts";
import { versionAtTime } from "../../model/backup-time-map.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import type { Description } from "../backup/description.ts";
import { isOpenGap } from "../backup/gap.ts";
import type { NewWait } from "../wait.ts";
import type { RestoreSnapshot } from "./snapshot.ts";

export type Target = NonNullable<RestoreStatus["target"]> & { readonly version: number };

interface Window {
  readonly from: number;
  readonly to: number;
}

export function windowOf({ restorableFrom, restorableTo }: Description): Window | undefined {
  if (restorableFrom === undefined || restorableTo === undefined) return undefined;
  return { from: restorableFrom, to: restorableTo };
}

/** Why there is no version to restore; an early point lies before the window and will never be in it. */
export interface NoTarget {
  readonly wait: NewWait;
  readonly isEarly?: boolean;
}

/** The version to restore, or why there is none. */
export function targetOf(
  snapshot: RestoreSnapshot,
  step: string,
  window: Window,
): { readonly target: Target } | NoTarget {
  const point = pointOf(snapshot.restore.spec);
  if (point.kind === "latest") {
    const gap = gapBehind(snapshot, step, window);
    return gap === undefined ? { target: { version: window.to } } : { wait: gap };
  }
  if (point.kind === "version") {
    const { version } = point;
    if (version >= window.from && version <= window.to) return { target: { version } };
    const wait = outside(snapshot, step, window, `version ${version}`);
    return { wait, isEarly: version < window.from };
  }
  const { time, seconds } = point;
  if (seconds * 1000 > snapshot.nowMs) {
    return { wait: outside(snapshot, step, window, `${time} (that lies in the future)`) };
  }
  const found = versionAtTime(snapshot.timeline, seconds);
  if (found.kind === "before") {
    if (found.first === undefined) return { wait: unknownTime(snapshot, step, time) };
    return { wait: outside(snapshot, step, window, time), isEarly: true };
  }
  const { version, errorSeconds } = found;
  if (version < window.from || version > window.to) {
    const wait = outside(snapshot, step, window, `${time} (version ${version})`);
    return { wait, isEarly: version < window.from };
  }
  return { target: { version, time, earlierBySeconds: errorSeconds } };
}

/** The backup that runs can be restored from a point on that the store does not reach: what is asked for lies behind a gap. */
function gapBehind(
  { source, restore }: RestoreSnapshot,
  step: string,
  { to }: Window,
): NewWait | undefined {
  const { restorable, gap } = source?.status ?? {};
  if (source?.spec.schedule !== undefined || restore.spec.fromBackup === undefined)
    return undefined;
  const from = isOpenGap(gap) ? (gap.after ?? Infinity) : (restorable?.from?.version ?? 0);
  if (from <= to) return undefined;
  const name = restore.spec.fromBackup;
  return {
    step,
    reason: "RestoreOutsideWindow",
    message: `The backup ${name} was started again in the same place, and the logs in the store have a gap: the tools restore no later version than ${to}, from before it`,
    object: `foundationdbbackup/${name}`,
    remedy: `To restore what was there before the gap, make the restore anew with spec.to.version ${to} or an earlier one. For what the backup writes now, give it a spec.blobStoreConfiguration.backupName of its own, so that it begins without a gap.`,
    retryAfterMs: 60_000,
  };
}

function outside(
  { timeline, restore }: RestoreSnapshot,
  step: string,
  { from, to }: Window,
  what: string,
): NewWait {
  const [first, last] = [from, to].map((version) => {
    const time = timeText(timeline, version);
    return `version ${version}${time === "" ? "" : ` (${time})`}`;
  });
  const field = restore.spec.to === undefined ? "spec.backupVersion" : "spec.to";
  return {
    step,
    reason: "RestoreOutsideWindow",
    message: `The backup cannot be restored to ${what}: it reaches from ${first} to ${last}`,
    remedy: `Make the restore anew with a point of this window in ${field}. A continuous backup that runs moves on by itself.`,
    retryAfterMs: 300_000,
  };
}

const versionsPerSecond = 1_000_000;

/** About when the database had a version; empty when nobody knows. */
function timeText(timeline: readonly TimePair[], version: number): string {
  const index = timeline.findLastIndex((pair) => pair.version <= version);
  const [pair, next] = [timeline[index], timeline[index + 1]];
  if (pair === undefined) return "";
  const seconds = pair.seconds + (version - pair.version) / versionsPerSecond;
  const bound = next === undefined ? seconds : Math.min(seconds, next.seconds);
  return `about ${formatTime(Math.floor(bound) * 1000)}`;
}

function unknownTime({ restore }: RestoreSnapshot, step: string, time: string): NewWait {
  const { fromBackup } = restore.spec;
  const where =
    fromBackup === undefined
      ? "spec.timeline is empty"
      : `neither the ConfigMap ${fromBackup}-timeline nor the database of the backup tells`;
  return {
    step,
    reason: "RestoreTimeUnknown",
    message: `Which version the database had at ${time} is not known: ${where}`,
    remedy:
      "Put the lines of the backup's timeline into spec.timeline, or name a version in spec.to.version.",
    retryAfterMs: 60_000,
  };
}
