// What is wrong with the schedule of a backup: a line that nobody can read or that never fires, a time zone that does not
// exist, runs that are too close. The same of drills. Rules: spec/backup.md [BK143], [BK172].
import { leastFireDistance, nextFire, parseCron } from "../model/cron.ts";
import { isTimeZone } from "../env/time-zone.ts";
import type { BackupSpec } from "./backup.ts";
import { isContinuous, isUnmanaged } from "./effective-backup.ts";
import { problem, type ValidationProblem } from "./problem.ts";

export function scheduleProblems(spec: BackupSpec): ValidationProblem[] {
  const { schedule } = spec;
  if (schedule === undefined) return [];
  return [...modeProblems(spec), ...timingProblems(schedule, "spec.schedule", runs)];
}

/** What a line of cron begins. */
export interface Timed {
  readonly distanceMinimumMs: number;
  /** Why they must not be closer, after "fires every 5 minutes, and". */
  readonly reason: string;
  readonly remedy: string;
}

/** Each run takes about a minute at least. */
const runs: Timed = {
  distanceMinimumMs: 600_000,
  reason: "each run starts pods",
  remedy: "leave ten minutes between runs, or use a continuous backup",
};

export function timingProblems(
  { cron, timeZone }: { readonly cron: string; readonly timeZone?: string },
  field: string,
  timed: Timed,
): ValidationProblem[] {
  return [...zoneProblems(timeZone, field), ...cronProblems(cron, field, timed)];
}

function modeProblems(spec: BackupSpec): ValidationProblem[] {
  const field = "spec.schedule";
  if (isUnmanaged(spec)) {
    const message = "with backupType unmanaged the operator starts nothing";
    return [problem(field, "", message, "remove the field, or use another backupType")];
  }
  if (!isContinuous(spec)) return [];
  const message = "a continuous backup never ends, so it cannot begin again";
  return [problem(field, "", message, "set backupMode to oneTime, or use retention instead")];
}

export function zoneProblems(timeZone: string | undefined, field: string): ValidationProblem[] {
  if (timeZone === undefined || timeZone === "" || isTimeZone(timeZone)) return [];
  const message = `there is no time zone "${timeZone}"`;
  const remedy = "use a name of the IANA database, such as Europe/Berlin, or UTC";
  return [problem(`${field}.timeZone`, timeZone, message, remedy)];
}

/** Any day will do: it is the line that is judged, not the moment. */
const fromMs = Date.UTC(2026, 0, 1);

function cronProblems(line: string, parent: string, timed: Timed): ValidationProblem[] {
  const field = `${parent}.cron`;
  const wrong = cronProblem(line, field);
  if (wrong !== undefined) return [wrong];
  const cron = parseCron(line);
  if (!cron.ok) return [];
  const distanceMs = leastFireDistance(cron.value);
  if (distanceMs >= timed.distanceMinimumMs) return [];
  const message = `"${line}" fires every ${distanceMs / 60_000} minutes, and ${timed.reason}`;
  return [problem(field, line, message, timed.remedy)];
}

/** A line that nobody can read, or that never fires. */
export function cronProblem(line: string, field: string): ValidationProblem | undefined {
  const cron = parseCron(line);
  if (!cron.ok) {
    return problem(field, line, cron.error, 'write it like "0 3 * * *", every day at three');
  }
  if (nextFire(cron.value, "UTC", fromMs) !== undefined) return undefined;
  const message = `"${line}" never fires: no month that it names has such a day`;
  return problem(field, line, message, "change the day or the month");
}

/** What is valid and worth a thought. */
export function scheduleWarnings({ schedule, backupState }: BackupSpec): ValidationProblem[] {
  if (schedule === undefined) return [];
  const warnings: ValidationProblem[] = [];
  if (backupState === "Paused" || backupState === "Stopped") {
    const message = `no run begins while it is ${backupState}, and none is made up afterwards`;
    warnings.push(problem("spec.backupState", backupState, message, "set it to Running"));
  }
  if (schedule.keepLast === undefined) {
    const message = "the data of every run stays for ever";
    const remedy = "set how many successful runs are to be kept";
    warnings.push(problem("spec.schedule.keepLast", "", message, remedy));
  }
  return warnings;
}
