// Follows the schedule of a backup: what became of its runs, and whether one is due. A run is listed in the status before
// anything is done for it, so an operator that dies goes on with it. Rules: spec/backup.md [BK140]-[BK145].
import type { BackupRun } from "../../api/backup.ts";
import { timeZoneOf } from "../../api/effective-backup.ts";
import { maskedUrl, runUrl } from "../../build/backup-url.ts";
import { formatTime } from "../../kube/time.ts";
import { parseCron } from "../../model/cron.ts";
import { isTimeZone } from "../../env/time-zone.ts";
import type { PlanEvent } from "../step.ts";
import { dueTime, rememberedTiming } from "./due.ts";
import { asleepSince, isRestorable, isRunning, recordOf } from "./facts.ts";
import { isOpen, isRunOf, listedRuns, newRun } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

export interface Followed {
  /** With the run that the database is to work on, or has worked on last. */
  readonly snapshot: BackupSnapshot;
  readonly result: BackupStepResult;
}

export function followSchedule(snapshot: BackupSnapshot): Followed {
  const { backup, nowMs } = snapshot;
  const { schedule } = backup.spec;
  const cron = schedule && parseCron(schedule.cron);
  // Validation has told what is wrong.
  if (cron?.ok !== true || schedule === undefined || !isTimeZone(timeZoneOf(schedule))) {
    return { snapshot, result: {} };
  }
  const memory = rememberedTiming(schedule, backup.status?.schedule, cron.value, nowMs);
  const before = backup.status?.runs ?? [];
  const seen = before.map((run) => seenRun(snapshot, run));
  const isDeleted = backup.metadata.deletionTimestamp !== undefined;
  const times = seen.map(({ time }) => time);
  const due = isDeleted ? undefined : dueTime(memory, cron.value, times, nowMs);
  const runs = listedRuns(due === undefined ? seen : withDue(snapshot, seen, due));
  const changed = runs.filter((run) => before.find(isSame(run))?.result !== run.result);
  const ended = changed.filter(({ result }) => result === "Succeeded");
  const run = runs.findLast(isOpen) ?? runs.findLast(({ url }) => url !== undefined);
  return {
    snapshot: { ...snapshot, ...(run === undefined ? {} : { run }) },
    result: {
      status: {
        schedule: memory.status,
        ...(runs.length === 0 ? {} : { runs }),
        ...(ended.length === 0 ? {} : { lastSuccess: formatTime(nowMs) }),
      },
      events: changed.flatMap(eventOf),
    },
  };
}

function isSame({ time }: BackupRun): (run: BackupRun) => boolean {
  return (run) => run.time === time;
}

/** What the database says of a run. */
function seenRun(snapshot: BackupSnapshot, run: BackupRun): BackupRun {
  const record = recordOf(snapshot);
  const { backupState = "Running" } = snapshot.backup.spec;
  if (record === undefined || !isRunOf(run, record)) {
    if (run.result === "Pending" && backupState !== "Running") {
      return { ...run, result: "Skipped", message: `spec.backupState is ${backupState}` };
    }
    // What has not begun goes where the spec says now.
    const { backup } = snapshot;
    return run.result === "Pending"
      ? { ...run, url: maskedUrl(runUrl(backup, run.backupName)) }
      : run;
  }
  if (run.result === "Skipped" || run.result === "Removed") return run;
  const { message: _m, ...rest } = run;
  if (isRunning(record)) return { ...rest, result: "Running" };
  const ended = run.ended ?? formatTime(snapshot.nowMs);
  if (isRestorable(record)) {
    return { ...rest, result: "Succeeded", ended, version: record.restorableTo ?? 0 };
  }
  const message = `the database has it as ${record.state}`;
  return { ...rest, result: "Failed", ended, message };
}

const asleepText = "the database sleeps";

function withDue(snapshot: BackupSnapshot, runs: readonly BackupRun[], dueMs: number): BackupRun[] {
  const { backup } = snapshot;
  const { backupState = "Running" } = backup.spec;
  if (backupState !== "Running") {
    return [...runs, newRun(backup, dueMs, "Skipped", `spec.backupState is ${backupState}`)];
  }
  if (asleepSince(snapshot) !== undefined) {
    return [...runs, newRun(backup, dueMs, "Skipped", asleepText)];
  }
  const running = runs.find(({ result }) => result === "Running");
  if (running !== undefined) {
    const message = `the run of ${running.time} has not ended`;
    return [...runs, newRun(backup, dueMs, "Skipped", message)];
  }
  // What could not begin gives way: a newer backup is worth more.
  const message = "it could not be started before the next one was due";
  const closed = runs.map((run) =>
    run.result === "Pending" ? { ...run, result: "Failed" as const, message } : run,
  );
  return [...closed, newRun(backup, dueMs, "Pending")];
}

function eventOf({ time, result, message = "" }: BackupRun): PlanEvent[] {
  const run = `The run of ${time}`;
  switch (result) {
    case "Succeeded":
      return [{ type: "Normal", reason: "BackupRunSucceeded", message: `${run} succeeded` }];
    case "Failed":
      return [{ type: "Warning", reason: "BackupRunFailed", message: `${run} failed: ${message}` }];
    case "Skipped":
      return [
        {
          type: message === asleepText ? "Normal" : "Warning",
          reason: "BackupRunSkipped",
          message: `${run} was skipped: ${message}`,
        },
      ];
    case "Pending":
    case "Running":
    case "Removed":
      return [];
  }
}
