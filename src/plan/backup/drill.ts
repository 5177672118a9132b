// Step verifyBackup: a drill goes on. The source is measured, a cluster is made, the backup is restored into it, what it holds is
// compared, and the user's check looks at it. Each phase is stored before anything is done for it.
// Rules: spec/backup.md [BK162]-[BK168].
import type { Drill } from "../../api/backup.ts";
import type { Figures } from "../../api/backup-status.ts";
import { drillDeadlineMsOf, drillDeadlineOf } from "../../api/effective-backup.ts";
import { isOver } from "../../api/effective-restore.ts";
import { checkContainerName, checkPod, drillCluster, drillRestore } from "../../build/drill.ts";
import type { DatabaseFigures } from "../../fdb/figures.ts";
import { operatorTimeMs, ownTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import type { BackupAction } from "./action.ts";
import { commandEnd } from "./command-end.ts";
import { drillStep as step, isOf } from "./drill-objects.ts";
import {
  differenceOf,
  neverBegan,
  roomFor,
  stuckOn,
  troublesOf,
  verdictOf,
} from "./drill-verdict.ts";
import { startTrouble } from "./run-command.ts";
import type { BackupSnapshot, FiguresWish } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";

/** What a phase comes to: it goes on, in this phase or the next, or the drill is over. */
interface Progress {
  readonly drill: Drill;
  readonly actions?: readonly BackupAction[];
  readonly waits?: readonly NewWait[];
  readonly figures?: FiguresWish;
  readonly end?: { readonly failure: string | undefined };
}

type Phase = (snapshot: BackupSnapshot, drill: Drill) => Progress;

const phases: Readonly<Record<Exclude<Drill["phase"], "Removing">, Phase>> = {
  Preparing: prepare,
  Creating: create,
  Restoring: restore,
  Comparing: compare,
  Checking: check,
};

export function verifyBackup(snapshot: BackupSnapshot, { status }: BackupDraft): BackupStepResult {
  const { drill: given } = status;
  if (given === undefined || given.phase === "Removing") return nothing;
  const { drill, actions = [], waits = [], figures, end } = phases[given.phase](snapshot, given);
  const failure =
    end?.failure ?? (end === undefined ? lateness(snapshot, drill, waits) : undefined);
  if (end !== undefined || failure !== undefined) return verdictOf(snapshot, drill, failure);
  return { status: { drill }, actions, waits, ...(figures === undefined ? {} : { figures }) };
}

/** Why a drill has not ended in its time; undefined while it has time. */
function lateness(
  { backup, nowMs }: BackupSnapshot,
  { began }: Drill,
  waits: readonly NewWait[],
): string | undefined {
  const { verification } = backup.spec;
  const beganMs = operatorTimeMs({ nowMs }, began) ?? nowMs;
  if (verification === undefined || nowMs - beganMs < drillDeadlineMsOf(verification)) {
    return undefined;
  }
  const reasons = waits.map(({ message }) => message).join("; ");
  return `it had not ended after ${drillDeadlineOf(verification)}. ${reasons}`;
}

function prepare(snapshot: BackupSnapshot, given: Drill): Progress {
  const { backup } = snapshot;
  const { clusterName } = backup.spec;
  const { drill, wish } = measured(snapshot, given, "source", clusterName);
  if (drill.source === undefined) {
    const message = `The drill of ${drill.time} reads how much the database of ${clusterName} holds`;
    return { drill, waits: [runningWait(drill, message)], figures: wish };
  }
  const cluster = clusterOf(snapshot, drill);
  const { bytes, needed } = roomFor(cluster.spec, drill.source);
  if (bytes >= needed) {
    const actions = [{ type: "createCluster" as const, step, object: cluster }];
    return { drill: { ...drill, phase: "Creating" }, actions };
  }
  const message = `The volumes of the storage processes of spec.verification.template hold ${bytes} bytes in all, and a restore of ${drill.source.bytes} bytes in all copies needs ${needed}`;
  const remedy =
    "Give spec.verification.template larger volumes for storage or more storage processes, or redundancy_mode single.";
  return {
    drill,
    waits: [{ step, reason: "BackupDrillTooSmall", message, remedy, retryAfterMs: 60_000 }],
  };
}

/** With the figures of a database, once they were read. */
function measured(
  { figures }: BackupSnapshot,
  drill: Drill,
  which: "source" | "copy",
  clusterName: string,
): { drill: Drill; wish: FiguresWish } {
  const purpose = `${drill.name} ${which}`;
  const isRead = drill[which] === undefined && figures?.purpose === purpose;
  return {
    wish: { purpose, clusterName },
    drill: isRead ? { ...drill, [which]: figuresOf(figures.figures) } : drill,
  };
}

function figuresOf({ keys, bytes, isEstimated }: DatabaseFigures): Figures {
  return { keys, bytes, ...(isEstimated ? { estimated: true } : {}) };
}

function clusterOf(
  { backup, cluster }: BackupSnapshot,
  { name }: Drill,
): ReturnType<typeof drillCluster> {
  const version = cluster?.status?.runningVersion || cluster?.spec.version || backup.spec.version;
  return drillCluster(backup, name, version);
}

function create(snapshot: BackupSnapshot, drill: Drill): Progress {
  const { name } = drill;
  const cluster = snapshot.drillObjects.clusters.find(({ metadata }) => isOf(drill, metadata));
  if (cluster === undefined) {
    const actions = [{ type: "createCluster" as const, step, object: clusterOf(snapshot, drill) }];
    return { drill, actions, waits: [runningWait(drill, `The cluster ${name} is to be made`)] };
  }
  const { configured, health } = cluster.status ?? {};
  if (configured === true && health?.available === true) {
    const object = drillRestore(snapshot.backup, name);
    const actions = [{ type: "createRestore" as const, step, object }];
    return { drill: { ...drill, phase: "Restoring" }, actions };
  }
  const stuck = stuckOn(snapshot, cluster);
  if (stuck !== undefined) {
    return { drill, end: { failure: `the cluster ${name} did not come up: ${stuck.message}` } };
  }
  const told = troublesOf(snapshot, cluster)[0]?.message;
  const message = `The cluster ${name} is being made${told === undefined ? "" : `: ${told}`}`;
  return { drill, waits: [runningWait(drill, message)] };
}

function restore(snapshot: BackupSnapshot, drill: Drill): Progress {
  const { name } = drill;
  const { clusters, restores } = snapshot.drillObjects;
  if (!clusters.some(({ metadata }) => isOf(drill, metadata))) {
    return {
      drill,
      end: { failure: `the cluster ${name} was deleted before the restore had ended` },
    };
  }
  const found = restores.find(({ metadata }) => isOf(drill, metadata));
  if (found === undefined) {
    const object = drillRestore(snapshot.backup, name);
    const actions = [{ type: "createRestore" as const, step, object }];
    return { drill, actions, waits: [runningWait(drill, `The restore ${name} is to be made`)] };
  }
  const { state, target } = found.status ?? {};
  const version = target?.version;
  const known: Drill = { ...drill, ...(version === undefined ? {} : { version }) };
  if (isOver(found)) {
    if (state === "completed") return compare(snapshot, { ...known, phase: "Comparing" });
    return { drill: known, end: { failure: `the restore ${name} was ${state ?? "ended"}` } };
  }
  const stuck = stuckOn(snapshot, found) ?? neverBegan(snapshot, found);
  if (stuck !== undefined) {
    return {
      drill: known,
      end: { failure: `the restore ${name} does not get on: ${stuck.message}` },
    };
  }
  const told = troublesOf(snapshot, found)[0]?.message;
  const message = `The restore ${name} is under way${told === undefined ? "" : `: ${told}`}`;
  return { drill: known, waits: [runningWait(known, message)] };
}

function compare(snapshot: BackupSnapshot, given: Drill): Progress {
  const { backup } = snapshot;
  const { drill, wish } = measured(snapshot, given, "copy", given.name);
  if (drill.copy === undefined) {
    const message = `The drill of ${drill.time} reads how much was restored`;
    return { drill, waits: [runningWait(drill, message)], figures: wish };
  }
  const failure = differenceOf(backup, drill.source ?? { keys: 0, bytes: 0 }, drill.copy);
  if (failure !== undefined) return { drill, end: { failure } };
  if (backup.spec.verification?.check === undefined) return { drill, end: { failure: undefined } };
  const actions = [{ type: "createCheck" as const, step, object: checkPod(backup, drill.name) }];
  return { drill: { ...drill, phase: "Checking" }, actions };
}

/** A pod that no node takes within this time is no check. */
const unplacedMs = 1_800_000;

function check(snapshot: BackupSnapshot, drill: Drill): Progress {
  const { backup, drillObjects, nowMs } = snapshot;
  if (backup.spec.verification?.check === undefined) return { drill, end: { failure: undefined } };
  const pod = drillObjects.pods.find(({ metadata }) => isOf(drill, metadata));
  if (pod === undefined) {
    const object = checkPod(backup, drill.name);
    const actions = [{ type: "createCheck" as const, step, object }];
    return { drill, actions, waits: [runningWait(drill, "The pod of the check is to be made")] };
  }
  const podName = pod.metadata.name ?? "";
  const end = commandEnd(snapshot, pod, checkContainerName(backup));
  if (end !== undefined) {
    const code = end.exitCode === undefined ? "" : ` with exit code ${end.exitCode}`;
    const said = end.message === "" ? "" : `: ${end.message.replaceAll(/\s+/g, " ").slice(-1000)}`;
    const failure = end.isSuccess ? undefined : `the check in pod ${podName} failed${code}${said}`;
    return { drill, end: { failure } };
  }
  const trouble = startTrouble(pod);
  const madeMs = ownTimeMs(snapshot, pod.metadata.creationTimestamp) ?? nowMs;
  if (pod.status?.startTime === undefined && nowMs - madeMs >= unplacedMs) {
    return { drill, end: { failure: `the pod ${podName} of the check did not start: ${trouble}` } };
  }
  const message = `The check runs in pod ${podName}${trouble === "" ? "" : `, which has not started: ${trouble}`}`;
  return { drill, waits: [runningWait(drill, message)] };
}

function runningWait({ name }: Drill, message: string): NewWait {
  return {
    step,
    reason: "BackupDrillRunning",
    message,
    object: `foundationdbcluster/${name}`,
    remedy: `Nothing: the drill has a deadline. \`kubectl fdb explain restore/${name}\` says more while it restores.`,
    retryAfterMs: 15_000,
  };
}
