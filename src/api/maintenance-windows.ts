// The windows of a resource in which acts that disturb its database may begin: what is in force, what is wrong with them.
// Rules: spec/windows.md [WIN1], [WIN20]-[WIN23].
import { isTimeZone } from "../env/time-zone.ts";
import { leastFireDistance, parseCron } from "../model/cron.ts";
import { durationMs } from "../model/duration.ts";
import type { MaintenanceWindow } from "../model/maintenance-windows.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { windowsMax } from "./maintenance-window-schema.ts";
import type { maintenanceWindowsSchema } from "./maintenance-window-schema.ts";
import { timeZoneOf } from "./effective-backup.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import type { TypeOf } from "./schema.ts";
import { cronProblem, zoneProblems } from "./validate-schedule.ts";

/** On a resource: its value is the generation that does not wait for a window. The next change of the spec waits again. */
export const urgentGeneration = "foundationdb.org/urgent-generation";

type WindowSpec = NonNullable<TypeOf<typeof maintenanceWindowsSchema>>[number];

/** The schema takes no more of them, and none without a line or a duration; but it is not always asked first. */
function windowsIn(spec: ClusterSpec): readonly WindowSpec[] {
  const windows: readonly Partial<WindowSpec>[] = spec.automationOptions?.maintenanceWindows ?? [];
  return windows
    .slice(0, windowsMax)
    .map((window) => ({ ...window, cron: window.cron ?? "", duration: window.duration ?? "" }));
}

/** As other instances of the database read them; empty when there are none. */
export function windowsText(spec: ClusterSpec): string {
  const windows = windowsIn(spec);
  if (windows.length === 0) return "";
  return JSON.stringify(
    windows.map((window) => ({
      cron: window.cron,
      duration: window.duration,
      timeZone: timeZoneOf(window),
    })),
  );
}

/** What another instance announced; empty when it cannot be read. */
export function windowsOfText(text: string): readonly MaintenanceWindow[] {
  try {
    const found: unknown = JSON.parse(text);
    if (!Array.isArray(found)) return [];
    const maintenanceWindows = found.map((each: unknown) => {
      const { cron, duration, timeZone } = Object(each) as Readonly<Record<string, unknown>>;
      return { cron: String(cron), duration: String(duration), timeZone: String(timeZone) };
    });
    return maintenanceWindowsOf({ version: "", automationOptions: { maintenanceWindows } });
  } catch {
    // Another version may write something else: what is not understood is not judged.
    return [];
  }
}

/** Those that can be read: validation tells of the others, and then nothing is done at all. */
export function maintenanceWindowsOf(spec: ClusterSpec): readonly MaintenanceWindow[] {
  return windowsIn(spec).flatMap((window) => {
    const cron = parseCron(window.cron);
    const lengthMs = durationMs(window.duration);
    const timeZone = timeZoneOf(window);
    if (!cron.ok || lengthMs === undefined || !isTimeZone(timeZone)) return [];
    return [{ cron: cron.value, timeZone, durationMs: lengthMs }];
  });
}

const [shortestMs, longestMs] = [600_000, 7 * 86_400_000];
const parent = "spec.automationOptions.maintenanceWindows";

export function windowProblems(spec: ClusterSpec): ValidationProblem[] {
  const windows = windowsIn(spec);
  return windows.flatMap((window, index) => problemsOf(window, `${parent}[${index}]`));
}

function problemsOf(window: WindowSpec, field: string): ValidationProblem[] {
  const zone = zoneProblems(window.timeZone, field);
  const line = cronProblem(window.cron, `${field}.cron`);
  const length = lengthProblem(window.duration, `${field}.duration`);
  if (line !== undefined || length !== undefined)
    return [...zone, ...known(line), ...known(length)];
  return [...zone, ...known(endlessProblem(window, field))];
}

function known(found: ValidationProblem | undefined): ValidationProblem[] {
  return found === undefined ? [] : [found];
}

function lengthProblem(text: string, field: string): ValidationProblem | undefined {
  const lengthMs = durationMs(text);
  if (lengthMs === undefined) {
    const remedy = "write a number and one of s, m, h and d, such as 4h";
    return problem(field, text, `"${text}" is no duration`, remedy);
  }
  if (lengthMs < shortestMs) {
    return problem(field, text, `${text} is too short for anything`, "use 10m or more");
  }
  if (lengthMs <= longestMs) return undefined;
  return problem(field, text, `${text} is longer than a week`, "use 7d or less");
}

/** A window that opens again before it has closed is never closed. */
function endlessProblem(window: WindowSpec, field: string): ValidationProblem | undefined {
  const cron = parseCron(window.cron);
  const lengthMs = durationMs(window.duration) ?? 0;
  if (!cron.ok) return undefined;
  const distanceMs = leastFireDistance(cron.value);
  if (lengthMs < distanceMs) return undefined;
  const minutes = distanceMs / 60_000;
  const message = `it lasts ${window.duration} and "${window.cron}" opens it again after ${minutes} minutes, so that it overlaps itself`;
  const remedy =
    "make it shorter, or let it open less often; without any window everything happens at once";
  return problem(`${field}.duration`, window.duration, message, remedy);
}

/** Valid, but more often a slip: the same window twice. */
export function windowWarnings(spec: ClusterSpec): ValidationProblem[] {
  const windows = windowsIn(spec);
  return windows.flatMap((window, index) => {
    const earlier = windows.findIndex(
      (other) => other.cron === window.cron && timeZoneOf(other) === timeZoneOf(window),
    );
    if (earlier === index) return [];
    const message = `it opens together with ${parent}[${earlier}], and the longer of the two counts`;
    return [problem(`${parent}[${index}]`, window.cron, message, "remove one of them")];
  });
}
