// The operator as a whole: local copies of the objects, a queue of clusters that deserve a look, and a pass for each.
// It runs against a real API server and against the emulated one, in real and in virtual time.
// Rules: spec/operate.md [OP1]-[OP4], [OP46]-[OP49].
import type { PodTemplateLimits } from "../api/validate-pod-template.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { validateBackup } from "../api/validate-backup.ts";
import { validateRestore } from "../api/validate-restore.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { NextTurn } from "../env/next-turn.ts";
import type { Random } from "../env/random.ts";
import type { Stopwatch } from "../env/stopwatch.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import { readableAdmin } from "../fdb/readable-status.ts";
import { KubeClient } from "../kube/client.ts";
import type { RequestRecord } from "../kube/client.ts";
import { EventRecorder } from "../kube/event-recorder.ts";
import type { KubeObject } from "../kube/object.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import { WorkQueue } from "../kube/queue.ts";
import type { WorkOutcome, WorkRecord } from "../kube/queue.ts";
import { isQuarantined } from "../build/quarantine.ts";
import { isCordoned, wasEvicted } from "../plan/drains/drained-nodes.ts";
import { automationOf } from "../api/effective.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { Stored } from "../kube/resource.ts";
import { measuredTransport, ServerClock } from "../kube/server-clock.ts";
import type { KubeTransport } from "../kube/transport.ts";
import type { SafetyView } from "../plan/safety/view.ts";
import type { PlanOptions } from "../plan/snapshot.ts";
import type { PodNetwork } from "../pod/network.ts";
import { isSameDatabase } from "../model/connection-string.ts";
import type { Activity } from "./activity.ts";
import { BackupController } from "./backup/controller.ts";
import { registerBackupMetrics } from "./backup/metrics.ts";
import { RestoreController } from "./restore/controller.ts";
import { registerRestoreMetrics } from "./restore/metrics.ts";
import { claimKeysOf, clusterKeysOf, makeCaches, nodeIndex } from "./caches.ts";
import type { Caches } from "./caches.ts";
import { healthOf, registerRuntimeMetrics } from "./runtime-health.ts";
import type { OperatorHealth } from "./runtime-health.ts";
import { closeClusterState, newClusterState } from "./cluster-state.ts";
import type { ClusterState } from "./cluster-state.ts";
import { isLeftAlone } from "../plan/removal/protect-from-deletion.ts";
import { isSameForEvictions, isSameForPods } from "./changes-that-matter.ts";
import { firstLooks } from "./first-looks.ts";
import { fencedAdmin, fencedTransport } from "./fence.ts";
import type { GuardedDatabase } from "./guard.ts";
import { registerDatabaseMetrics } from "./database-metrics/collect.ts";
import type { DatabaseMetricsSource, HeardDatabase } from "./database-metrics/collect.ts";
import { registerClusterMetrics } from "./metrics-cluster.ts";
import { OperatorMetrics } from "./metrics.ts";
import type { Counters, QueueName } from "./metrics.ts";
import { observeCluster } from "./observe.ts";
import type { OperatorChecks } from "./operator-checks.ts";
import { takeIn } from "./take-in.ts";
import { PacedQueue } from "./paced-queue.ts";
import { reconcileCluster } from "./reconcile.ts";
import { judgedOnce, reconcileOptions } from "./reconcile-options.ts";
import type { ReconcileOptions } from "./reconcile-options.ts";

export interface OperatorOptions {
  /** Only this namespace is looked after; all of them when absent. */
  namespace?: string;
  /** Only clusters, backups and restores with these labels are looked after. */
  labelSelector?: string;
  /** Clusters worked on at once. */
  workers?: number;
  /** Events within this time are one look. */
  debounceMs?: number;
  statusIntervalMs?: number;
  busyPollMs?: number;
  restPollMs?: number;
  statusTimeoutMs?: number;
  commandTimeoutMs?: number;
  /** Of a question to a sidecar, and of an order to it. */
  sidecarTimeoutMs?: number;
  sidecarOrderTimeoutMs?: number;
  parallelWrites?: number;
  userAgent?: string;
  /** The name under which it writes and knows its own writes, see operatorNameOf; without one it does not look for others. */
  name?: string;
  /** Whether nodes are looked at; by default when no namespace is given, since they belong to none. */
  watchesNodes?: boolean;
  /** By default as for nodes. */
  watchesVolumes?: boolean;
  /** On by default. */
  watchesBudgets?: boolean;
  /** True unless told otherwise. */
  watchesPolicies?: boolean;
  /** What pod templates may ask for; everything when absent. */
  podTemplateLimits?: PodTemplateLimits;
  /** What is served of each database. */
  databaseMetrics?: Partial<Pick<DatabaseMetricsSource, "detail" | "processSeriesMax">>;
  plan?: Partial<PlanOptions>;
}

export interface OperatorInput {
  transport: KubeTransport;
  admin: AdminClientFactory;
  podNetwork: PodNetwork;
  clock: Clock;
  random: Random;
  log: Log;
  options?: OperatorOptions;
  /** Ends the operator. */
  signal: AbortSignal;
  /** The right to work, where several instances share it; absent for one that is alone. */
  term?: Term;
  onActivity?: (activity: Activity) => void;
  /** Called for every request to the API server. */
  onRequest?: (record: RequestRecord) => void;
  /** How long planning takes the machine; nothing is ever too long when absent. */
  stopwatch?: Stopwatch;
  /** Between two passes others have a turn; absent where work takes no time. */
  nextTurn?: NextTurn;
  /** All of them when absent. */
  checks?: OperatorChecks;
}

export interface Term {
  /** Local copies are filled before, so that work begins at once. */
  readonly begun: Promise<void>;
  /** How long we are certainly the only one; 0 when the term is over. */
  remainingMs(): number;
  /** Keeps the term long enough for an act while it is under way. */
  during<T>(act: () => Promise<T>): Promise<T>;
}

export interface Operator {
  /** Resolves when all local copies are filled and work begins. */
  readonly started: Promise<void>;
  /** Resolves when the signal was given and everything under way has ended. */
  readonly stopped: Promise<void>;
  counters(): Counters;
  /** All metrics in Prometheus' text form. */
  metricsText(): string;
  /** How current the local copies are. */
  health(): OperatorHealth;
}

/** Nodes belong to no namespace, so an operator of one namespace looks at them only when it is told to. */
function scopeOf(options: OperatorOptions) {
  const { namespace, labelSelector, watchesNodes = namespace === undefined } = options;
  const { watchesVolumes = watchesNodes, watchesBudgets = true, watchesPolicies = true } = options;
  const watches = { watchesNodes, watchesVolumes, watchesBudgets, watchesPolicies };
  return { namespace, labelSelector, ...watches };
}

export function startOperator(input: OperatorInput): Operator {
  return new RunningOperator(input);
}

class RunningOperator implements Operator {
  readonly started: Promise<void>;
  readonly stopped: Promise<void>;
  readonly #input: OperatorInput;
  readonly #caches: Caches;
  readonly #queue: WorkQueue;
  readonly #backups: BackupController;
  readonly #restores: RestoreController;
  readonly #recorder: EventRecorder;
  readonly #metrics = new OperatorMetrics();
  readonly #states = new Map<string, ClusterState>();
  readonly #handshakes: PacedQueue;
  readonly #reconcile: ReconcileOptions;

  constructor(input: OperatorInput) {
    const { clock, random, log, options = {} } = input;
    this.#input = fencedInput(input);
    const userAgent = options.userAgent ?? "foundationdb-operator";
    const serverClock = new ServerClock((aheadMs) => noteDifference(log, aheadMs));
    const client = new KubeClient(measuredTransport(this.#input.transport, clock, serverClock), {
      userAgent,
      ...(options.name === undefined ? {} : { fieldManager: options.name }),
      ...(input.onRequest === undefined ? {} : { onRequest: input.onRequest }),
      onWarning: (text) => log.warn("the API server warns", { text }),
    });
    this.#caches = makeCaches({ client, clock, random, log, ...scopeOf(options) });
    registerClusterMetrics(this.#metrics.registry, {
      clusters: () => this.#caches.clusters.list(),
      nowMs: () => clock.nowMs(),
      coordination: (key) => this.#states.get(key)?.reader.knowledge.coordination,
    });
    this.#recorder = new EventRecorder({
      client,
      clock,
      random,
      log,
      component: userAgent.split("/")[0] ?? "",
    });
    this.#reconcile = {
      ...reconcileOptions(
        this.#input,
        client,
        serverClock,
        this.#caches,
        this.#recorder,
        this.#metrics,
      ),
      serverClock,
      wake: (key) => this.#queue.addNews(key),
    };
    this.#handshakes = new PacedQueue({ clock, gapMs: 250, parallel: 4 });
    this.#queue = new WorkQueue({
      clock,
      random,
      workers: options.workers ?? 4,
      handle: (key) => this.#handleCluster(key),
      onHandled: (record) => this.#noteLook("clusters", record),
      nextTurn: input.nextTurn,
    });
    const shared = {
      ...{ clock, random, log, client, serverClock, operatorName: options.name },
      ...{ namespace: options.namespace, nextTurn: input.nextTurn },
      caches: this.#caches,
      recorder: this.#recorder,
      terminalPodMinimumAgeMs: this.#reconcile.plan.terminalPodMinimumAgeMs,
      database: (key: string) => this.#states.get(key)?.poller,
      isStopped: () => input.signal.aborted,
    };
    const { podTemplateLimits } = options;
    this.#backups = new BackupController({
      ...shared,
      onHandled: (record) => this.#noteLook("backups", record),
      validate: judgedOnce((backup) => validateBackup(backup, { podTemplateLimits })),
    });
    this.#restores = new RestoreController({
      ...shared,
      onHandled: (record) => this.#noteLook("restores", record),
      validate: (restore) => validateRestore(restore, { podTemplateLimits }),
      recentTimes: (key) => this.#backups.recentTimes(key),
    });
    this.#registerMetrics(serverClock);
    this.started = this.#start();
    this.stopped = this.#untilStopped();
  }

  #registerMetrics(serverClock: ServerClock): void {
    const { clock } = this.#input;
    registerRestoreMetrics(this.#metrics.registry, () => this.#caches.restores.list());
    registerBackupMetrics(this.#metrics.registry, {
      backups: () => this.#caches.backups.list(),
      lagMs: (backup) => this.#backups.lagMs(backup),
    });
    registerDatabaseMetrics(this.#metrics.registry, {
      ...{ detail: "cluster", processSeriesMax: 10_000, ...this.#input.options?.databaseMetrics },
      maximumAgeMs: this.#reconcile.plan.statusMaximumAgeMs,
      databases: () => this.#heardDatabases(),
      nowMs: () => clock.nowMs(),
    });
    registerRuntimeMetrics(this.#metrics.registry, {
      clockAheadMs: () => serverClock.aheadMs,
      reflectors: this.#reflectors(),
      queues: {
        clusters: this.#queue,
        backups: this.#backups.queue,
        restores: this.#restores.queue,
      },
      nowMs: () => clock.nowMs(),
    });
  }

  #heardDatabases(): HeardDatabase[] {
    const nowMs = this.#input.clock.nowMs();
    return [...this.#states].map(([key, { poller }]) => {
      const [namespace = "", name = ""] = key.split("/");
      const { latest, observedMs } = poller;
      const restarts = this.#metrics.restartsOf(key, nowMs);
      return { namespace, name, latest, observedMs, restarts };
    });
  }

  counters(): Counters {
    return this.#metrics.counters();
  }

  metricsText(): string {
    return this.#metrics.registry.text();
  }

  health(): OperatorHealth {
    return healthOf(this.#reflectors(), this.#input.clock.nowMs());
  }

  #reflectors(): Reflector<never>[] {
    return Object.values(this.#caches) as Reflector<never>[];
  }

  async #start(): Promise<void> {
    const { signal } = this.#input;
    this.#listen();
    this.#running = this.#reflectors().map((reflector) => reflector.start(signal));
    await Promise.all(this.#reflectors().map((reflector) => reflector.synced));
    await this.#input.term?.begun;
    if (signal.aborted) return;
    this.#queue.start(firstLooks(this.#caches));
    this.#backups.queue.start();
    this.#restores.queue.start();
    this.#input.log.info("the operator works", { clusters: this.#caches.clusters.size });
  }

  #running: Promise<void>[] = [];

  async #untilStopped(): Promise<void> {
    const { signal } = this.#input;
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    const queues = [this.#queue, this.#restores.queue, this.#backups.queue];
    await Promise.all([...queues.map((queue) => queue.stop()), ...this.#running]);
    this.#backups.close();
    this.#restores.close();
    // The next instance must not begin while an act of ours is under way.
    if (this.#input.term !== undefined) await this.#reconcile.perform.guard.idle();
    await this.#recorder.flush();
    for (const state of this.#states.values()) closeClusterState(state);
    this.#states.clear();
  }

  #listen(): void {
    const { clusters, pods, pvcs, services, configMaps } = this.#caches;
    this.#backups.listen();
    this.#restores.listen();
    clusters.onChange(({ type, object }) => {
      const key = keyText(keyOf(object));
      const ownWrites = this.#states.get(key)?.ownWrites;
      const isOwn =
        type === "MODIFIED" && ownWrites?.isForeign(object.metadata.resourceVersion) === false;
      if (!isOwn) this.#soon(key);
    });
    pods.onChange(({ type, object }) => {
      if (type !== "MODIFIED" || !wasEvicted(object)) return;
      const { nodeName = "" } = object.spec ?? {};
      const atMs = this.#input.clock.nowMs();
      for (const key of clusterKeysOf(object)) {
        this.#states.get(key)?.evictedFrom.set(nodeName, atMs);
      }
    });
    this.#caches.nodes?.onChange(({ type, object }) => {
      if (type !== "DELETED" && isCordoned(object)) return;
      const { name = "" } = object.metadata;
      for (const state of this.#states.values()) state.evictedFrom.delete(name);
    });
    for (const reflector of [pods, pvcs, services, configMaps]) {
      (reflector as Reflector<KubeObject>).onChange(({ object, old }) => {
        const keys = new Set([...clusterKeysOf(object), ...(old ? clusterKeysOf(old) : [])]);
        for (const key of keys) if (this.#isCluster(key)) this.#news(key);
      });
    }
    // A pod of anybody that uses a volume in quarantine keeps it.
    pods.onChange(({ type, object }) => {
      if (type === "MODIFIED") return;
      for (const claimKey of claimKeysOf(object)) {
        const claim = pvcs.get(parseKeyText(claimKey));
        if (claim === undefined || !isQuarantined(claim)) continue;
        for (const key of clusterKeysOf(claim)) if (this.#isCluster(key)) this.#news(key);
      }
    });
    this.#caches.budgets?.onChange(({ type, object, old }) => {
      if (type === "MODIFIED" && old !== undefined && isSameForEvictions(object, old)) return;
      const { namespace = "" } = object.metadata;
      for (const cluster of this.#caches.clusters.list()) {
        const isConcerned =
          cluster.metadata.namespace === namespace && automationOf(cluster.spec).managesDrains;
        if (isConcerned) this.#news(keyText(keyOf(cluster)));
      }
    });
    this.#caches.policies?.onChange(({ object }) => {
      // Ours has the name of the cluster; somebody else's may have it as well.
      const key = keyText(keyOf(object));
      if (this.#isCluster(key)) this.#news(key);
    });
    this.#caches.nodes?.onChange(({ object, old }) => {
      if (old !== undefined && isSameForPods(object, old)) return;
      for (const key of this.#clustersOn(object.metadata.name ?? "")) this.#news(key);
    });
  }

  #clustersOn(nodeName: string): ReadonlySet<string> {
    const onNode = this.#caches.pods.byIndex(nodeIndex, nodeName);
    return new Set(onNode.flatMap(clusterKeysOf).filter((key) => this.#isCluster(key)));
  }

  #isCluster(key: string): boolean {
    return this.#caches.clusters.get(parseKeyText(key)) !== undefined;
  }

  /** The resource was changed. A burst of events is one look. */
  #soon(key: string): void {
    this.#queue.addAfter(key, this.#debounceMs);
  }

  /** Something around the resource was changed. */
  #news(key: string): void {
    this.#queue.addNews(key, this.#debounceMs);
  }

  get #debounceMs(): number {
    return this.#input.options?.debounceMs ?? 100;
  }

  async #handleCluster(key: string): Promise<WorkOutcome> {
    const cluster = this.#caches.clusters.get(parseKeyText(key));
    const uid = cluster?.metadata.uid ?? "";
    // A cluster made anew under an old name shares nothing with its predecessor.
    if (this.#states.get(key)?.clusterUid !== uid) this.#drop(key);
    if (cluster === undefined || isLeftAlone(cluster)) {
      this.#drop(key);
      return {};
    }
    const state = this.#stateOf(key, uid);
    const outcome = await reconcileCluster(this.#reconcile, key, state);
    // What is remembered of a time before another operator worked on it would be taken for the present.
    if (state.isBack) {
      closeClusterState(state);
      this.#states.delete(key);
      this.#metrics.forget(key);
      this.#stateOf(key, uid).toldOverlap = state.toldOverlap;
    }
    return outcome;
  }

  #stateOf(key: string, clusterUid: string): ClusterState {
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const { clock, admin, podNetwork: network, options = {} } = this.#input;
    const cluster = (): Stored<FoundationDBCluster> | undefined =>
      this.#caches.clusters.get(parseKeyText(key));
    const state: ClusterState = newClusterState(
      {
        clock,
        admin,
        network,
        handshakes: this.#handshakes,
        guard: this.#reconcile.perform.guard,
        statusTimeoutMs: options.statusTimeoutMs ?? 20_000,
        sidecarTimeoutMs: options.sidecarTimeoutMs ?? 5_000,
        statusMaximumAgeMs: this.#reconcile.plan.statusMaximumAgeMs,
      },
      {
        clusterUid,
        namespace: parseKeyText(key).namespace ?? "",
        cluster,
        observe: () => this.#observe(cluster(), state),
        onObservation: () => this.#takeIn(key, cluster(), state),
        peers: () => this.#peersOf(state),
        onNews: () => this.#news(key),
      },
    );
    this.#states.set(key, state);
    return state;
  }

  /** The checks before an act look at the newest status, so it is taken in before the next pass. */
  #takeIn(
    key: string,
    cluster: Stored<FoundationDBCluster> | undefined,
    state: ClusterState,
  ): void {
    const caches = this.#caches;
    if (cluster !== undefined) {
      const { aheadMs: serverAheadMs } = this.#reconcile.serverClock;
      takeIn({ cluster, caches, state, nowMs: this.#input.clock.nowMs(), serverAheadMs });
    }
    this.#queue.addNews(key);
  }

  /** The newest of everything, for the checks right before an act. */
  #observe(
    cluster: Stored<FoundationDBCluster> | undefined,
    state: ClusterState,
  ): SafetyView | undefined {
    if (cluster === undefined) return undefined;
    const { plan: options, checks } = this.#reconcile;
    const nowMs = this.#input.clock.nowMs();
    const caches = this.#caches;
    const { aheadMs: serverAheadMs } = this.#reconcile.serverClock;
    const settings = { seed: 0, options, checks, serverAheadMs };
    return observeCluster({ cluster, caches, state, nowMs, ...settings });
  }

  /** Other resources behind whose connection string the same database is. */
  #peersOf(state: ClusterState): GuardedDatabase[] {
    const own = state.poller.connectionString;
    if (own === undefined) return [];
    return [...this.#states.values()]
      .filter((other) => other !== state && isSameDatabase(other.poller.connectionString, own))
      .map((other) => other.database);
  }

  #drop(key: string): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    closeClusterState(state);
    this.#states.delete(key);
    this.#metrics.forget(key);
    this.#input.onActivity?.({ type: "gone", cluster: key, atMs: this.#input.clock.nowMs() });
  }

  #noteLook(queue: QueueName, { key, waitedMs, error }: WorkRecord): void {
    this.#metrics.looked(queue, waitedMs);
    if (error === undefined) return;
    this.#metrics.passFailed();
    const text = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? error.stack : undefined;
    this.#input.log.error("a pass failed", { [logField[queue]]: key, error: text, stack });
  }
}

/**
 * Where several instances share the right to work, nothing is written beyond the term. No status is read before its shape
 * was looked at.
 */
function fencedInput(input: OperatorInput): OperatorInput {
  const { term, clock } = input;
  const admin = readableAdmin(input.admin);
  if (term === undefined) return { ...input, admin };
  const transport = fencedTransport(input.transport, clock, term);
  return { ...input, transport, admin: fencedAdmin(admin, term) };
}

/** Under which name the log has the key of a queue. */
const logField = { clusters: "cluster", backups: "backup", restores: "restore" } as const;

/** Differences of a few seconds do no harm and are nobody's business. */
const clockDifferenceMs = 5_000;

function noteDifference(log: Log, aheadMs: number): void {
  if (Math.abs(aheadMs) < clockDifferenceMs) return;
  log.warn("our clock differs from the API server's; it is allowed for", {
    secondsAhead: -Math.round(aheadMs / 1000),
    remedy: "set the clocks of the nodes: times in status and logs are ours",
  });
}
