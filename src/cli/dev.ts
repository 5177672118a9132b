// `fdb-operator dev`, which is `npm start`: a whole world in this process, shown as it comes up and then kept running for
// kubectl. Rules: spec/cli.md [CLI3]-[CLI5], [CLI9], spec/multi.md [MU10], [MU12], spec/real-database.md [DB65].
import { append } from "../env/long-lists.ts";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import type { FoundationDBBackup } from "../api/backup.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { ServedApi } from "../emulator/https-server.ts";
import { machineClock } from "../env/clock.ts";
import { machineStopwatch } from "../env/stopwatch.ts";
import type { Clock } from "../env/clock.ts";
import { silentLog } from "../env/log.ts";
import type { Log } from "../env/log.ts";
import { pinoLog } from "../env/pino-log.ts";
import { counted } from "../model/counted.ts";
import { timeMapName } from "../model/backup-time-map.ts";
import type { Activity } from "../operate/activity.ts";
import { startMultiWorld } from "../sim/multi-world.ts";
import { startWorld } from "../sim/world.ts";
import type { World } from "../sim/world.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { createResources } from "./create-resources.ts";
import { backupTeller } from "./backup-view.ts";
import { restoreTeller } from "./restore-view.ts";
import { backupsOf, clustersOf, reporter, watchUntilReconciled } from "./dev-watching.ts";
import type { DevHost } from "./dev-watching.ts";
import { followChanges } from "./dev-following.ts";
import { openProcesses } from "./dev-processes.ts";
import type { DevProcesses } from "./dev-processes.ts";
import { openDashboard } from "./dev-dashboard.ts";
import type { DevDashboard } from "./dev-dashboard.ts";
import { defaultPort, serve, writeKubeconfig } from "./dev-serving.ts";
import { readDocuments } from "./documents.ts";
import type { SourceDocument } from "./documents.ts";
import type { Telling } from "./example-story.ts";
import { exampleOf } from "./examples.ts";
import type { Example, ExampleName } from "./examples.ts";
import { takeStage, tellStage } from "./take-stage.ts";
import { openOutput } from "./terminal.ts";

export interface DevOptions {
  file?: string[];
  example?: ExampleName;
  nodes?: number;
  zones?: number;
  /** What stands behind the pods: the simulated database, or real fdbservers of this machine. */
  runtime?: "simulated" | "process";
  speed?: number;
  seed: number;
  once: boolean;
  timeout?: number;
  port?: number;
  kubeconfig?: string;
  /** False: there is none. */
  dashboard?: boolean;
  dashboardPort?: number;
  log?: string;
  /** Of this process; where FoundationDB is looked for. */
  environment?: Readonly<Record<string, string | undefined>>;
}

export async function runDev(options: DevOptions): Promise<void> {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(name, () => stop.abort());
  const hasColor = process.stdout.isTTY && process.stdout.hasColors();
  await runDevOn(options, {
    output: openOutput(process.stdout, hasColor),
    signal: stop.signal,
    realClock: machineClock(),
  });
}

interface Site {
  world: World;
  recent: string[];
  counts: { kills: number };
  served?: ServedApi;
  dashboard?: DevDashboard;
  kubeconfig?: string;
}

/** Options with what an example needs where nothing is given. */
type Wanted = DevOptions & { nodes: number; zones: number; speed: number; timeout: number };

export async function runDevOn(given: DevOptions, host: DevHost): Promise<void> {
  const example = exampleOf(given.example);
  const options = wantedOf(given, example);
  const clock = machineClock(options.speed);
  const startedMs = clock.nowMs();
  const log = openLog(options.log, clock);
  const processes = await processesOf(options, clock, log?.log);
  const documents = await wantedDocuments(options, processes);
  const around = { ...{ clock, startedMs, host, processes }, log: log?.log };
  const sites = startSites(options, example, around);
  try {
    await openSites(sites, options, host, log?.log);
    const deadlineMs = host.realClock.nowMs() + options.timeout * 1000;
    const tellers = {
      backup: backupTeller(host.output, startedMs),
      restore: restoreTeller(host.output, startedMs),
    };
    const watching = {
      speed: options.speed,
      tellers,
      ...{ startedMs, timeoutSeconds: options.timeout },
      ...(options.once ? { deadlineMs } : {}),
    };
    const telling = tellingOf(sites, host);
    for (const stage of example.stages) {
      if (host.signal.aborted) return;
      if (stage.title !== "") host.output.line(stage.title);
      const before = figuresOf(sites);
      const [first] = sites;
      if (documents === undefined || first === undefined) {
        const notes = await takeStage(stage, worldsOf(sites), telling);
        for (const line of notes) host.output.line(line);
      } else await createResources(first.world.client, first.world.transport, documents);
      await watchUntilReconciled(sites, host, watching);
      if (host.signal.aborted) return;
      const notes = telling === undefined ? [] : await tellStage(stage, telling);
      for (const line of notes) host.output.line(line);
      if (stage.isCounted === true) host.output.line(costText(before, figuresOf(sites)));
    }
    if (options.once || host.signal.aborted) return;
    for (const line of await invitation(sites, options.speed)) host.output.line(line);
    await followChanges(sites, host, startedMs, tellers);
    host.output.line("Stopping.");
  } finally {
    for (const { dashboard } of sites) await dashboard?.close();
    for (const { world } of sites) await world.stop();
    for (const { served } of sites) await served?.close();
    await processes?.stop();
    clock.stop();
    log?.close();
    for (const { kubeconfig } of sites) {
      if (kubeconfig !== undefined) rmSync(kubeconfig, { force: true });
    }
  }
}

function wantedOf(given: DevOptions, example: Example): Wanted {
  const { nodes = example.nodes, zones = example.zones } = given;
  if (zones > nodes) {
    throw new UsageError(
      `--zones ${zones} needs at least as many nodes: raise --nodes or lower --zones`,
    );
  }
  if (given.example !== undefined && given.file !== undefined) {
    throw new UsageError("--example and -f exclude each other: name one of them");
  }
  const isReal = given.runtime === "process";
  if (isReal && given.example !== undefined) {
    throw new UsageError("--example and --runtime process exclude each other: name one of them");
  }
  if (isReal && given.speed !== undefined && given.speed !== 1) {
    throw new UsageError("real processes run in real time: leave out --speed");
  }
  const { speed = isReal ? 1 : 20, timeout = isReal ? 600 : 120 } = given;
  return { ...given, nodes, zones, speed, timeout };
}

async function processesOf(
  options: Wanted,
  clock: Clock,
  log: Log | undefined,
): Promise<DevProcesses | undefined> {
  if (options.runtime !== "process") return undefined;
  return openProcesses({ environment: options.environment ?? {}, clock, log: log ?? silentLog });
}

/** Undefined when the example brings its own. */
async function wantedDocuments(
  options: Wanted,
  processes: DevProcesses | undefined,
): Promise<SourceDocument[] | undefined> {
  if (options.file !== undefined) return documentsOf(options.file);
  return processes === undefined ? undefined : processes.sample();
}

function tellingOf([first]: readonly Site[], { signal }: DevHost): Telling | undefined {
  return first && { place: first.world, signal };
}

const worldsOf = (sites: readonly Site[]): World[] => sites.map(({ world }) => world);

function startSites(
  { seed, nodes, zones }: Wanted,
  { sites: names }: Example,
  around: {
    clock: Clock;
    startedMs: number;
    host: DevHost;
    log: Log | undefined;
    processes: DevProcesses | undefined;
  },
): Site[] {
  const { clock, startedMs, host, log, processes } = around;
  const sites = names.map((name) => {
    const recent: string[] = [];
    const counts = { kills: 0 };
    const report = reporter(host.output, recent, startedMs, name);
    const onActivity = (activity: Activity): void => {
      const isKill = activity.type === "action" && activity.action.type === "killProcesses";
      if (isKill && activity.error === undefined) counts.kills += 1;
      report(activity);
    };
    const seat = { name, nodes, zones, onActivity, stopwatch: machineStopwatch };
    return { recent, counts, options: { ...seat, ...processes?.site } };
  });
  const ground = { clock, seed, log };
  const worlds =
    names.length === 1
      ? sites.map((site) => startWorld({ ...ground, ...site.options }))
      : startMultiWorld({ ...ground, sites: sites.map((site) => site.options) }).worlds;
  return worlds.map((world, index) => {
    const { recent = [], counts = { kills: 0 } } = sites[index] ?? {};
    return { world, recent, counts };
  });
}

interface Figures {
  kills: number;
  /** Of the database; each recovery adds two. */
  generation: number;
}

function figuresOf(sites: readonly Site[]): Figures {
  const databases = sites[0]?.world.fdb.truth.databases() ?? [];
  return {
    kills: sites.reduce((sum, { counts }) => sum + counts.kills, 0),
    generation: databases.find(({ isConfigured }) => isConfigured)?.generation ?? 0,
  };
}

function costText(before: Figures, after: Figures): string {
  const kills = counted(after.kills - before.kills, "kill command");
  const recoveries = counted((after.generation - before.generation) / 2, "recovery", "recoveries");
  return `That took ${kills} and ${recoveries} of the database (generation ${before.generation} to ${after.generation}).`;
}

/** Each on a port of its own, one after the other from the first. */
async function openSites(
  sites: Site[],
  options: Wanted,
  { output, realClock }: DevHost,
  log: Log | undefined,
): Promise<void> {
  const firstPort = options.port ?? (options.once ? 0 : defaultPort);
  for (const [index, site] of sites.entries()) {
    const { world } = site;
    site.served = await serve(world, firstPort === 0 ? 0 : firstPort + index);
    await world.started;
    const { port, url } = site.served;
    const suffix = world.name === "" ? "" : `-${world.name}`;
    const portSuffix = port === defaultPort + index ? "" : `-${port}`;
    const wanted = options.kubeconfig;
    const file = wanted === undefined ? undefined : `${wanted}${suffix}`;
    site.kubeconfig = writeKubeconfig(site.served, file, `kubeconfig${suffix}${portSuffix}`);
    const size = `${counted(options.nodes, "node")} in ${counted(options.zones, "zone")}`;
    const title = world.name === "" ? "Emulated Kubernetes" : `Emulated Kubernetes ${world.name}`;
    const pace =
      options.runtime === "process" ? "real fdbservers" : `${options.speed} times real time`;
    output.line(`${title} on ${url}: ${size}, seed ${options.seed}, ${pace}`);
    // A cluster that does not come up is looked at, and corrected, with kubectl too.
    if (options.once) continue;
    output.line(kubeconfigLine(site));
    if (options.dashboard === false) continue;
    site.dashboard = await openDashboard(world, {
      ...{ port: options.dashboardPort, index, speed: options.speed, realClock, log, where: url },
    });
    output.line(dashboardLine(site));
  }
}

function openLog(
  file: string | undefined,
  clock: Clock,
): { log: Log; close: () => void } | undefined {
  if (file === undefined) return undefined;
  try {
    const descriptor = openSync(file, "w");
    const destination = { write: (text: string) => void writeSync(descriptor, text) };
    return { log: pinoLog({ clock, destination }), close: () => closeSync(descriptor) };
  } catch (error) {
    throw new CommandError(`cannot write the log ${file}: ${(error as Error).message}`);
  }
}

async function documentsOf(files: readonly string[]): Promise<SourceDocument[]> {
  const documents: SourceDocument[] = [];
  for (const file of files) append(documents, await readDocuments(file));
  if (!documents.some(({ object }) => object.kind === foundationDbClusters.kind)) {
    throw new CommandError(`${files.join(", ")}: there is no FoundationDBCluster in it`);
  }
  return documents;
}

function kubeconfigLine({ world, kubeconfig = "" }: Site): string {
  return world.name === ""
    ? `kubeconfig: ${kubeconfig}`
    : `kubeconfig of ${world.name}: ${kubeconfig}`;
}

function dashboardLine({ world, dashboard }: Site): string {
  const title = world.name === "" ? "Dashboard" : `Dashboard of ${world.name}`;
  return `${title}: ${dashboard?.url ?? ""}`;
}

async function invitation(sites: readonly Site[], speed: number): Promise<string[]> {
  const [first] = sites;
  const [cluster] = first === undefined ? [] : await clustersOf(first.world);
  const [backup] = first === undefined ? [] : await backupsOf(first.world);
  const files = sites.map(kubeconfigLine);
  const pages = sites.filter(({ dashboard }) => dashboard !== undefined).map(dashboardLine);
  return [
    "",
    ...files,
    ...pages,
    `${backup === undefined ? "Four" : "Six"} things to try in another terminal:`,
    `  export KUBECONFIG=${shellWord(first?.kubeconfig ?? "")}`,
    ...thingsToTry(cluster),
    ...(backup === undefined ? [] : backupThings(backup)),
    ...(speed <= 1
      ? []
      : [
          `Time runs ${speed} times as fast here, so kubectl shows ages that it computes itself (describe, events) as <invalid>.`,
        ]),
    "Ctrl-C stops everything.",
    "",
  ];
}

function thingsToTry(cluster: FoundationDBCluster | undefined): string[] {
  const { name = "", namespace = "default" } = cluster?.metadata ?? {};
  const where = namespace === "default" ? "" : ` -n ${namespace}`;
  const pod = `$(kubectl get pod${where} -l foundationdb.org/fdb-cluster-name=${name} -o name | head -1)`;
  return [
    `  1. kubectl get fdb,pods${where} -o wide`,
    `  2. kubectl delete${where} ${pod} --wait=false; kubectl get pods${where} -w`,
    `  3. kubectl patch fdb ${name}${where} --type merge -p '{"spec":{"processCounts":{"storage":5}}}'`,
    `  4. npx fdb-operator explain ${name}${where}   # what is going on, why, and what to do (in this folder)`,
  ];
}

function backupThings({ metadata }: FoundationDBBackup): string[] {
  const { name = "", namespace = "default" } = metadata;
  const where = namespace === "default" ? "" : ` -n ${namespace}`;
  return [
    `  5. kubectl get fdbbackup,configmap/${timeMapName(name)}${where} -o wide`,
    `  6. npx fdb-operator explain backup/${name}${where}`,
  ];
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
