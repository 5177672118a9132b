// What every pass over a cluster is given, made once from the input of the operator. Rules: spec/operate.md [OP1].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { problem } from "../api/problem.ts";
import type { ValidationProblem } from "../api/problem.ts";
import { validateCluster } from "../api/validate-cluster.ts";
import type { PodTemplateLimits } from "../api/validate-pod-template.ts";
import { newTlsProblems } from "../api/validate-tls.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import { stoppedStopwatch } from "../env/stopwatch.ts";
import type { Stopwatch } from "../env/stopwatch.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import { keyOf } from "../kube/path.ts";
import type { ServerClock } from "../kube/server-clock.ts";
import type { SafetyChecks } from "../plan/safety/checks.ts";
import { defaultPlanOptions } from "../plan/snapshot.ts";
import type { PlanOptions } from "../plan/snapshot.ts";
import type { Activity } from "./activity.ts";
import type { Caches } from "./caches.ts";
import { Guard } from "./guard.ts";
import type { OperatorMetrics } from "./metrics.ts";
import { allChecks } from "./operator-checks.ts";
import type { OperatorInput } from "./operator.ts";
import { isTakenOver } from "./overlap.ts";
import type { PerformOptions } from "./perform.ts";

export interface ReconcileOptions {
  clock: Clock;
  random: Random;
  /** How long planning takes the machine. */
  stopwatch: Stopwatch;
  log: Log;
  client: KubeClient;
  caches: Caches;
  recorder: EventRecorder;
  metrics: OperatorMetrics;
  serverClock: ServerClock;
  /** See OverlapTools. */
  operatorName: string | undefined;
  perform: PerformOptions;
  plan: PlanOptions;
  checks: SafetyChecks;
  /** Finds what is wrong with a spec beyond its schema. */
  validate: (cluster: FoundationDBCluster) => readonly ValidationProblem[];
  /** News that only tell of progress are written at most this often. */
  statusIntervalMs: number;
  /** How often the database is asked while something is awaited, and at rest. */
  busyPollMs: number;
  restPollMs: number;
  onActivity: (activity: Activity) => void;
  /** Asks for another pass over a cluster. */
  wake: (key: string) => void;
}

/** All but what only the running operator can give. */
export function reconcileOptions(
  input: OperatorInput,
  client: KubeClient,
  serverClock: ServerClock,
  caches: Caches,
  recorder: EventRecorder,
  metrics: OperatorMetrics,
): Omit<ReconcileOptions, "wake" | "serverClock"> {
  const { clock, random, log, options = {}, checks = allChecks } = input;
  const commandTimeoutMs = options.commandTimeoutMs ?? 10_000;
  const guard = new Guard({
    client,
    caches,
    clock,
    serverClock,
    commandTimeoutMs,
    statusTimeoutMs: 2 * (options.statusTimeoutMs ?? 20_000),
    stages: checks.stages,
    isTakenOver: (cluster) => {
      const { metadata = {} } = caches.clusters.get(keyOf(cluster)) ?? {};
      return isTakenOver({ operatorName: options.name, clock, serverClock }, metadata);
    },
    // Whoever is told to stop begins nothing more, and what is under way is waited for.
    remainingTermMs: () => (input.signal.aborted ? 0 : (input.term?.remainingMs() ?? Infinity)),
    ...(input.term === undefined ? {} : { term: input.term }),
  });
  return {
    clock,
    random,
    stopwatch: input.stopwatch ?? stoppedStopwatch,
    log,
    client,
    caches,
    recorder,
    metrics,
    operatorName: options.name,
    perform: {
      client,
      caches,
      guard,
      network: input.podNetwork,
      parallelMax: options.parallelWrites ?? 16,
      sidecarTimeoutMs: options.sidecarOrderTimeoutMs ?? 5_000,
      isStopped: () => input.signal.aborted,
    },
    plan: { ...defaultPlanOptions, ...options.plan },
    checks: checks.safety,
    validate: validator(input.admin, options.podTemplateLimits),
    statusIntervalMs: options.statusIntervalMs ?? 10_000,
    busyPollMs: options.busyPollMs ?? 1_000,
    restPollMs: options.restPollMs ?? 30_000,
    onActivity: input.onActivity ?? (() => {}),
  };
}

type Validate<T> = (resource: T) => readonly ValidationProblem[];

/** A resource is judged once for each version of it. */
export function judgedOnce<T extends { readonly spec: object }>(judge: Validate<T>): Validate<T> {
  const known = new WeakMap<object, readonly ValidationProblem[]>();
  return (resource) => {
    const problems = known.get(resource.spec) ?? judge(resource);
    known.set(resource.spec, problems);
    return problems;
  };
}

function validator(
  admin: AdminClientFactory,
  podTemplateLimits: PodTemplateLimits | undefined,
): Validate<FoundationDBCluster> {
  return judgedOnce((cluster) => {
    const problems = [
      ...validateCluster(cluster, { podTemplateLimits }),
      ...newTlsProblems(cluster),
    ];
    const { version } = cluster.spec;
    if (problems.length === 0 && !admin.isVersionSupported(version)) {
      const message = `there is no client for version ${version} beside this operator`;
      problems.push(problem("spec.version", version, message, "choose a version that it has"));
    }
    return problems;
  });
}
