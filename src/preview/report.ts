// What the runs of a preview come to: the shape of `-o json`, which only grows. Pure. Rule PV7.
import type { Wait } from "../operate/dated-plan.ts";
import { isProtocolCompatible, parseVersion } from "../model/version.ts";
import { reasonOf } from "../plan/reasons/registry.ts";
import { lessAmounts, noAmounts, largerAmounts } from "./amounts.ts";
import type { Amounts } from "./amounts.ts";
import { phasesOf, statusPhase, subjectsOf } from "./phases.ts";
import type { Phase } from "./phases.ts";
import type { Picture } from "./picture.ts";
import type { ClusterFacts, RunRecord, Tolerance } from "./recorder.ts";
import type { Run } from "./run.ts";

/** Over all runs. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

export interface ReportedWait {
  readonly reason: string;
  readonly message: string;
  readonly remedy: string;
  /** "person": somebody has to do something; "look": it may take longer than usual; "passing": it goes by. */
  readonly concern: string;
}

export interface PreviewReport {
  readonly format: 1;
  readonly cluster: { readonly namespace: string; readonly name: string };
  readonly takenAt: string;
  /** In words. */
  readonly change: string;
  /**
   * "nothing": there is nothing to do; "done": it is done and at rest; "blocked": it waits and nothing more comes;
   * "refused": the API server does not take it; "unfinished": a limit of the preview came first; "lost": at the end no
   * living process holds some of the data, and what is done after that is a guess.
   */
  readonly outcome: "nothing" | "done" | "blocked" | "refused" | "unfinished" | "lost";
  /** Why it was refused. */
  readonly refusal?: string;
  /** What is allowed and hardly ever meant, or not what one may expect. */
  readonly warnings: readonly string[];
  readonly seeds: readonly number[];
  /** What the operator does without the change. None: the copy rests, as the cluster does. */
  readonly pending: readonly Phase[];
  /** Of the first run, in the order in which they begin. */
  readonly phases: readonly Phase[];
  readonly processGroups: {
    readonly added: Readonly<Record<string, Range>>;
    readonly removed: Readonly<Record<string, Range>>;
  };
  /** At the end still on their way out: their pods are on machines that do not answer. */
  readonly processGroupsLeaving: Range;
  /** Pods that are deleted and made again for process groups that stay. */
  readonly podsMadeAgain: Range;
  readonly processesRestarted: Range;
  readonly coordinatorChanges: Range;
  /** What the database is told to be, in order. */
  readonly configurations: readonly string[];
  readonly version?: { readonly from: string; readonly to: string };
  /** Each is a pause for applications. */
  readonly recoveries: Range;
  readonly longestPauseSeconds: number;
  readonly bytesMoved: Range;
  /** An estimate: bytes at the rate that was given. */
  readonly movementSeconds: Range;
  readonly bytesPerSecond: number;
  /** An estimate, without the movement of data. */
  readonly otherSeconds: Range;
  readonly faultTolerance: { readonly before?: Tolerance; readonly lowest?: Tolerance };
  /** The most that there is besides at one time. */
  readonly extra: Amounts;
  /** Pods that find no node, and what the scheduler says. */
  readonly withoutNode: Readonly<Record<string, string>>;
  readonly waits: readonly ReportedWait[];
  readonly irreversible: readonly string[];
  /** How the copy differs from what was pictured. */
  readonly differences: readonly string[];
  /** What no preview knows. */
  readonly unknown: readonly string[];
}

export interface ReportInput {
  readonly picture: Picture;
  /** In words. */
  readonly change: string;
  readonly warnings: readonly string[];
  readonly pending: Run;
  readonly runs: readonly Run[];
  /** Why the change was not taken. */
  readonly refusal?: string;
  readonly bytesPerSecond: number;
}

const unknown: readonly string[] = [
  "quotas, admission webhooks and other controllers of the real cluster",
  "what other users of the nodes will ask for meanwhile",
  "the real speed of disks, networks and image pulls, and the load of applications: times are estimates",
  "the settings of the running operator that are not in the resource: the copy has the defaults",
  "keys that operators keep in the database: locks, and lists of processes that others are about to restart",
];

const moreRecoveries =
  "whether the database recovers once or twice more by itself after a restart: it does when it recovers before it has heard of all its processes";

const lostData =
  "which data is lost: no status tells what lies where. Whether the database still serves, and what is done after the loss, hangs on it, so that all figures above are one way of several";

export function reportOf(input: ReportInput): PreviewReport {
  const { picture, change, runs, pending, refusal, bytesPerSecond } = input;
  const changed = runs.map(({ record }) => record);
  const [first] = changed;
  const range = (of: (record: RunRecord) => number): Range => rangeOf(changed.map(of));
  const { namespace = "default", name = "" } = picture.cluster.metadata;
  const bytesMoved = range(({ copiedBytes }) => copiedBytes);
  const version = versionOf(first);
  return {
    ...{ format: 1, cluster: { namespace, name }, takenAt: picture.takenAt, change },
    outcome: refusal === undefined ? outcomeOf(changed) : "refused",
    ...(refusal === undefined ? {} : { refusal }),
    warnings: [...new Set([...input.warnings, ...runs.flatMap(({ findings }) => findings)])],
    seeds: changed.map(({ seed }) => seed),
    pending: [...phasesOf(pending.record), ...statusPhase(pending.record)],
    phases: phasesOf(first),
    processGroups: {
      added: groupRanges(changed, ({ before, after }) => [after, before]),
      removed: groupRanges(changed, ({ before, after }) => [before, after]),
    },
    processGroupsLeaving: range(({ after }) => after.leaving.length),
    podsMadeAgain: range(podsMadeAgain),
    processesRestarted: range((record) => subjectsOf(record, "killProcesses").length),
    coordinatorChanges: range(coordinatorChanges),
    configurations: configurationsOf(first),
    ...(version === undefined ? {} : { version }),
    recoveries: range(({ recoveries }) => recoveries.length),
    longestPauseSeconds: Math.ceil(
      rangeOf(changed.flatMap(({ recoveries }) => recoveries.map(({ pauseMs }) => pauseMs))).most /
        1000,
    ),
    bytesMoved,
    movementSeconds: {
      least: Math.ceil(bytesMoved.least / bytesPerSecond),
      most: Math.ceil(bytesMoved.most / bytesPerSecond),
    },
    bytesPerSecond,
    otherSeconds: range(({ startedMs, doneMs }) => Math.ceil((doneMs - startedMs) / 1000)),
    faultTolerance: toleranceOf(changed),
    extra: changed
      .map(({ amounts }) => lessAmounts(amounts.most, amounts.before))
      .reduce(largerAmounts, noAmounts),
    withoutNode: Object.assign({}, ...changed.map(({ unscheduled }) => unscheduled)),
    waits: waitsOf(changed),
    irreversible: irreversibleOf(changed, version),
    differences: [...new Set([pending, ...runs].flatMap(({ notes }) => notes))],
    unknown: [
      ...(changed.some(({ isDataMissing }) => isDataMissing) ? [lostData] : []),
      ...(version === undefined ? [] : [`whether there are images of version ${version.to}`]),
      ...(changed.some((record) => subjectsOf(record, "killProcesses").length > 0)
        ? [moreRecoveries]
        : []),
      ...unknown,
    ],
  };
}

function rangeOf(values: readonly number[]): Range {
  if (values.length === 0) return { least: 0, most: 0 };
  return {
    least: values.reduce((least, value) => Math.min(least, value), Infinity),
    most: values.reduce((most, value) => Math.max(most, value), 0),
  };
}

function outcomeOf(records: readonly RunRecord[]): PreviewReport["outcome"] {
  if (records.some(({ isDataMissing }) => isDataMissing)) return "lost";
  if (records.some(({ end }) => end === "blocked")) return "blocked";
  if (records.some(({ end }) => end !== "rested")) return "unfinished";
  const isIdle = records.every(({ acts, writes }) => acts.length + writes.length === 0);
  return isIdle ? "nothing" : "done";
}

type Sides = (record: RunRecord) => [ClusterFacts, ClusterFacts];

/** By class, how many process groups are on one side and not on the other. */
function groupRanges(records: readonly RunRecord[], sides: Sides): Record<string, Range> {
  const counts = records.map((record) => {
    const [here, there] = sides(record);
    const found: Record<string, number> = {};
    for (const [id, processClass] of Object.entries(here.processGroups)) {
      if (id in there.processGroups) continue;
      found[processClass] = (found[processClass] ?? 0) + 1;
    }
    return found;
  });
  const classes = [...new Set(counts.flatMap((found) => Object.keys(found)))].toSorted();
  return Object.fromEntries(
    classes.map((name) => [name, rangeOf(counts.map((found) => found[name] ?? 0))]),
  );
}

/** A process group that was there before and got a pod again. */
export function podsMadeAgain(record: RunRecord): number {
  return subjectsOf(record, "createPod").filter((id) => id in record.before.processGroups).length;
}

export function coordinatorChanges({ acts }: RunRecord): number {
  return acts.filter(
    ({ action }) =>
      action.type === "changeCoordinators" ||
      (action.type === "excludeProcesses" && action.coordinators !== undefined),
  ).length;
}

function configurationsOf(record: RunRecord | undefined): string[] {
  return (record?.acts ?? []).flatMap(({ action }) =>
    action.type === "configureDatabase" ? [action.arguments] : [],
  );
}

function versionOf(record: RunRecord | undefined): PreviewReport["version"] {
  const [from, to] = [record?.before.runningVersion ?? "", record?.after.runningVersion ?? ""];
  return from === to || from === "" ? undefined : { from, to };
}

function toleranceOf(records: readonly RunRecord[]): PreviewReport["faultTolerance"] {
  const before = records[0]?.tolerance.before;
  const all = records.flatMap(({ tolerance: { lowest } }) =>
    lowest === undefined ? [] : [lowest],
  );
  const [first, ...others] = all;
  const lowest =
    first &&
    others.reduce(
      (low, one) => ({
        data: Math.min(low.data, one.data),
        availability: Math.min(low.availability, one.availability),
      }),
      first,
    );
  return { ...(before && { before }), ...(lowest && { lowest }) };
}

/** What the runs wait for at their end, each reason and message once. */
function waitsOf(records: readonly RunRecord[]): ReportedWait[] {
  const stopped = records.filter(({ end }) => end !== "rested");
  const waits = new Map<string, ReportedWait>();
  for (const wait of stopped.flatMap((record) => record.waits)) {
    waits.set(`${wait.reason} ${wait.object ?? ""}`, reported(wait));
  }
  return [...waits.values()];
}

function reported({ reason, message, remedy }: Wait): ReportedWait {
  return { reason, message, remedy, concern: reasonOf(reason)?.concern ?? "look" };
}

function irreversibleOf(
  records: readonly RunRecord[],
  version: PreviewReport["version"],
): string[] {
  const claims = rangeOf(
    records.map(({ acts }) =>
      acts
        .flatMap(({ action }) => (action.type === "removeProcessGroups" ? action.groups : []))
        .reduce((sum, { pvc }) => sum + (pvc === undefined ? 0 : 1), 0),
    ),
  );
  const [from, to] = [parseVersion(version?.from ?? ""), parseVersion(version?.to ?? "")];
  const isOtherLine = from !== undefined && to !== undefined && !isProtocolCompatible(from, to);
  return [
    ...(claims.most === 0
      ? []
      : [
          `volume claims deleted: ${rangeText(claims)}; those of excluded processes after their data was moved elsewhere, those removed without exclusion with all that they hold`,
        ]),
    ...(isOtherLine && version !== undefined
      ? [
          `the database goes from ${version.from} to ${version.to}: clients need a library of the new version, and the way back is a downgrade`,
        ]
      : []),
  ];
}

export function rangeText({ least, most }: Range): string {
  return least === most ? String(most) : `${least} to ${most}`;
}
