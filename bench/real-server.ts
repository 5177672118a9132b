// `npm run bench:real`: one operator in its own process against a real API server, with emulated nodes and simulated
// databases: what creating and changing a cluster costs, many clusters at once, whether there is quiet at rest, and how
// soon another instance takes over. The figures are those of one machine: no test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "../scripts/bundle.ts";
import { foundationDbClusters } from "../src/api/cluster.ts";
import { machineClock, sleep } from "../src/env/clock.ts";
import {
  install,
  operatorNamespace as namespace,
  operatorUser,
} from "../test/end-to-end/installation.ts";
import type { AuditedRequest } from "../test/control-plane.ts";
import { atEndOfProcess } from "../test/end-of-process.ts";
import { startNodes, startOperator } from "../test/end-to-end/programs.ts";
import type { Program } from "../test/end-to-end/programs.ts";
import { openWorld } from "../test/end-to-end/scenario.ts";
import type { EndToEnd } from "../test/end-to-end/scenario.ts";
import { changeAll, servedSince, takeOver, untilAllReconciled } from "./fleet.ts";
import type { FleetPlace } from "./fleet.ts";
import { fleetTable } from "./fleet-report.ts";
import type { FleetFigures } from "./fleet-report.ts";
import { watchRest } from "./rest.ts";
import type { RestWrite } from "./rest.ts";
import { sampleCluster } from "./sample-cluster.ts";
import { scrape } from "./scraped-metrics.ts";
import { renderTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    clusters: { type: "string", default: "50" },
    groups: { type: "string", default: "20" },
    rest: { type: "string", default: "60" },
    /** Leaves out the rows of one cluster. */
    "only-many": { type: "boolean", default: false },
    /** Ends after the rest: no change of all clusters, no other instance. */
    "only-rest": { type: "boolean", default: false },
  },
});
const [clusters = 0, groups = 0, restSeconds = 60] = [
  ...[values.clusters, values.groups, values.rest].map(Number),
];
const clock = machineClock();
/** Large nodes, since a scheduler looks at all of them for each pod. */
const podsPerNode = 90;
const nodeCapacity = { cpu: "64", memory: "256Gi", pods: "110" };
const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Row {
  what: string;
  seconds: number;
  requests: number;
  statusWrites: number;
  recoveries: number;
}

const folder = mkdtempSync(join(tmpdir(), "fdb-operator-bench-"));
atEndOfProcess(() => rmSync(folder, { recursive: true, force: true }));
const stage = await openWorld(say, { audits: true });
try {
  const program = join(folder, "dist", "fdb-operator.mjs");
  await bundle("src/cli/main.ts", program);
  const token = await install(stage.world);
  const count = Math.ceil((clusters * groups) / podsPerNode) + 9;
  const { databasePort } = await startNodes(stage.world, {
    ...{ nodes: count, zones: 3, nodeCapacity, seed: 1, hurry: true },
  });
  const flags = ["--metrics-addr=127.0.0.1:0"];
  const start = (): Program =>
    startOperator(stage.world, { token, namespace, databasePort, program, flags });
  const operator = start();
  await stage.world.eventually("the operator works", async () => {
    if (operator.child.exitCode !== null) throw new Error(operator.lines.join("\n"));
    return operator.lines.find((line) => line.includes('"the operator works"'));
  });
  await measure(stage.world, operator, start);
} finally {
  await stage.end();
  clock.stop();
}

async function measure(
  world: EndToEnd,
  running: Program,
  startAnother: () => Program,
): Promise<void> {
  const place: FleetPlace = { world, clock, say };
  const empty = await scrape(running);
  const rows = values["only-many"] ? [] : await operations(place, running);
  const begun = await scrape(running);
  const startedMs = clock.nowMs();
  const names = Array.from({ length: clusters }, (_, index) => `many-${index + 1}`);
  say(`${names.length} clusters with ${groups} process groups each`);
  for (const name of names) await create(world, name, groups);
  await untilAllReconciled(place, names);
  const seconds = (clock.nowMs() - startedMs) / 1000;
  const served = servedSince(world, startedMs);
  const creation = { begun, ended: await scrape(running), seconds, served };
  const figures: FleetFigures = { clusters, groups, restSeconds, empty, creation };
  // Each part is told when it is known: with many clusters the whole takes its time, and may end early.
  const tellSoFar = (): void => void process.stderr.write(`${fleetTable(figures)}\n`);
  tellSoFar();
  say(`rest, and then ${restSeconds} s of it are watched`);
  const rest = await watchRest(world, running, clock, restSeconds);
  const leaseRequests = audited(world, clock.nowMs() - restSeconds * 1000).filter(
    ({ resource, verb }) => resource === "leases" && verb !== "watch",
  ).length;
  Object.assign(figures, { rest, leaseRequests });
  if (!values["only-rest"]) {
    tellSoFar();
    figures.change = await changeAll(place, running, names);
    tellSoFar();
    figures.takeOver = await takeOver(place, running, startAnother, names);
  }
  const told = fleetTable(figures);
  process.stdout.write(`${rows.length === 0 ? "" : `${operationsText(rows)}\n`}${told}\n`);
  const tell = (when: string) => (write: RestWrite) =>
    process.stdout.write(`${new Date(write.atMs).toISOString()} ${when}: ${write.text}\n`);
  rest.writesBefore.forEach(tell("before rest"));
  rest.writes.forEach(tell("AT REST"));
}

function audited({ controlPlane }: EndToEnd, sinceMs: number): readonly AuditedRequest[] {
  return controlPlane.audited(operatorUser).filter(({ atMs }) => atMs >= sinceMs);
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
async function operations(place: FleetPlace, running: Program): Promise<Row[]> {
  const { world } = place;
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
    await untilAllReconciled(place, [name]);
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
