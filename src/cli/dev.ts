// `fdb-operator dev`, which is `npm start`: a whole world in this process, shown as it comes up and then kept running for
// kubectl. Rules: spec/cli.md [CLI3]-[CLI5], [CLI9].
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join, resolve as absolutePath } from "node:path";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { kubeconfigText, serveHttps } from "../emulator/https-server.ts";
import type { ServedApi } from "../emulator/https-server.ts";
import { machineClock, sleep } from "../env/clock.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import { pinoLog } from "../env/pino-log.ts";
import type { Activity } from "../operate/activity.ts";
import { startWorld } from "../sim/world.ts";
import type { World } from "../sim/world.ts";
import { CommandError } from "./command-error.ts";
import { createResources } from "./create-resources.ts";
import { isSettled, progressOf, whyNotReconciled } from "./dev-progress.ts";
import { readDocuments } from "./documents.ts";
import type { SourceDocument } from "./documents.ts";
import { nodesOf } from "./examples.ts";
import type { ExampleName } from "./examples.ts";
import { formatElapsed, renderProgress } from "./progress-view.ts";
import { openOutput } from "./terminal.ts";
import type { Output } from "./terminal.ts";

export interface DevOptions {
  file?: string[];
  example?: ExampleName;
  nodes?: number;
  zones: number;
  speed: number;
  seed: number;
  once: boolean;
  timeout: number;
  port?: number;
  kubeconfig?: string;
  log?: string;
}

/** What the command needs of the machine, so that a test can stand in for it. */
export interface DevHost {
  output: Output;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Runs in real time whatever --speed says. */
  realClock: Clock;
}

const root = join(import.meta.dirname, "..", "..");
const defaultPort = 7443;

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

export async function runDevOn(given: DevOptions, host: DevHost): Promise<void> {
  const options = { ...given, nodes: given.nodes ?? nodesOf(given.example) };
  if (options.zones > options.nodes) {
    throw new CommandError(
      `--zones ${options.zones} needs at least as many nodes: raise --nodes or lower --zones`,
    );
  }
  if (options.example !== undefined && options.file !== undefined) {
    throw new CommandError("--example and -f exclude each other: name one of them");
  }
  const documents = await documentsOf(options);
  const recent: string[] = [];
  const clock = machineClock(options.speed);
  const startedMs = clock.nowMs();
  const log = openLog(options.log, clock);
  const world = startWorld({
    ...{ clock, seed: options.seed, nodes: options.nodes, zones: options.zones, log: log?.log },
    onActivity: reporter(host.output, recent, startedMs),
  });
  let served: ServedApi | undefined;
  let kubeconfig: string | undefined;
  try {
    served = await serve(world, options.port ?? (options.once ? 0 : defaultPort));
    await world.started;
    kubeconfig = writeKubeconfig(served, options.kubeconfig);
    host.output.line(
      `Emulated Kubernetes on ${served.url}: ${counted(options.nodes, "node")} in ${counted(options.zones, "zone")}, seed ${options.seed}, ${options.speed} times real time`,
    );
    await createResources(world.client, world.transport, documents);
    await watchUntilReconciled(world, options, host, recent, startedMs);
    if (options.once || host.signal.aborted) return;
    const [cluster] = await clustersOf(world);
    for (const line of invitation(kubeconfig, cluster, options.speed)) host.output.line(line);
    await aborted(host.signal);
    host.output.line("Stopping.");
  } finally {
    await world.stop();
    await served?.close();
    clock.stop();
    log?.close();
    if (kubeconfig !== undefined) rmSync(kubeconfig, { force: true });
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

async function documentsOf(options: DevOptions): Promise<SourceDocument[]> {
  const files = options.file ?? [join(root, "examples", `${options.example ?? "cluster"}.yaml`)];
  const documents: SourceDocument[] = [];
  for (const file of files) documents.push(...(await readDocuments(file)));
  if (!documents.some(({ object }) => object.kind === foundationDbClusters.kind)) {
    throw new CommandError(`${files.join(", ")}: there is no FoundationDBCluster in it`);
  }
  return documents;
}

async function serve(world: World, port: number): Promise<ServedApi> {
  try {
    return await serveHttps(world.server, { port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") {
      throw new CommandError(
        `port ${port} on 127.0.0.1 is taken: stop the program that uses it, or choose another with --port N (0 picks a free one)`,
      );
    }
    if (code === "EACCES")
      throw new CommandError(`port ${port} is not allowed: choose one above 1023 with --port N`);
    throw error;
  }
}

/** A file of the user's is never overwritten, nor removed at the end; another run's file has another port in its name. */
function writeKubeconfig(served: ServedApi, wanted: string | undefined): string {
  const text = kubeconfigText(served);
  try {
    if (wanted !== undefined) {
      writeFileSync(wanted, text, { mode: 0o600, flag: "wx" });
      return absolutePath(wanted);
    }
    const folder = join(root, ".state");
    const file = join(
      folder,
      served.port === defaultPort ? "kubeconfig" : `kubeconfig-${served.port}`,
    );
    mkdirSync(folder, { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    return file;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isThere = code === "EEXIST" && wanted !== undefined;
    const why = isThere ? "the file exists: remove it or name another" : message;
    throw new CommandError(`cannot write the kubeconfig ${wanted ?? root}: ${why}`);
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

async function watchUntilReconciled(
  world: World,
  options: DevOptions,
  host: DevHost,
  recent: readonly string[],
  startedMs: number,
): Promise<void> {
  const deadlineMs = host.realClock.nowMs() + options.timeout * 1000;
  while (!host.signal.aborted) {
    const clusters = await clustersOf(world);
    const lines = clusters.flatMap((cluster) =>
      renderProgress(
        progressOf(cluster, { nowMs: world.clock.nowMs(), startedMs, actions: recent }),
        host.output,
      ),
    );
    host.output.live(lines);
    const late = clusters.filter((cluster) => !isSettled(cluster));
    if (late.length === 0) {
      host.output.settle();
      const elapsed = formatElapsed(world.clock.nowMs() - startedMs);
      host.output.line(`Reconciled after ${elapsed} of virtual time.`);
      return;
    }
    if (options.once && host.realClock.nowMs() >= deadlineMs) {
      host.output.settle();
      const reasons = late.map(
        (cluster) => `${cluster.metadata.name}: ${whyNotReconciled(cluster)}`,
      );
      throw new CommandError(`not reconciled within ${options.timeout} s: ${reasons.join("; ")}`);
    }
    await sleep(host.realClock, 100, host.signal);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function clustersOf(world: World): Promise<FoundationDBCluster[]> {
  return (await world.client.list(foundationDbClusters)).items;
}

/** On a terminal the live region tells; piped output and the time after the start get a line an event. */
function reporter(
  output: Output,
  recent: string[],
  startedMs: number,
): (activity: Activity) => void {
  const shownWaits = new Map<string, string>();
  return (activity) => {
    const time = formatElapsed(activity.atMs - startedMs);
    if (activity.type === "invalid") {
      for (const problem of activity.problems) {
        output.line(`${time}  ${activity.cluster}  is not valid: ${problem}`);
      }
    } else if (activity.type === "action") {
      const failure = activity.error === undefined ? "" : ` failed: ${activity.error}`;
      recent.push(`${activity.text}${failure}`);
      if (recent.length > 50) recent.shift();
      if (!output.isLive) output.line(`${time}  ${activity.cluster}  ${activity.text}${failure}`);
    } else if (activity.type === "waits" && !output.isLive) {
      const reasons = activity.waits.map((wait) => `${wait.step}/${wait.reason}`).join(" ");
      if (reasons === shownWaits.get(activity.cluster)) return;
      shownWaits.set(activity.cluster, reasons);
      for (const wait of activity.waits) {
        output.line(`${time}  ${activity.cluster}  waits: ${wait.message} (${wait.step})`);
      }
    }
  };
}

function invitation(
  kubeconfig: string,
  cluster: FoundationDBCluster | undefined,
  speed: number,
): string[] {
  const { name = "", namespace = "default" } = cluster?.metadata ?? {};
  const where = namespace === "default" ? "" : ` -n ${namespace}`;
  const pod = `$(kubectl get pod${where} -l foundationdb.org/fdb-cluster-name=${name} -o name | head -1)`;
  return [
    "",
    `kubeconfig: ${kubeconfig}`,
    "Three things to try in another terminal:",
    `  export KUBECONFIG=${shellWord(kubeconfig)}`,
    `  1. kubectl get fdb,pods${where} -o wide`,
    `  2. kubectl delete${where} ${pod} --wait=false; kubectl get pods${where} -w`,
    `  3. kubectl patch fdb ${name}${where} --type merge -p '{"spec":{"processCounts":{"storage":5}}}'`,
    ...(speed <= 1
      ? []
      : [
          `Time runs ${speed} times as fast here, so kubectl shows ages that it computes itself (describe, events) as <invalid>.`,
        ]),
    "Ctrl-C stops everything.",
    "",
  ];
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
