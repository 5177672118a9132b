// Step updateBackupStatus: what the database and the agents show of the backup, and trouble in it.
// Rules: spec/backup.md [BK80]-[BK82].
import type { BackupStatus } from "../../api/backup.ts";
import { agentCountOf, isUnmanaged, tagOf } from "../../api/effective-backup.ts";
import { maskedUrl, withoutSecrets } from "../../build/backup-url.ts";
import type { BackupLayer, BackupRecord } from "../../fdb/backup-layer.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import { asleepSince, isAtRest, isRestorable, isRunning, ownRecord, shouldRun } from "./facts.ts";
import { figuresOf } from "./figures.ts";
import { gapOf, isOpenGap } from "./gap.ts";
import { movedOf } from "./moved.ts";
import { versionWait } from "./run-command.ts";
import { hasSucceeded } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";
import { unreadableWait } from "./unreadable.ts";

const step = "updateBackupStatus";

export function updateBackupStatus(
  snapshot: BackupSnapshot,
  { status }: BackupDraft,
): BackupStepResult {
  const { layer } = snapshot;
  if (layer.kind === "missing") {
    const wait = unreadableWait(snapshot, step, layer);
    // A deletion goes on without it, and nobody is to make it again.
    const isDeleted = snapshot.backup.metadata.deletionTimestamp !== undefined;
    if (isDeleted && layer.reason === "NoCluster") return nothing;
    return asleepSince(snapshot) === undefined ? { waits: [wait] } : asleep(snapshot, status, wait);
  }
  const record = ownRecord(snapshot);
  const own = { ...layer.layer, record };
  const gap = record && gapOf(snapshot, record);
  const moved = record && movedOf(snapshot, record);
  const { restorable, ...figures } = figuresOf(own, snapshot.nowMs);
  const isBehindGap = isOpenGap(gap);
  const mismatch = versionWait(snapshot, step);
  return {
    status: {
      ...(record === undefined ? {} : { backupUID: record.uid }),
      backupDetails: detailsOf(snapshot, own, hasSucceeded(status), isBehindGap),
      state: stateOf(own),
      ...figures,
      // What lay before the gap stays what is said to be restorable.
      ...(isBehindGap || restorable === undefined ? {} : { restorable }),
      ...(gap === undefined ? {} : { gap }),
      ...(moved === undefined ? {} : { moved }),
    },
    waits: [
      ...(mismatch === undefined ? [] : [mismatch]),
      ...(isRunning(record) && areAgentsSilent(snapshot) === true ? [silentWait(snapshot)] : []),
      ...errorsOf(snapshot, own),
    ],
  };
}

/** Where all that was wanted had been brought about before the database fell asleep, nobody waits for anything. */
function asleep(
  snapshot: BackupSnapshot,
  { backupDetails }: BackupStatus,
  wait: NewWait,
): BackupStepResult {
  return {
    status: {
      state: "Asleep",
      ...(backupDetails && { backupDetails: { ...backupDetails, running: false } }),
    },
    waits: isAtRest(snapshot) ? [] : [wait],
  };
}

function detailsOf(
  { backup }: BackupSnapshot,
  { record, isPaused }: BackupLayer,
  hasRun: boolean,
  isBehindGap: boolean,
): BackupStatus["backupDetails"] {
  const running = isRunning(record);
  return {
    ...(record === undefined ? {} : { url: maskedUrl(record.url) }),
    running,
    paused: isPaused,
    ...(running && record !== undefined ? { snapshotTime: record.snapshotSeconds } : {}),
    restorable: (isRestorable(record) && !isBehindGap) || hasRun,
    tag: tagOf(backup.spec),
  };
}

function stateOf({ record, isPaused }: BackupLayer): string {
  if (record === undefined) return "NeverRan";
  return isPaused && isRunning(record) ? "Paused" : record.state;
}

/** Agents of another version are of no use anyway. While the backup does not run, a restore may need the agents. */
export function areAgentsSilent(snapshot: BackupSnapshot): boolean | "unknown" {
  const isSilent = isNoAgentHeard(snapshot);
  if (isSilent !== true) return isSilent;
  if (versionWait(snapshot, step) !== undefined) return false;
  return agentCountOf(snapshot.backup.spec) > 0 || isRunning(ownRecord(snapshot));
}

/** A layer document of an agent vanishes two minutes after its last word. */
export function isNoAgentHeard(snapshot: BackupSnapshot): boolean | "unknown" {
  const { database, layer } = snapshot;
  const layers = database?.cluster?.layers;
  if (layer.kind === "missing" || layers?._valid !== true) return "unknown";
  const running = (layers["backup"] as { instances_running?: number } | undefined)
    ?.instances_running;
  return (running ?? 0) === 0 && !mayStillSpeak(snapshot);
}

export const silentText = "No backup agent speaks to the database, so the backup makes no progress";

function silentWait({ backup }: BackupSnapshot): NewWait {
  return {
    step,
    reason: "BackupAgentsSilent",
    message: silentText,
    remedy:
      agentCountOf(backup.spec) === 0
        ? "Set spec.agentCount, or run agents elsewhere."
        : "Look at the logs of the agents: they may have another version, other certificates or an old cluster file.",
    retryAfterMs: 60_000,
  };
}

/** What an agent says shows in the status up to a minute later. */
const firstWordMs = 120_000;

/** An agent is so young that nobody could have heard of it; a silence that is known goes on. */
function mayStillSpeak(snapshot: BackupSnapshot): boolean {
  const { agentPods, facts, nowMs } = snapshot;
  if (facts.agentsSilent !== undefined) return false;
  return agentPods.some(({ metadata }) => {
    const madeMs = ownTimeMs(snapshot, metadata.creationTimestamp) ?? 0;
    return nowMs - madeMs < firstWordMs;
  });
}

/** Task timeouts are usual: another agent takes the task over. */
const usualErrors: ReadonlySet<number> = new Set([2382]);

/** Errors since the last point that can be restored: later success has outdated the others. */
function errorsOf(snapshot: BackupSnapshot, { record }: BackupLayer): NewWait[] {
  if (record === undefined || !isRunning(record) || isUnmanaged(snapshot.backup.spec)) return [];
  if (!shouldRun(snapshot)) return [];
  const recent = errorsSince(record);
  const [first] = recent;
  if (first === undefined) return [];
  const more = recent.length > 1 ? ` (and ${recent.length - 1} other kinds of errors)` : "";
  return [
    {
      step,
      reason: "BackupErrors",
      message: `The agents meet errors: ${withoutSecrets(first.text)}${more}`,
      remedy:
        "Look at the store: credentials of the agents, free space, reachability. The agents go on by themselves when it answers.",
      retryAfterMs: 60_000,
    },
  ];
}

function errorsSince(record: BackupRecord): BackupRecord["errors"] {
  const since = record.restorableTo ?? 0;
  return record.errors
    .filter(({ code, version }) => version > since && !usualErrors.has(code))
    .toSorted((left, right) => right.version - left.version);
}
