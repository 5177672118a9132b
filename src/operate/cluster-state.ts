// What the operator keeps in memory about one cluster. All of it can be lost: the next pass finds it again.
import type { FoundationDBCluster } from "../api/cluster.ts";
import { locksOf } from "../api/effective.ts";
import type { Clock } from "../env/clock.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import { OperatorKeys } from "../fdb/keys.ts";
import { LockWatch } from "../fdb/lock.ts";
import { PlanMemory } from "../plan/view/plan-memory.ts";
import type { SafetyView } from "../plan/safety/view.ts";
import type { ClusterFacts } from "../plan/facts.ts";
import type { ActionFailure, ActionRefusal, ZoneAttempt } from "../plan/snapshot.ts";
import type { Wait } from "./dated-plan.ts";
import type { PodNetwork } from "../pod/network.ts";
import { CertificateReader } from "./certificate-reader.ts";
import type { PacedQueue } from "./paced-queue.ts";
import { DatabasePoller } from "./database-poller.ts";
import { DatabaseReader } from "./database-reader.ts";
import { Doubts } from "./doubts.ts";
import type { Guard, GuardedDatabase } from "./guard.ts";
import { Ledger } from "./ledger.ts";
import { OwnWrites } from "./own-writes.ts";
import type { Awaited } from "./poll-interval.ts";
import { SidecarReader } from "./sidecar-reader.ts";
import { StatusMemory } from "./status-memory.ts";
import type { ToldWaits } from "./transition-events.ts";

export interface FailureRecord extends ActionFailure {
  readonly atMs: number;
  /** Failures in a row. */
  count: number;
}

interface RefusalRecord extends ActionRefusal {
  /** How often in a row for the same reason. */
  readonly count: number;
  /** Not asked for before this time. */
  readonly retryAtMs: number;
}

export interface ClusterState {
  readonly clusterUid: string;
  readonly poller: DatabasePoller;
  readonly sidecars: SidecarReader;
  readonly certificates: CertificateReader;
  readonly memory: PlanMemory;
  readonly database: GuardedDatabase;
  /** By the key of what was tried. */
  readonly failures: Map<string, FailureRecord>;
  /** By the key of what was refused, as of the pass before. */
  readonly refusals: Map<string, RefusalRecord>;
  readonly reader: DatabaseReader;
  readonly statuses: StatusMemory;
  /** The connection string that we have made up for a new database ourselves. */
  madeConnectionString: string | undefined;
  /** The last replacement for the sake of coordinators that find too few zones. */
  zoneAttempt: ZoneAttempt | undefined;
  /** Nodes from which pods of the cluster were evicted, each with the time: a pod may be gone before the next pass looks. */
  readonly evictedFrom: Map<string, number>;
  /** The fault domain under maintenance as the last status showed it. */
  maintenanceZone: string;
  /** What the database is carrying out for us; at most one command at a time. */
  runningCommand: string | undefined;
  isClosed: boolean;
  /** No pass before this time: the last plan took too long. */
  restUntilMs: number;
  /** What the pass before found; undefined before the first one. */
  facts: ClusterFacts | undefined;
  /** Of the pass before, so that waits know since when they last; undefined before the first one. */
  waits: readonly Wait[] | undefined;
  /** Events of the pass before. */
  toldEvents: ReadonlySet<string>;
  /** Waits for which an event was made. */
  toldWaits: ToldWaits;
  /** Until then the database is asked often unless it is well. */
  quickUntilMs: number;
  /** Decides how often the database is asked. */
  awaited: Awaited;
  /** Since when acts wait for a status that is more recent. */
  postponedMs: number | undefined;
  statusWrittenMs: number;
  /** Lost races for the status in a row, and until when no other one is run. */
  conflicts: number;
  conflictUntilMs: number;
  /** The API server drops parts of the status, and it was told. */
  isStatusPruned: boolean;
  /** When news that were held back are to be written. */
  statusDueMs: number;
  /** Tells our own writes to the resource from those of others. */
  readonly ownWrites: OwnWrites;
  /** The last question about the coordination sets that somebody asked. */
  answeredRequest: string | undefined;
  /** Generation whose problems were reported. */
  reportedGeneration: number | undefined;
  /** Generation of whose spec people were warned. */
  warnedGeneration: number | undefined;
  /** The other operator of which people were told. */
  toldOverlap: string | undefined;
  /** The last pass stood back from the cluster. */
  isBack: boolean;
}

export interface StateOptions {
  clock: Clock;
  admin: AdminClientFactory;
  network: PodNetwork;
  /** Shared by all clusters. */
  handshakes: PacedQueue;
  guard: Guard;
  statusTimeoutMs: number;
  sidecarTimeoutMs: number;
  /** A status that is older says nothing any more. */
  statusMaximumAgeMs: number;
}

/** What the state of one cluster asks about the rest of the operator. */
export interface StateLinks {
  clusterUid: string;
  namespace: string;
  /** The resource as it is now. */
  cluster: () => FoundationDBCluster | undefined;
  /** Everything that the checks before a disruptive act look at, as of now. */
  observe: () => SafetyView | undefined;
  /** Other resources of the same database. */
  peers: () => readonly GuardedDatabase[];
  /** A status came, or failed to come. */
  onObservation: () => void;
  onNews: () => void;
}

export function newClusterState(options: StateOptions, links: StateLinks): ClusterState {
  const { clock, admin, network, guard } = options;
  const { onNews } = links;
  const poller = new DatabasePoller({
    clock,
    admin,
    timeoutMs: options.statusTimeoutMs,
    onObservation: links.onObservation,
  });
  const sidecars = new SidecarReader({
    clock,
    network,
    timeoutMs: options.sidecarTimeoutMs,
    minimumIntervalMs: 500,
    onAnswer: onNews,
  });
  const certificates = new CertificateReader({ ...options, queue: options.handshakes, onNews });
  const database = newGuardedDatabase(clock, poller, links);
  const reader = new DatabaseReader({
    clock,
    admin,
    client: () => poller.client,
    target: () => poller.target,
    shared: () => {
      const shared = database.shared();
      return shared && { keys: shared.keys };
    },
    verifyExclusion: (targets, timeoutMs) => guard.verifyExclusion(database, targets, timeoutMs),
    timeoutMs: 10_000,
    statusTimeoutMs: options.statusTimeoutMs,
    verificationTimeoutMs: 30_000,
    minimumIntervalMs: 2_000,
    onAnswer: onNews,
  });
  return {
    clusterUid: links.clusterUid,
    poller,
    sidecars,
    certificates,
    reader,
    statuses: new StatusMemory(clock, options.statusMaximumAgeMs),
    memory: new PlanMemory(),
    database,
    failures: new Map(),
    refusals: new Map(),
    madeConnectionString: undefined,
    zoneAttempt: undefined,
    evictedFrom: new Map(),
    maintenanceZone: "",
    runningCommand: undefined,
    isClosed: false,
    restUntilMs: 0,
    facts: undefined,
    waits: undefined,
    toldEvents: new Set(),
    toldWaits: undefined,
    quickUntilMs: 0,
    awaited: { what: "", sinceMs: 0 },
    postponedMs: undefined,
    statusWrittenMs: 0,
    conflicts: 0,
    isStatusPruned: false,
    conflictUntilMs: 0,
    statusDueMs: 0,
    ownWrites: new OwnWrites(),
    answeredRequest: undefined,
    ...{ reportedGeneration: undefined, warnedGeneration: undefined, toldOverlap: undefined },
    isBack: false,
  };
}

function newGuardedDatabase(
  clock: Clock,
  poller: DatabasePoller,
  links: StateLinks,
): GuardedDatabase {
  const watch = new LockWatch();
  return {
    namespace: links.namespace,
    lastWriteMs: 0,
    ledger: new Ledger(clock),
    doubts: new Doubts(),
    isActing: false,
    lease: undefined,
    get admin() {
      return poller.client;
    },
    observe: links.observe,
    noteStatus: (status, observedMs) => poller.take(status, observedMs),
    peers: links.peers,
    shared() {
      const cluster = links.cluster();
      const admin = poller.client;
      if (cluster === undefined || admin === undefined) return undefined;
      const { keyPrefix, durationMinutes } = locksOf(cluster.spec);
      return {
        keys: { admin, keys: new OperatorKeys(keyPrefix) },
        settings: {
          owner: cluster.spec.processGroupIDPrefix ?? "",
          durationMs: durationMinutes * 60_000,
          watch,
        },
      };
    },
  };
}

export function closeClusterState(state: ClusterState): void {
  state.isClosed = true;
  state.poller.close();
  state.sidecars.close();
  state.certificates.close();
  state.reader.close();
}
