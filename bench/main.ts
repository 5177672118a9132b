// `npm run bench`: what creation, a look without work and the operations of a cluster's life cost for
// clusters of growing size, and the memory of the operator, each beside its aim. The CPU and memory
// figures are those of one machine: no test.
import { parseArgs } from "node:util";
import { backupsAims, backupsTable, runBackups } from "./backups.ts";
import {
  clientsAims,
  clientsTable,
  largeStatusTable,
  runClients,
  runLargeStatus,
} from "./clients.ts";
import { runCluster } from "./cluster-run.ts";
import type { ClusterRun } from "./cluster-run.ts";
import { dashboardAims, dashboardTable, runDashboard } from "./dashboard.ts";
import { decisionAims, decisionTable, runDecisions } from "./decisions.ts";
import { fairnessTable, runFairness } from "./fairness.ts";
import { metricsAims, metricsTable, runMetrics } from "./metrics.ts";
import { runMemory } from "./memory.ts";
import type { MemoryRun } from "./memory.ts";
import {
  operationAims,
  operationFootnotes,
  operationsTable,
  requestsTable,
  unfinishedLines,
} from "./operation-report.ts";
import { runOperations } from "./operation-run.ts";
import type { OperationRun } from "./operation-run.ts";
import { packedUpdateAims, packedUpdateTable, runPackedUpdates } from "./packed-update.ts";
import {
  allAims,
  creationTable,
  footnotes,
  growthTable,
  memoryTable,
  noOpTable,
  restartTable,
} from "./report.ts";
import type { Aim } from "./report.ts";
import { pageAims, pageTable, runPage } from "./page.ts";
import { previewAims, previewTable, runPreviews } from "./previews.ts";
import { pluginStartAims, pluginStartTable, runPluginStarts } from "./plugin-start.ts";
import { rolloutAims, rolloutTable, runRollouts } from "./rollout.ts";

const usage = `usage: npm run bench -- [--sizes 20,100] [--quick] [--operations] [--json] [--no-memory]
  --sizes      process groups, separated by commas (default 20,100,500,2000; with --quick 20,100)
  --quick      small sizes, fewer repetitions and a shorter rest
  --operations only changes, losses and upgrades of a running cluster, at 20 and 200 process groups,
               and backups at rest (with --quick at 20)
  --fleet NxM  only the operator in a process of its own, with N clusters of M process groups
  --fair NxM   only one cluster of N process groups beside M small ones, the operator in a process of its own
  --json       figures as JSON instead of tables
  --no-memory  leave out the operator in a process of its own`;

const seed = 1;
const memoryGroups = 15;
const smallOperations = [20];
const allOperations = [20, 200];
const fewBackups = [10];
const allBackups = [10, 200];

const nothing = { memory: undefined, runs: [] };

interface Options {
  sizes: number[];
  isQuick: boolean;
  isJson: boolean;
  hasMemory: boolean;
  areOnlyOperations: boolean;
  /** Nothing but the operator in a process of its own, with so many clusters. */
  fleet?: { clusters: number; groups: number };
  /** Nothing but one large cluster among small ones. */
  fair?: { large: number; smalls: number };
}

const noSizes = { sizes: [], hasMemory: true, areOnlyOperations: false };

const wished = readOptions();
if (wished === undefined) {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
} else {
  await main(wished);
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      allowNegative: true,
      options: {
        sizes: { type: "string" },
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        memory: { type: "boolean", default: true },
        operations: { type: "boolean", default: false },
        fleet: { type: "string" },
        fair: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    const text = values.sizes ?? (values.quick ? "20,100" : "20,100,500,2000");
    const sizes = text.split(",").map(Number);
    const isUsable = sizes.every((size) => Number.isInteger(size) && size >= 15 && size <= 10_000);
    if (values.help || !isUsable) return undefined;
    const [, clusters, groups] = /^(\d{1,3})x(\d{1,3})$/.exec(values.fleet ?? "1x15") ?? [];
    if (Number(clusters) < 1 || !(Number(groups) >= 15)) return undefined;
    const { quick: isQuick, json: isJson, memory: hasMemory } = values;
    const fleet = { clusters: Number(clusters), groups: Number(groups) };
    if (values.fleet !== undefined) return { ...noSizes, isQuick, isJson, fleet };
    if (values.fair !== undefined) {
      const [, large, smalls] = /^(\d{1,4})x(\d{1,3})$/.exec(values.fair) ?? [];
      if (!(Number(large) >= 15) || !(Number(smalls) >= 1)) return undefined;
      const fair = { large: Number(large), smalls: Number(smalls) };
      return { ...noSizes, isQuick, isJson, fair };
    }
    return { sizes, isQuick, isJson, hasMemory, areOnlyOperations: values.operations };
  } catch {
    // An unknown flag: the usage says what there is.
    return undefined;
  }
}

async function main(options: Options): Promise<void> {
  const progress = progressTo(process.stderr);
  if (options.fleet !== undefined) {
    const run = await runMemory({ ...options.fleet, seed, restSeconds: 60, progress });
    progress("");
    process.stdout.write(options.isJson ? `${JSON.stringify(run)}\n` : memoryTable(run));
    return;
  }
  if (options.fair !== undefined) {
    const rows = await runFairness({ ...options.fair, seed, progress });
    progress("");
    process.stdout.write(options.isJson ? `${JSON.stringify(rows)}\n` : fairnessTable(rows));
    return;
  }
  const { memory, runs } = options.areOnlyOperations ? nothing : await measure(options, progress);
  const operations: OperationRun[] = [];
  for (const groups of options.isQuick ? smallOperations : allOperations) {
    operations.push(...(await runOperations({ groups, seed, progress })));
  }
  const rollouts = await runRollouts(progress);
  const backups = await runBackups(options.isQuick ? fewBackups : allBackups, progress);
  const decisions = runDecisions();
  const updates = options.isQuick ? [] : await runPackedUpdates(progress);
  const previews = await runPreviews(progress);
  const starts = await runPluginStarts();
  const dashboard = runDashboard();
  const pages = await runPage(progress);
  const scrapes = await runMetrics();
  const clients = await runClients(progress);
  const largeStatus = await runLargeStatus(progress);
  progress("");
  const judged = [
    ...[...allAims(runs, memory), ...operationAims(operations), ...rolloutAims(rollouts)],
    ...[...decisionAims(decisions), ...packedUpdateAims(updates), ...backupsAims(backups)],
    ...[...previewAims(previews), ...pluginStartAims(starts), ...metricsAims(scrapes)],
    ...[...dashboardAims(dashboard), ...pageAims(pages), ...clientsAims(clients, largeStatus)],
  ];
  if (options.isJson) {
    const measured = { runs, memory, operations, rollouts, backups, decisions, updates, starts };
    const seen = { previews, dashboard, pages, scrapes, clients, largeStatus };
    const figures = { seed, ...measured, ...seen, aims: judged };
    process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
    return;
  }
  const missed = judged.filter(({ isMet }) => !isMet);
  const tables = [creationTable, noOpTable, restartTable, growthTable];
  const texts = [
    ...(runs.length === 0 ? [] : tables.map((table) => table(runs))),
    memory === undefined ? "" : memoryTable(memory),
    operationsTable(operations),
    requestsTable(operations),
    unfinishedLines(operations),
    rolloutTable(rollouts),
    backupsTable(backups),
    decisionTable(decisions),
    updates.length === 0 ? "" : packedUpdateTable(updates),
    previewTable(previews),
    pluginStartTable(starts),
    dashboardTable(dashboard),
    pageTable(pages),
    metricsTable(scrapes),
    clientsTable(clients),
    largeStatusTable(largeStatus),
    runs.length === 0 ? "" : `${footnotes}\n`,
    operationFootnotes,
    missed.length === 0
      ? `\nAll ${judged.length} aims are met.`
      : `\n${missed.length} of ${judged.length} aims are MISSED: ${namesOf(missed)}`,
  ];
  for (const text of texts) if (text !== "") process.stdout.write(`${text}\n`);
}

/** Everything but operations: memory, and clusters of growing size. */
async function measure(
  { sizes, isQuick, hasMemory }: Options,
  progress: (text: string) => void,
): Promise<{ memory: MemoryRun | undefined; runs: ClusterRun[] }> {
  const noOpRuns = isQuick ? 9 : 25;
  // Memory comes first: it takes real time, and the parent must not be slowed down by a full heap.
  const memory = hasMemory
    ? await runMemory({
        clusters: 1,
        groups: memoryGroups,
        seed,
        restSeconds: isQuick ? 5 : 30,
        progress,
      })
    : undefined;
  progress("warming up");
  await runCluster({ groups: 100, seed: seed + 1, noOpRuns: 1, progress: () => {} });
  const runs: ClusterRun[] = [];
  for (const groups of sizes) {
    progress(`${groups} process groups`);
    runs.push(await runCluster({ groups, seed, noOpRuns, progress }));
  }
  return { memory, runs };
}

function namesOf(missed: readonly Aim[]): string {
  return missed.map(({ what, value, limit }) => `${what} (${value} > ${limit})`).join("; ");
}

/** On a terminal one line that changes, otherwise a line for each step. */
function progressTo(stream: NodeJS.WriteStream): (text: string) => void {
  return (text) => {
    if (stream.isTTY) stream.write(`\r\u001B[K${text}`);
    else if (text !== "") stream.write(`${text}\n`);
  };
}
