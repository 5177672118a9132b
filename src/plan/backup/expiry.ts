// Step expireBackup: what only moments before the retention need is deleted from the store, once per interval. Everything
// from the end of the newest restorable snapshot that is old enough on stays restorable, and the tool is never forced.
// Rules: spec/backup.md [BK79], [BK100]-[BK105].
import { isContinuous, isUnmanaged, retentionOf } from "../../api/effective-backup.ts";
import { expireCommand } from "../../build/backup-command.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import { formatTime } from "../../kube/time.ts";
import { operatorTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import type { Description } from "./description.ts";
import { isOurs, isRunning, layerOf, shouldRun, wantedUrl } from "./facts.ts";
import { readerOf, readerWait } from "./readers.ts";
import { lastEnd, runCommand } from "./run-command.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupStepResult } from "./step.ts";
import { lookIntoStore } from "./store-look.ts";

const step = "expireBackup";
const otherwise = "nothing is expired";

export function expireBackup(snapshot: BackupSnapshot): BackupStepResult {
  const { backup } = snapshot;
  const oldest = expirableBefore(snapshot);
  if (oldest === undefined) return nothing;
  if (!isDue(snapshot)) return isRefused(snapshot) ? { waits: [refusedWait(snapshot)] } : nothing;
  const url = wantedUrl(snapshot);
  const reader = readerOf(snapshot.restores, [url]);
  if (reader !== undefined) return { waits: [readerWait(step, reader)] };
  // One look per interval: what was done last is part of the name of its pod.
  const context = `expiry ${backup.status?.expiry?.time ?? ""}`;
  const look = lookIntoStore(snapshot, { step, context, otherwise });
  if ("result" in look) return look.result;
  const { description, reads } = look;
  const versions = cutOf(description, oldest, backup.status?.expiry?.before);
  if (versions === undefined) return { status: { expiry: expiryOf(snapshot, description) } };
  const command = expireCommand(backup, url, context, versions);
  const end = lastEnd(snapshot, command);
  if (end !== undefined && /expiration would be unsafe/.test(end.message)) {
    return { status: { expiry: { ...expiryOf(snapshot, description), refused: true } } };
  }
  if (end?.isSuccess !== true) {
    const run = runCommand(snapshot, step, command);
    const { restorableAfter } = versions;
    const actions = (run.actions ?? []).map((action) => ({ ...action, restorableAfter }));
    return { ...run, actions, reads };
  }
  return concluded(snapshot, context, versions.before, reads);
}

/** The version before which nothing need be restorable; undefined when there is nothing to expire. */
export function expirableBefore(snapshot: BackupSnapshot): number | undefined {
  const { spec } = snapshot.backup;
  const layer = layerOf(snapshot);
  const record = layer?.record;
  if (retentionOf(spec) === undefined || isUnmanaged(spec) || !isContinuous(spec)) return undefined;
  if (record === undefined || !shouldRun(snapshot) || !isSteady(snapshot, record)) return undefined;
  const oldest = layer?.retainedFrom;
  const from = record.restorableFrom;
  // No snapshot is that old, so the window is shorter than what is to be kept.
  return oldest === undefined || from === undefined || oldest < from ? undefined : oldest;
}

/** It runs where it should, and can be restored. */
function isSteady(snapshot: BackupSnapshot, record: BackupRecord): boolean {
  return isRunning(record) && isOurs(snapshot, record) && record.url === wantedUrl(snapshot);
}

function isDue({ backup, nowMs }: BackupSnapshot): boolean {
  const lastMs = operatorTimeMs({ nowMs }, backup.status?.expiry?.time) ?? 0;
  return nowMs - lastMs >= (retentionOf(backup.spec)?.intervalMs ?? Infinity);
}

export function isRefused({ backup }: BackupSnapshot): boolean {
  return backup.status?.expiry?.refused === true;
}

/** When old data is looked for again; undefined before the first look. */
export function nextLookMs(snapshot: BackupSnapshot): number | undefined {
  const { backup } = snapshot;
  const lastMs = operatorTimeMs(snapshot, backup.status?.expiry?.time);
  const { intervalMs } = retentionOf(backup.spec) ?? {};
  return lastMs === undefined || intervalMs === undefined ? undefined : lastMs + intervalMs;
}

function refusedWait(snapshot: BackupSnapshot): NewWait {
  return {
    step,
    reason: "BackupExpiryRefused",
    message:
      "FoundationDB refused to expire old data, since too little could be restored afterwards: nothing was deleted",
    remedy: `Look at the store with \`fdbbackup describe --deep\`. It is tried again at ${formatTime(nextLookMs(snapshot) ?? 0)}.`,
    retryAfterMs: 300_000,
  };
}

/**
 * The newest restorable snapshot that ends early enough is the first that is kept. A cut that would take nothing away is
 * none: the tool keeps snapshots that reach over the cut, and moves it back to the beginning of a log, so that the same cut
 * would leave the same again.
 */
function cutOf(
  { snapshots }: Description,
  oldest: number,
  cutBefore: number | undefined,
): { before: number; restorableAfter: number } | undefined {
  const kept = snapshots.filter(({ end, isRestorable }) => isRestorable && end <= oldest).at(-1);
  const first = snapshots[0];
  if (kept === undefined || first === undefined || first.end >= kept.begin) return undefined;
  if (kept.begin === cutBefore) return undefined;
  return { before: kept.begin, restorableAfter: kept.end };
}

/** The tool prints what was asked for, not what is left: the store is looked at once more. */
function concluded(
  snapshot: BackupSnapshot,
  context: string,
  before: number,
  reads: readonly string[],
): BackupStepResult {
  const look = lookIntoStore(snapshot, {
    step,
    context: `${context} after ${before}`,
    otherwise,
  });
  if ("result" in look) {
    return { ...look.result, reads: [...reads, ...(look.result.reads ?? [])] };
  }
  const message = `Data before version ${before} was expired`;
  return {
    status: { expiry: { ...expiryOf(snapshot, look.description), before } },
    events: [{ type: "Normal", reason: "BackupExpired", message }],
  };
}

function expiryOf(
  { backup, nowMs }: BackupSnapshot,
  { restorableFrom }: Description,
): NonNullable<NonNullable<BackupStepResult["status"]>["expiry"]> {
  const { before } = backup.status?.expiry ?? {};
  return {
    time: formatTime(nowMs),
    ...(before === undefined ? {} : { before }),
    ...(restorableFrom === undefined ? {} : { restorableFrom }),
  };
}
