// `npm run bench:real`: one operator in its own process against a real API server, with emulated nodes and simulated
// databases: what creating and changing a cluster costs, many clusters at once, and whether there is quiet at rest.
// The figures are those of one machine: no test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "../scripts/bundle.ts";
import { foundationDbClusters } from "../src/api/cluster.ts";
import { machineClock, sleep } from "../src/env/clock.ts";
import { isReconciled } from "../src/sim/world.ts";
import {
  install,
  operatorNamespace as namespace,
  operatorUser,
} from "../test/end-to-end/installation.ts";
import { startNodes, startOperator } from "../test/end-to-end/programs.ts";
import type { Program } from "../test/end-to-end/programs.ts";
import { openWorld } from "../test/end-to-end/scenario.ts";
import type { EndToEnd } from "../test/end-to-end/scenario.ts";
import { eventually } from "../test/eventually.ts";
import { watchRest } from "./rest.ts";
import type { Rest, RestWrite } from "./rest.ts";
import { sampleCluster } from "./sample-cluster.ts";
import { scrape } from "./scraped-metrics.ts";
import type { Metrics } from "./scraped-metrics.ts";
import { renderTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    clusters: { type: "string", default: "50" },
    groups: { type: "string", default: "20" },
    rest: { type: "string", default: "60" },
    /** Leaves out the rows of one cluster. */
    "only-many": { type: "boolean", default: false },
  },
});
const [clusters, groups, restSeconds] = [values.clusters, values.groups, values.rest].map(Number);
const clock = machineClock();
const patienceMs = 20 * 60_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Row {
  what: string;
  seconds: number;
  requests: number;
  statusWrites: number;
  recoveries: number;
}

const folder = mkdtempSync(join(tmpdir(), "fdb-operator-bench-"));
const stage = await openWorld(say, { audits: true });
try {
  const program = join(folder, "dist", "fdb-operator.mjs");
  await bundle("src/cli/main.ts", program);
  const token = await install(stage.world);
  const count = Math.ceil(((clusters ?? 0) * (groups ?? 0)) / 15) + 6;
  const { databasePort } = await startNodes(stage.world, { nodes: count, zones: 3, seed: 1 });
  const flags = ["--metrics-addr=127.0.0.1:0"];
  const operator = startOperator(stage.world, { token, namespace, databasePort, program, flags });
  await stage.world.eventually("the operator works", async () => {
    if (operator.child.exitCode !== null) throw new Error(operator.lines.join("\n"));
    return operator.lines.find((line) => line.includes('"the operator works"'));
  });
  await measure(stage.world, operator);
} finally {
  await stage.end();
  clock.stop();
  rmSync(folder, { recursive: true });
}

async function measure(world: EndToEnd, running: Program): Promise<void> {
  const empty = await scrape(running);
  const rows = values["only-many"] ? [] : await operations(world, running);
  const before = await scrape(running);
  const startedMs = clock.nowMs();
  const names = Array.from({ length: clusters ?? 0 }, (_, index) => `many-${index + 1}`);
  say(`${names.length} clusters with ${groups} process groups each`);
  for (const name of names) await create(world, name, groups ?? 0);
  for (const name of names) await untilReconciled(world, name);
  const seconds = (clock.nowMs() - startedMs) / 1000;
  const created = await scrape(running);
  const served = world.controlPlane
    .audited(operatorUser)
    .filter(({ verb, atMs }) => verb !== "watch" && atMs >= startedMs)
    .map(({ durationMs }) => durationMs)
    .sort((left, right) => left - right);
  say(`rest, and then ${restSeconds} s of it are watched`);
  const rest = await watchRest(world, running, clock, restSeconds ?? 0);
  const figures = { empty, before, created, served, rest, seconds };
  process.stdout.write(`${operationsText(rows)}\n${manyText(figures)}\n`);
  const tell = (when: string) => (write: RestWrite) =>
    process.stdout.write(`${new Date(write.atMs).toISOString()} ${when}: ${write.text}\n`);
  rest.writesBefore.forEach(tell("before rest"));
  rest.writes.forEach(tell("AT REST"));
}

async function untilReconciled({ client }: EndToEnd, name: string): Promise<void> {
  const ask = async (): Promise<true | undefined> =>
    isReconciled(await client.get(foundationDbClusters, { namespace, name })) || undefined;
  await eventually(`${name} is reconciled`, ask, patienceMs);
}

async function create(world: EndToEnd, name: string, size: number): Promise<void> {
  const cluster = sampleCluster(size);
  // A cluster that is new is not restarted for ten minutes unless it says otherwise.
  const spec = { ...cluster.spec, minimumUptimeSecondsForBounce: 1 };
  await world.client.create(foundationDbClusters, {
    ...cluster,
    spec,
    metadata: { name, namespace },
  });
}

/** The rows of creation, knobs and scaling for a cluster of 15 process groups. */
async function operations(world: EndToEnd, running: Program): Promise<Row[]> {
  const name = "one";
  const change = (spec: object) => async (): Promise<void> => {
    const patch = { spec };
    await world.client.patch(foundationDbClusters, { namespace, name }, patch, { type: "merge" });
  };
  const knobs = { processes: { general: { customParameters: ["knob_max_trace_lines=1000"] } } };
  const steps: [string, () => Promise<void>][] = [
    ["create, 15 processes", () => create(world, name, 15)],
    ["knob change, 15 processes", change(knobs)],
    ["storage 3 to 5", change({ processCounts: { storage: 5 } })],
    ["storage 5 to 3", change({ processCounts: { storage: 3 } })],
  ];
  const rows: Row[] = [];
  for (const [what, act] of steps) {
    say(what);
    const before = await scrape(running);
    const startedMs = clock.nowMs();
    await act();
    await sleep(clock, 500);
    await untilReconciled(world, name);
    const seconds = (clock.nowMs() - startedMs) / 1000;
    await sleep(clock, 12_000);
    const after = await scrape(running);
    const written = "fdb_operator_status_writes_total";
    rows.push({
      ...{ what, seconds },
      requests: after.requests() - before.requests(),
      statusWrites: after.sum(written, "written") - before.sum(written, "written"),
      recoveries:
        after.sum("fdb_operator_recoveries_total") - before.sum("fdb_operator_recoveries_total"),
    });
  }
  return rows;
}

function operationsText(rows: readonly Row[]): string {
  return renderTable<Row>(
    "On the real API server",
    [
      { title: "what", align: "left", cell: ({ what }) => what },
      { title: "reconciled, s", cell: ({ seconds }) => seconds.toFixed(1) },
      { title: "requests", cell: ({ requests }) => String(requests) },
      { title: "status writes", cell: ({ statusWrites }) => String(statusWrites) },
      { title: "recoveries", cell: ({ recoveries }) => String(recoveries) },
    ],
    rows,
  );
}

interface Figures {
  empty: Metrics;
  before: Metrics;
  created: Metrics;
  /** How long the server took for each request of the creation, in milliseconds, sorted. */
  served: readonly number[];
  rest: Rest;
  seconds: number;
}

function manyText({ empty, before, created, served, rest, seconds }: Figures): string {
  const { begun, rested, settledAfterSeconds } = rest;
  const memory = (metrics: Metrics): string =>
    `${Math.round(metrics.sum("process_resident_memory_bytes") / 2 ** 20)} MiB`;
  const cpu = (from: Metrics, to: Metrics): number =>
    to.sum("process_cpu_seconds_total") - from.sum("process_cpu_seconds_total");
  const servedIn = (quantile: number): string =>
    `${((served[Math.floor(served.length * quantile)] ?? 0) / 1000).toFixed(3)} s`;
  const lag = "nodejs_eventloop_lag_p99_seconds";
  const passes = "fdb_operator_reconcile_duration_seconds_count";
  const settled =
    settledAfterSeconds === undefined
      ? "there is no end of them"
      : `${settledAfterSeconds.toFixed(0)} s after all were reconciled`;
  const restShare = (cpu(begun, rested) / (restSeconds ?? 1)) * 100;
  const lines: [string, string][] = [
    ["all reconciled after", `${seconds.toFixed(0)} s`],
    ["passes", String(created.sum(passes) - before.sum(passes))],
    ["pass, 99th percentile", `at most ${percentile(before, created, 0.99)} s`],
    ["pass, median", `at most ${percentile(before, created, 0.5)} s`],
    ["requests", String(created.requests() - before.requests())],
    ["request, median and 99th percentile at the server", [0.5, 0.99].map(servedIn).join(", ")],
    ["event loop late, 99th percentile", `${created.sum(lag).toFixed(3)} s`],
    ["processor time of creation", `${cpu(before, created).toFixed(1)} s`],
    ["memory: no cluster, all, after rest", [empty, created, rested].map(memory).join(", ")],
    ["processor at rest", `${restShare.toFixed(1)} % of a core`],
    ["last write of the creation", settled],
    [`writes in ${restSeconds} s of rest, Leases left out`, String(rest.writes.length)],
    ["pass at rest, 99th percentile", `at most ${percentile(begun, rested, 0.99)} s`],
  ];
  return renderTable(
    `${clusters} clusters with ${groups} process groups each, one operator`,
    [
      { title: "what", align: "left", cell: ([what]) => what },
      { title: "figure", cell: ([, figure]) => figure },
    ],
    lines,
  );
}

/** The upper bound of the bucket in which the quantile lies. */
function percentile(from: Metrics, to: Metrics, quantile: number): string {
  const name = "fdb_operator_reconcile_duration_seconds_bucket";
  const bounds = to.samples
    .filter((sample) => sample.name === name)
    .map(({ labels }) => /le="([^"]+)"/.exec(labels)?.[1] ?? "");
  const countOf = (bound: string): number =>
    to.sum(name, `le="${bound}"`) - from.sum(name, `le="${bound}"`);
  const all = countOf("+Inf");
  return bounds.find((bound) => countOf(bound) >= all * quantile) ?? "+Inf";
}
