// A preview as a person reads it: one page. Pure. Rules PV8 and PV12.
import type { Amounts } from "./amounts.ts";
import type { Phase } from "./phases.ts";
import { rangeText } from "./report.ts";
import type { PreviewReport, Range } from "./report.ts";

const outcomes: Readonly<Record<PreviewReport["outcome"], string>> = {
  nothing: "There is nothing to do.",
  done: "It would be done, and the cluster at rest again.",
  blocked: "It would not be finished: it waits, and nothing more comes by itself.",
  refused: "It would be refused.",
  unfinished: "The preview reached its limit before the cluster was at rest.",
  lost: "Data would be lost, unless the machines that hold it come back: no living process has a copy of it at the end.",
};

export function pageOf(report: PreviewReport): string {
  const { cluster, takenAt, change, outcome, refusal, seeds } = report;
  const lines = [
    `Preview of ${cluster.namespace}/${cluster.name} as of ${takenAt}: ${change}`,
    `${outcomeText(report)}${refusal === undefined ? "" : ` ${refusal}`}`,
    ...alarmLines(report),
    "",
    ...section("Worth a second look", report.warnings),
    ...section("Already pending, without the change", pendingLines(report)),
    ...(outcome === "refused" ? [] : runSections(report)),
    ...section("How the copy differs from the cluster", report.differences),
    ...section("What this does not know", report.unknown),
    `Times are estimates of a simulation, from ${count(seeds.length, "run")} with ${count(seeds.length, "seed")}.`,
  ];
  return `${lines.join("\n")}\n`;
}

/** What nobody may overlook. */
function alarmLines({ faultTolerance: { lowest } }: PreviewReport): string[] {
  if (lowest === undefined) return [];
  return [
    ...(lowest.data < 0 ? ["SOME DATA WOULD HAVE NO LIVING COPY."] : []),
    ...(lowest.availability < 0 ? ["THE DATABASE WOULD NOT SERVE, for a time or for good."] : []),
  ];
}

/** Pods on machines that do not answer go only when somebody says that these are gone for good. */
function outcomeText({ outcome, processGroupsLeaving }: PreviewReport): string {
  if (outcome !== "done" || processGroupsLeaving.most === 0) return outcomes[outcome];
  const many = rangeText(processGroupsLeaving);
  return `It would be done, but some process groups are not gone at the end (${many}): their pods go when their machines answer again or their Node objects are deleted.`;
}

function runSections(report: PreviewReport): string[] {
  return [
    ...section("What would be done", report.phases.map(phaseLine)),
    ...section("What it comes to", factLines(report)),
    ...section("What waits", waitLines(report)),
    ...section("What cannot be undone", report.irreversible),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`), ""];
}

function pendingLines({ pending }: PreviewReport): string[] {
  if (pending.length === 0) return ["nothing: the copy rests without a write, as the cluster does"];
  return pending.map(phaseLine);
}

function phaseLine({ what, count: things, acts, fromSeconds, toSeconds }: Phase): string {
  const times = durations({ least: fromSeconds, most: toSeconds });
  const many =
    things > 1 ? ` (${things}${acts > 1 && acts < things ? `, in ${acts} steps` : ""})` : "";
  return `${what}${many}: after ${times}`;
}

function factLines(report: PreviewReport): string[] {
  const { recoveries, bytesMoved, movementSeconds, faultTolerance, version } = report;
  const groups = (title: string, of: Readonly<Record<string, Range>>): string[] =>
    Object.keys(of).length === 0
      ? []
      : [
          `process groups ${title}: ${Object.entries(of)
            .map(([name, range]) => `${rangeText(range)} ${name}`)
            .join(", ")}`,
        ];
  const counted = (title: string, range: Range): string[] =>
    range.most === 0 ? [] : [`${title}: ${rangeText(range)}`];
  const { before, lowest } = faultTolerance;
  return [
    ...groups("added", report.processGroups.added),
    ...groups("removed", report.processGroups.removed),
    ...counted("of these not gone at the end", report.processGroupsLeaving),
    ...counted("pods made again", report.podsMadeAgain),
    ...counted("processes restarted in place", report.processesRestarted),
    ...counted("changes of coordinators", report.coordinatorChanges),
    ...(version === undefined ? [] : [`version: ${version.from} to ${version.to}`]),
    `recoveries, each a pause for applications: ${rangeText(recoveries)}${
      recoveries.most === 0 ? "" : `, the longest about ${report.longestPauseSeconds} s`
    }`,
    bytesMoved.most === 0
      ? "data moved: none"
      : `data moved: ${bytesText(bytesMoved)}, about ${durations(movementSeconds)} at ${formatBytes(report.bytesPerSecond)}/s`,
    `time besides: about ${durations(report.otherSeconds)}`,
    ...(before === undefined || lowest === undefined
      ? []
      : [
          `zones that may fail without loss of data: ${before.data} before, ${lowest.data} at the lowest; without loss of availability: ${before.availability} before, ${lowest.availability} at the lowest`,
        ]),
    ...extraLines(report.extra),
    ...roomLines(report.withoutNode),
  ];
}

function extraLines({ pods, cpuMillis, memoryBytes, volumeBytes }: Amounts): string[] {
  if (pods + cpuMillis + memoryBytes + volumeBytes === 0) return [];
  return [
    `at most besides at one time: ${count(pods, "pod")}, ${cpuMillis / 1000} CPU, ${formatBytes(memoryBytes)} of memory, ${formatBytes(volumeBytes)} of volumes`,
  ];
}

function roomLines(withoutNode: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(withoutNode).toSorted();
  const [first] = names;
  if (first === undefined) return ["every pod finds a node"];
  return [
    `${count(names.length, "pod")} without a node, at least for a while: ${first}: ${withoutNode[first]}`,
  ];
}

function waitLines({ waits }: PreviewReport): string[] {
  return waits.flatMap(({ reason, message, remedy }) => [`${reason}: ${message}`, `  ${remedy}`]);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function durations({ least, most }: Range): string {
  const [from, to] = [duration(least), duration(most)];
  return from === to ? to : `${from} to ${to}`;
}

export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.round(minutes / 6) / 10} h`;
}

function bytesText({ least, most }: Range): string {
  const [from, to] = [formatBytes(least), formatBytes(most)];
  return from === to ? to : `${from} to ${to}`;
}

const units = ["B", "kB", "MB", "GB", "TB", "PB"];

export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : Math.round(value * 10) / 10} ${units[unit]}`;
}
