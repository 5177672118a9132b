// `fdb-operator run`: the operator as it runs in Kubernetes. It connects, serves its probes and metrics, waits for the
// Lease and works until it is told to stop. Rules: spec/run.md.
import { hostname } from "node:os";
import { machineClock, sleep } from "../env/clock.ts";
import { machineNextTurn } from "../env/next-turn.ts";
import { machineStopwatch } from "../env/stopwatch.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import { MetricsRegistry } from "../env/metrics.ts";
import { pinoLog } from "../env/pino-log.ts";
import { machineRandom, randomUuid } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import { forbiddenVerbs } from "../kube/access.ts";
import { backOffMs } from "../kube/back-off.ts";
import { KubeClient } from "../kube/client.ts";
import { KubeconfigError, connectionOfOperator, podNamespace } from "../kube/kubeconfig.ts";
import type { KubeConnection } from "../kube/kubeconfig.ts";
import { LeaderElector } from "../kube/lease.ts";
import {
  networkPolicies,
  nodes,
  persistentVolumes,
  podDisruptionBudgets,
} from "../kube/resource.ts";
import type { Resource } from "../kube/resource.ts";
import type { Operator } from "../operate/operator.ts";
import { operatorNameOf } from "../operate/overlap.ts";
import { runTerms } from "../operate/terms.ts";
import { CommandError } from "../env/command-error.ts";
import { openConnections } from "./connections.ts";
import { flagsWithoutEffect } from "./go-flags.ts";
import { serveProbes } from "./probe-server.ts";
import type { Probes, ProbeServer } from "./probe-server.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { registerRequestMetrics } from "./request-metrics.ts";
import { openDatabases } from "./run-databases.ts";
import type { OpenDatabases } from "./run-databases.ts";
import { operatorOptions } from "./run-options.ts";
import { readSettings } from "./run-settings.ts";
import type { RunSettings } from "./run-settings.ts";
import { version } from "../env/program-version.ts";

export type RunFlags = Readonly<Record<string, string | boolean | undefined>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** A stop that takes longer than this is cut short: Kubernetes would do it anyway, without a word in the log. */
const stopWithinMs = 9_000;

export async function runRun(
  flags: RunFlags,
  environment: Environment,
  open: OpenDatabases = openDatabases,
): Promise<void> {
  const settings = readSettings(flags, environment);
  const clock = machineClock();
  const log = pinoLog({ clock, level: settings.logLevel });
  process.on("uncaughtException", (error) => {
    log.error("a mistake of the operator ends it", { error });
    process.exit(1);
  });
  const stop = new AbortController();
  let lastWord: { cancel(): void } | undefined;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      log.info("stopping", { signal: name });
      lastWord = clock.setTimer(stopWithinMs, () => {
        log.error("not everything ended in time");
        process.exit(1);
      });
      stop.abort();
    });
  }
  for (const name of Object.keys(flags)) noteWithoutEffect(log, name);
  try {
    await runWith(settings, {
      clock,
      log,
      random: machineRandom(),
      environment,
      open,
      signal: stop.signal,
    });
    log.info("stopped");
  } finally {
    lastWord?.cancel();
    clock.stop();
  }
}

function noteWithoutEffect(log: Log, name: string): void {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const reason = flagsWithoutEffect[flag];
  if (reason !== undefined) log.warn("a flag has no effect", { flag: `--${flag}`, reason });
}

interface RunHost {
  clock: Clock;
  log: Log;
  random: Random;
  environment: Environment;
  open: OpenDatabases;
  signal: AbortSignal;
}

async function runWith(settings: RunSettings, host: RunHost): Promise<void> {
  const { clock, log, random, signal } = host;
  const connection = connectionOf(settings, host.environment);
  const userAgent = `fdb-operator/${version} (${process.platform}/${process.arch})`;
  const registry = new MetricsRegistry();
  const { onRequest, onReceived } = registerRequestMetrics(registry);
  const connections = openConnections(connection, {
    ...{ requestTimeoutMs: settings.requestTimeout, onReceived },
  });
  const { transport, leaseTransport } = connections;
  const client = new KubeClient(transport, { userAgent, onRequest });
  const leaseClient = new KubeClient(leaseTransport, { userAgent, onRequest });
  const elector = electorOf(settings, connection, leaseClient, host);
  const state: RunState = {
    ...{ operator: undefined, watchesNodes: false, featuresOff: [], problem: "starting" },
  };
  const stopMetrics = registerProcessMetrics(registry, {
    startedMs: clock.nowMs(),
    version,
    isLeading: () => elector?.isLeader ?? state.operator !== undefined,
    features: { nodes: () => state.watchesNodes },
  });
  const servers = await startProbes(settings, log, probesOf(state, registry));
  try {
    const { database: kind, databasesPerClient } = settings;
    const { environment } = host;
    const databases = await host.open({
      ...{ kind, databasesPerClient, clock, log, registry, environment },
    });
    try {
      state.watchesNodes = await mayWatchNodes(settings, client, host, state);
      const { watchesNodes } = state;
      const mayWatch = (resource: Resource<unknown>, namespace?: string): Promise<boolean> =>
        mayListAndWatch(client, resource, namespace, host, state);
      const watchesVolumes = watchesNodes && (await mayWatch(persistentVolumes));
      const place = settings.watchNamespace || undefined;
      const watchesBudgets = await mayWatch(podDisruptionBudgets, place);
      const watchesPolicies = await mayWatch(networkPolicies, place);
      const watches = { watchesNodes, watchesVolumes, watchesBudgets, watchesPolicies };
      log.info("watching", watches);
      const configured = operatorOptions(settings);
      const operatorNamespace = podNamespace(environment);
      const plan = { ...configured.plan, ...(operatorNamespace && { operatorNamespace }) };
      const name = nameOf(settings, connection);
      const options = { ...configured, plan, userAgent, name, ...watches };
      const { admin, podNetwork } = databases;
      await runTerms({
        operator: {
          ...{ transport, admin, podNetwork, clock, random, log, options, onRequest },
          ...{ stopwatch: machineStopwatch, nextTurn: machineNextTurn },
        },
        ...{ elector, log, signal },
        onOperator: (operator) => {
          state.operator = operator;
          state.problem = undefined;
        },
      });
    } finally {
      await databases.close();
    }
  } finally {
    stopMetrics();
    await Promise.all(servers.map((server) => server.close()));
    connections.close();
  }
}

interface RunState {
  operator: Operator | undefined;
  watchesNodes: boolean;
  featuresOff: readonly string[];
  /** What keeps the start. */
  problem: string | undefined;
}

function probesOf(state: RunState, registry: MetricsRegistry): Probes {
  return {
    notAlive: () => state.operator?.health().notAlive ?? [],
    notReady: () =>
      state.problem !== undefined ? [state.problem] : (state.operator?.health().notReady ?? []),
    remarks: () => state.featuresOff.map((feature) => `off without a look at nodes: ${feature}`),
    metricsText: () => registry.text() + (state.operator?.metricsText() ?? ""),
  };
}

async function startProbes(
  settings: RunSettings,
  log: Log,
  probes: Probes,
): Promise<ProbeServer[]> {
  const { metricsAddr, healthProbeBindAddress } = settings;
  const servers: ProbeServer[] = [];
  const serve = async (...[address, flag, served]: Parameters<typeof serveProbes>) => {
    const server = await serveProbes(address, flag, served);
    servers.push(server);
    log.info("listening", { flag, ...server.address });
  };
  try {
    if (metricsAddr !== undefined) await serve(metricsAddr, "metrics-addr", probes);
    if (healthProbeBindAddress !== undefined) {
      const { metricsText: _, ...others } = probes;
      await serve(healthProbeBindAddress, "health-probe-bind-address", others);
    }
  } catch (error) {
    await Promise.all(servers.map((server) => server.close()));
    throw error;
  }
  return servers;
}

function connectionOf(settings: RunSettings, environment: Environment): KubeConnection {
  const { kubeconfig, context } = settings;
  try {
    const connection = connectionOfOperator(kubeconfig, context, environment);
    if (connection !== undefined) return connection;
  } catch (error) {
    if (error instanceof KubeconfigError) throw new CommandError(error.message);
    throw error;
  }
  throw new CommandError(
    "no Kubernetes: outside of a pod name a kubeconfig with --kubeconfig FILE or KUBECONFIG",
  );
}

function ownNamespace(settings: RunSettings, connection: KubeConnection): string {
  const { leaderElectionNamespace, watchNamespace } = settings;
  return leaderElectionNamespace || connection.namespace || watchNamespace || "default";
}

/** Instances that share a Lease are one operator. */
function nameOf(settings: RunSettings, connection: KubeConnection): string {
  const { enableLeaderElection, leaderElectionId } = settings;
  const name = enableLeaderElection ? leaderElectionId : hostname();
  return operatorNameOf(ownNamespace(settings, connection), name);
}

function electorOf(
  settings: RunSettings,
  connection: KubeConnection,
  client: KubeClient,
  { clock, log, random }: RunHost,
): LeaderElector | undefined {
  if (!settings.enableLeaderElection) return undefined;
  const namespace = ownNamespace(settings, connection);
  return new LeaderElector({
    ...{ client, clock, random, log },
    lease: { namespace, name: settings.leaderElectionId },
    identity: `${hostname()}_${randomUuid(random)}`,
    durationMs: settings.leaderElectionLeaseDuration,
    renewDeadlineMs: settings.leaderElectionRenewDeadline,
    retryMs: settings.leaderElectionRetryPeriod,
  });
}

const withoutNodes = [
  "replacement of process groups on tainted nodes (automationOptions.replacements.taintReplacementOptions)",
  "nodes that are not ready as the named reason of a wait",
  "nodes that are not ready in the disruption budget",
  "data halls and datacenters that are found by the labels of nodes (spec.localities without values)",
  "leaving of nodes that are drained (automationOptions.drains)",
  "replacement of process groups that share nodes, where coordinators that are to go need more of them",
];

/** Nodes belong to no namespace, so looking at them needs a permission of its own. */
async function mayWatchNodes(
  settings: RunSettings,
  client: KubeClient,
  host: RunHost,
  state: RunState,
): Promise<boolean> {
  const { log } = host;
  if (settings.watchNodes === "true") return true;
  const isAsked = settings.watchNodes === "auto";
  if (isAsked && (await mayListAndWatch(client, nodes, undefined, host, state))) return true;
  const reason = settings.watchNodes === "false" ? "--watch-nodes is false" : "it is not allowed";
  state.featuresOff = withoutNodes;
  log.warn("nodes are not looked at", { reason, featuresOff: withoutNodes });
  return false;
}

/** Asks until there is an answer: an operator that took silence for no would be without it until its next start. */
async function mayListAndWatch(
  client: KubeClient,
  resource: Resource<unknown>,
  namespace: string | undefined,
  { clock, log, random, signal }: RunHost,
  state: RunState,
): Promise<boolean> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const verbs = ["list", "watch"] as const;
      return (await forbiddenVerbs(client, resource, verbs, namespace, signal)).length === 0;
    } catch (error) {
      state.problem = `the API server does not say what is allowed: ${String(error)}`;
      log.warn("the API server does not say what is allowed", { error });
      await sleep(clock, backOffMs({ baseMs: 500, maxMs: 10_000 }, failures, random), signal);
    }
  }
  return false;
}
