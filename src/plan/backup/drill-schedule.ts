// Follows the drills of a backup: whether one is due, and why it is not made then. A drill is noted in the status before
// anything is done for it, so an operator that dies goes on with it. Rules: spec/backup.md [BK160], [BK161].
import type { BackupStatus, Drill } from "../../api/backup.ts";
import { isContinuous, timeZoneOf } from "../../api/effective-backup.ts";
import { drillNameOf } from "../../build/drill.ts";
import { isTimeZone } from "../../env/time-zone.ts";
import { conditionIn } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import { parseCron } from "../../model/cron.ts";
import type { PlanEvent } from "../step.ts";
import { behind } from "./behind.ts";
import { isAnythingLeft } from "./drill-objects.ts";
import { dueTime, rememberedTiming } from "./due.ts";
import { asleepSince, layerOf, ownRecord } from "./facts.ts";
import { isOpenGap } from "./gap.ts";
import { areAgentsSilent } from "./observed.ts";
import { hasSucceeded } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

/** So long after a drill was due the database may be read first. */
const unreadMs = 900_000;

type Skipped = NonNullable<NonNullable<BackupStatus["verification"]>["skipped"]>;

export function followDrills(snapshot: BackupSnapshot): BackupStepResult {
  const { backup, nowMs } = snapshot;
  const { status = {}, spec, metadata } = backup;
  const { verification } = spec;
  const cron = verification && parseCron(verification.schedule.cron);
  // Validation has told what is wrong. Without drills nothing of an earlier one is wanted any more.
  if (
    verification === undefined ||
    metadata.deletionTimestamp !== undefined ||
    cron?.ok !== true ||
    !isTimeZone(timeZoneOf(verification.schedule))
  ) {
    return { events: endedEarly(status.drill) };
  }
  const timing = rememberedTiming(verification.schedule, status.verification, cron.value, nowMs);
  const drill = goingOn(snapshot, status.drill);
  const before = status.verification?.skipped;
  const met = [status.drill?.time, status.lastVerification?.time, before?.time].flatMap(
    (time) => time ?? [],
  );
  const dueMs = dueTime(timing, cron.value, met, nowMs);
  const kept = { ...(drill === undefined ? {} : { drill }) };
  // An operator that has just started has read nothing yet, which is no reason to leave a drill out; nor is a sleep.
  const isUnread =
    asleepSince(snapshot) !== undefined ||
    (layerOf(snapshot) === undefined && nowMs - (dueMs ?? 0) < unreadMs);
  if (dueMs === undefined || isUnread) {
    const skipped = before === undefined ? {} : { skipped: before };
    return { status: { ...kept, verification: { ...timing.status, ...skipped } } };
  }
  const time = formatTime(dueMs);
  const message = drill === undefined ? obstacle(snapshot) : overlap(drill);
  if (message !== undefined) {
    const skipped: Skipped = { time, message, count: (before?.count ?? 0) + 1 };
    return {
      status: { ...kept, verification: { ...timing.status, skipped } },
      events: [event("Warning", "Skipped", `The drill of ${time} was skipped: ${message}`)],
    };
  }
  const name = drillNameOf(backup, time);
  const begun: Drill = { time, name, began: formatTime(nowMs), phase: "Preparing" };
  return {
    status: { drill: begun, verification: timing.status },
    events: [event("Normal", "Started", `The drill of ${time} begins with the cluster ${name}`)],
  };
}

export function event(type: PlanEvent["type"], what: string, message: string): PlanEvent {
  return { type, reason: `BackupDrill${what}`, message };
}

/** One that has its verdict is over when nothing of it is left. */
function goingOn({ drillObjects }: BackupSnapshot, drill: Drill | undefined): Drill | undefined {
  return drill?.phase === "Removing" && !isAnythingLeft(drillObjects) ? undefined : drill;
}

function endedEarly(drill: Drill | undefined): PlanEvent[] {
  if (drill === undefined || drill.phase === "Removing") return [];
  const message = `The drill of ${drill.time} was ended without a verdict: it is not wanted any more`;
  return [event("Normal", "Ended", message)];
}

function overlap({ time }: Drill): string {
  return `the drill of ${time} has not ended`;
}

/** Why a drill would tell nothing about the backup, or could not be made. */
function obstacle(snapshot: BackupSnapshot): string | undefined {
  const { backup } = snapshot;
  const { backupState = "Running", clusterName } = backup.spec;
  if (backupState !== "Running") return `spec.backupState is ${backupState}`;
  const layer = layerOf(snapshot);
  if (layer === undefined) return `the database of ${clusterName} cannot be read`;
  if (layer.isPaused) return "all agents of the database are paused";
  const isRestorable = ownRecord(snapshot)?.restorableTo !== undefined;
  if (!isRestorable && !hasSucceeded(backup.status ?? {})) {
    return "there is no point yet that can be restored";
  }
  if (isOpenGap(backup.status?.gap)) return "the logs in the store have a gap";
  if (isContinuous(backup.spec) && isBehind(snapshot)) return "the backup is behind";
  return areAgentsSilent(snapshot) === true ? "no agent speaks to the database" : undefined;
}

function isBehind(snapshot: BackupSnapshot): boolean {
  const told = conditionIn(snapshot.backup.status, "Behind");
  return (behind(snapshot) ?? told)?.status === "True";
}
