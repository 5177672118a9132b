// Step followRestore: what the database shows of the restore, how far it is, what is in its way, and its end.
// Rules: spec/restore.md [RS4], [RS50]-[RS56].
import { isOver, wasStarted } from "../../api/effective-restore.ts";
import { restoreTagOf } from "../../api/effective-restore.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { maskedUrl, withoutSecrets } from "../../build/backup-url.ts";
import { isUnderWay } from "../../fdb/restore-layer.ts";
import type { RestoreLayer, RestoreRecord } from "../../fdb/restore-layer.ts";
import { formatTime } from "../../kube/time.ts";
import { damageOf } from "../backup/command-failure.ts";
import { unseenWait } from "../backup/unreadable.ts";
import { operatorTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import { pausedWait, silentWait } from "./agents.ts";
import { recordOf } from "./facts.ts";
import { nothing } from "./snapshot.ts";
import type { RestoreSnapshot, RestoreStepResult } from "./snapshot.ts";

const step = "followRestore";

export function followRestore(snapshot: RestoreSnapshot): RestoreStepResult {
  const { restore, layer } = snapshot;
  if (isOver(restore)) return nothing;
  if (layer.kind === "missing") {
    const name = restore.spec.destinationClusterName;
    const wait = unseenWait({ name, field: "spec.destinationClusterName" }, step, layer);
    return { waits: [wait] };
  }
  const record = recordOf(snapshot);
  if (record === undefined) return wasStarted(restore) ? { waits: [lostWait(snapshot)] } : nothing;
  const isEnded = !isUnderWay(record);
  const isLocked = layer.layer.lockUid === record.uid;
  const status = { ...observed(snapshot, record), ...progressOf(snapshot, record) };
  if (!isEnded) return { status, waits: troubles(snapshot, layer.layer, record) };
  if (isLocked) return { status, waits: [lockLeft(record)] };
  return { status: { ...status, endTime: formatTime(snapshot.nowMs) } };
}

function observed({ restore, nowMs }: RestoreSnapshot, record: RestoreRecord): RestoreStatus {
  const { startTime = formatTime(nowMs), target } = restore.status ?? {};
  return {
    running: true,
    state: record.state,
    tag: restoreTagOf(restore),
    restoreUID: record.uid,
    url: maskedUrl(record.url),
    target: { ...target, version: record.version },
    startTime,
  };
}

/** Less than this tells nothing about the speed. */
const leastShare = 0.02;

function progressOf(
  { restore, nowMs }: RestoreSnapshot,
  record: RestoreRecord,
): Pick<RestoreStatus, "progress"> {
  const { blocks, blocksFinished, bytes, state, version, appliedVersion } = record;
  const share = state === "completed" ? 1 : blocks === 0 ? 0 : Math.min(1, blocksFinished / blocks);
  const isApplying = state === "running" && share === 1 && appliedVersion !== undefined;
  const beganMs = operatorTimeMs({ nowMs }, restore.status?.startTime) ?? nowMs;
  const leftMs = ((nowMs - beganMs) * (1 - share)) / share;
  const isGoing = state === "running" && share >= leastShare && share < 1;
  return {
    progress: {
      percent: Math.floor(share * 100),
      bytes,
      ...(isApplying ? { versionsLeft: Math.max(0, version + 1 - appliedVersion) } : {}),
      ...(isGoing ? { eta: formatTime(nowMs + leftMs) } : {}),
    },
  };
}

function troubles(
  snapshot: RestoreSnapshot,
  { isPaused }: RestoreLayer,
  record: RestoreRecord,
): NewWait[] {
  const silent = silentWait(snapshot, step);
  return [
    runningWait(snapshot, record),
    ...(isPaused ? [pausedWait(snapshot, step)] : []),
    ...(silent === undefined || isPaused ? [] : [silent]),
    ...errorWaits(snapshot, record),
  ];
}

function runningWait({ restore }: RestoreSnapshot, { state, version }: RestoreRecord): NewWait {
  const name = restore.spec.destinationClusterName;
  const words =
    state === "running"
      ? `The restore to version ${version} runs`
      : `The restore to version ${version} waits for an agent to take it up`;
  return {
    step,
    reason: "RestoreRunning",
    message: `${words}; until its end the whole database of ${name} is locked`,
    object: `foundationdbcluster/${name}`,
    remedy:
      "Nothing: it passes by itself. Deleting this resource aborts it, unless spec.deletionPolicy is keep.",
    retryAfterMs: 30_000,
  };
}

/** The last error stays in the database when all goes well again: it counts while nothing moves. */
function errorWaits({ layerBefore }: RestoreSnapshot, record: RestoreRecord): NewWait[] {
  const { error, uid } = record;
  if (error === undefined) return [];
  const before = layerBefore?.layer.restores.find((each) => each.uid === uid);
  const hasMoved =
    record.state === "running" &&
    (before === undefined ||
      before.blocksFinished !== record.blocksFinished ||
      before.bytes !== record.bytes ||
      before.appliedVersion !== record.appliedVersion);
  if (hasMoved) return [];
  const text = withoutSecrets(error).replaceAll(/\s+/g, " ").slice(0, 500);
  return [
    {
      step,
      reason: "RestoreErrors",
      message: `The restore stands still, and the last error that an agent met is: ${text}`,
      remedy:
        "Look at the store and at the credentials of the agents. They go on by themselves when it answers; a file that is lost or damaged never comes back: then abort, and restore to another point.",
      ...damageOf(error),
      retryAfterMs: 60_000,
    },
  ];
}

/** The database was made anew, or somebody has deleted its keys. */
function lostWait({ restore }: RestoreSnapshot): NewWait {
  const name = restore.spec.destinationClusterName;
  return {
    step,
    reason: "RestoreLost",
    message: `The restore was started, and the database of ${name} knows nothing of it: it is not started again`,
    object: `foundationdbcluster/${name}`,
    remedy: "If the data is still wanted there, make a new FoundationDBRestore.",
    retryAfterMs: 300_000,
  };
}

function lockLeft({ uid, state }: RestoreRecord): NewWait {
  return {
    step,
    reason: "RestoreDatabaseLocked",
    message: `The restore is ${state}, and its lock ${uid} is still on the database: nobody can read or write`,
    remedy: `Unlock it with \`unlock ${uid}\` in fdbcli.`,
    retryAfterMs: 30_000,
  };
}
