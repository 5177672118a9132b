// The figures of many clusters on one operator as one table, each beside its goal.
import { mark } from "./aims.ts";
import type { Phase, TakeOver } from "./fleet.ts";
import type { Rest } from "./rest.ts";
import { Metrics } from "./scraped-metrics.ts";
import { renderTable } from "./table.ts";

export interface FleetFigures {
  clusters: number;
  groups: number;
  restSeconds: number;
  empty: Metrics;
  creation: Phase;
  rest?: Rest;
  /** Requests for the Lease in the time of rest. */
  leaseRequests?: number;
  change?: Phase;
  takeOver?: TakeOver;
}

interface Row {
  what: string;
  figure: string;
  goal?: string;
  isMet?: boolean;
}

const passSeconds = "fdb_operator_reconcile_duration_seconds";
const waitSeconds = "fdb_operator_queue_wait_seconds";
const memoryGoalMiB = 1536;
const passGoalSeconds = 1;
const firstActGoalSeconds = 5;
const leaseGoal = 12;
/** A pass waits for a few requests, one after the other: beyond this its time says nothing of the operator. */
const serverLateSeconds = 0.1;

export function fleetTable(figures: FleetFigures): string {
  const { clusters, groups, change, takeOver } = figures;
  const rows = [
    ...creationRows(figures),
    ...(figures.rest === undefined ? [] : restRows(figures, figures.rest)),
    ...(change === undefined ? [] : changeRows(change)),
    ...(takeOver === undefined ? [] : takeOverRows(takeOver)),
  ];
  return renderTable<Row>(
    `${clusters} clusters with ${groups} process groups each, one operator`,
    [
      { title: "what", align: "left", cell: ({ what }) => what },
      { title: "figure", cell: ({ figure }) => figure },
      { title: "goal", cell: ({ goal = "-" }) => goal },
      { title: "", align: "left", cell: ({ isMet }) => (isMet === undefined ? "" : mark(isMet)) },
    ],
    rows,
  );
}

function creationRows({ empty, creation }: FleetFigures): Row[] {
  const { begun, ended, seconds } = creation;
  const lag = "nodejs_eventloop_lag_p99_seconds";
  return [
    { what: "memory without a cluster", figure: mebibytes(empty) },
    { what: "creation: all reconciled after", figure: `${seconds.toFixed(0)} s` },
    ...phaseRows("creation", creation),
    { what: "creation: requests", figure: String(ended.requests() - begun.requests()) },
    {
      what: "creation: event loop late, 99th percentile",
      figure: `${ended.sum(lag).toFixed(3)} s`,
    },
  ];
}

function restRows({ clusters, restSeconds, leaseRequests = 0 }: FleetFigures, rest: Rest): Row[] {
  const { begun, rested, writes, settledAfterSeconds } = rest;
  const perMinute = (amount: number): number => (amount * 60) / restSeconds;
  const cpu = perMinute(cpuSeconds(begun, rested));
  const cpuGoal = clusters === 1 ? 0.2 : clusters === 10 ? 1 : undefined;
  const memoryMiB = rested.sum("process_resident_memory_bytes") / 2 ** 20;
  const leases = perMinute(leaseRequests);
  return [
    {
      what: "last write of the creation after all were reconciled",
      figure: settledAfterSeconds === undefined ? "no end" : `${settledAfterSeconds.toFixed(0)} s`,
    },
    row("rest: memory, MiB", Math.round(memoryMiB), memoryGoalMiB),
    row("rest: processor seconds a minute", cpu, cpuGoal, 2),
    row("rest: requests for the Lease a minute", leases, leaseGoal, 1),
    row(`rest: writes in ${restSeconds} s, Leases left out`, writes.length, 0),
    {
      what: "rest: received a minute",
      figure: `${perMinute(received(begun, rested) / 1024).toFixed(0)} KiB`,
    },
    ...tailRows("rest", begun, rested),
  ];
}

function changeRows(change: Phase): Row[] {
  return [
    { what: "a knob for all: all reconciled after", figure: `${change.seconds.toFixed(0)} s` },
    ...phaseRows("a knob for all", change),
  ];
}

function takeOverRows(take: TakeOver): Row[] {
  const { leadingSeconds, firstActSeconds, memoryMiB } = take;
  return [
    { what: "killed: the other instance leads after", figure: `${leadingSeconds.toFixed(1)} s` },
    row("killed: first act after that, s", firstActSeconds, firstActGoalSeconds, 1),
    {
      what: "killed: processor seconds of the other until all were looked at",
      figure: take.cpuSeconds.toFixed(1),
    },
    { what: "killed: memory of the other then", figure: `${memoryMiB} MiB` },
  ];
}

function phaseRows(name: string, { begun, ended, served }: Phase): Row[] {
  const servedIn = (quantile: number): number =>
    (served[Math.floor(served.length * quantile)] ?? 0) / 1000;
  const isServerLate = servedIn(0.99) > serverLateSeconds;
  return [
    {
      what: `${name}: request at the server, median and 99th percentile`,
      figure: [0.5, 0.99].map((quantile) => `${servedIn(quantile).toFixed(3)} s`).join(", "),
    },
    {
      what: `${name}: processor seconds`,
      figure: cpuSeconds(begun, ended).toFixed(1),
    },
    { what: `${name}: memory`, figure: mebibytes(ended) },
    {
      what: `${name}: received`,
      figure: `${(received(begun, ended) / 2 ** 20).toFixed(1)} MiB`,
    },
    ...tailRows(name, begun, ended, isServerLate),
  ];
}

/** An instance that lost its Lease meanwhile counts anew. */
function begin(begun: Metrics, ended: Metrics): Metrics {
  const count = `${passSeconds}_count`;
  return ended.sum(count) < begun.sum(count) ? new Metrics("") : begun;
}

function tailRows(name: string, from: Metrics, ended: Metrics, isServerLate = false): Row[] {
  const begun = begin(from, ended);
  const p99 = percentile(passSeconds, begun, ended, 0.99);
  const text = (metric: string, quantile: number): string =>
    `at most ${percentile(metric, begun, ended, quantile)} s`;
  const count = ended.sum(`${passSeconds}_count`) - begun.sum(`${passSeconds}_count`);
  return [
    { what: `${name}: passes`, figure: String(count) },
    { what: `${name}: pass, median`, figure: text(passSeconds, 0.5) },
    {
      what: `${name}: pass, 99th percentile`,
      figure: text(passSeconds, 0.99),
      goal: isServerLate ? "server late" : `<= ${passGoalSeconds} s`,
      ...(isServerLate ? {} : { isMet: Number(p99) <= passGoalSeconds }),
    },
    { what: `${name}: wait for a worker, 99th percentile`, figure: text(waitSeconds, 0.99) },
  ];
}

function row(what: string, value: number, limit: number | undefined, digits = 0): Row {
  const figure = value.toFixed(digits);
  return limit === undefined
    ? { what, figure }
    : { what, figure, goal: `<= ${limit}`, isMet: value <= limit };
}

function cpuSeconds(from: Metrics, to: Metrics): number {
  return to.sum("process_cpu_seconds_total") - from.sum("process_cpu_seconds_total");
}

function received(from: Metrics, to: Metrics): number {
  const name = "fdb_operator_kubernetes_received_bytes_total";
  return to.sum(name) - from.sum(name);
}

function mebibytes(metrics: Metrics): string {
  return `${Math.round(metrics.sum("process_resident_memory_bytes") / 2 ** 20)} MiB`;
}

/** The upper bound of the bucket in which the quantile lies. */
function percentile(metric: string, from: Metrics, to: Metrics, quantile: number): string {
  const name = `${metric}_bucket`;
  const bounds = new Set(
    to.samples
      .filter((sample) => sample.name === name)
      .map(({ labels }) => /le="([^"]+)"/.exec(labels)?.[1] ?? ""),
  );
  const countOf = (bound: string): number =>
    to.sum(name, `le="${bound}"`) - from.sum(name, `le="${bound}"`);
  const all = countOf("+Inf");
  return [...bounds].find((bound) => countOf(bound) >= all * quantile) ?? "+Inf";
}
