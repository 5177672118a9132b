// The state of one simulated database, shared by the files beside this one: members, configuration,
// transaction system, storage servers and shards. Everything here is the truth; what clients are
// told is computed in status.ts.
import type { Timer } from "../../env/clock.ts";
import type { ApplicationClient } from "./clients.ts";
import type { Configuration } from "./configuration.ts";
import type { DistributionView } from "./distribution-view.ts";
import type { Disk, Fabric } from "./fabric.ts";
import { randomHex } from "./fabric.ts";
import type { ConnectionString } from "./network-address.ts";
import type { ServerInstance } from "./server-instance.ts";
import { createKeyValueStore } from "../key-value/store.ts";
import type { KeyValueStore } from "../key-value/store.ts";

export interface Role {
  id: string;
  processId: string;
}

export interface LogRole extends Role {
  disk: Disk;
  zone: string;
  address: string;
}

/** The logs of one generation of the transaction system. */
export interface LogSet {
  epoch: number;
  beginVersion: number;
  endVersion: number | undefined;
  replication: number;
  satelliteReplication: number;
  remoteReplication: number;
  primary: readonly LogRole[];
  satellite: readonly LogRole[];
  remote: readonly LogRole[];
}

export interface TransactionSystem {
  master: Role;
  commitProxies: readonly Role[];
  grvProxies: readonly Role[];
  resolvers: readonly Role[];
  routers: readonly Role[];
  logs: LogSet;
  primaryDatacenter: string;
  /** Lower is better, part by part; a registration that improves it causes a recovery. */
  quality: readonly number[];
}

export type RecoveryPhase =
  | "configuration_never_created"
  | "reading_coordinated_state"
  | "locking_coordinated_state"
  | "recruiting_transaction_servers"
  | "recovery_transaction"
  | "writing_coordinated_state"
  | "accepting_commits"
  | "all_logs_recruited"
  | "fully_recovered";

export interface StorageServer {
  id: string;
  processId: string;
  disk: Disk;
  address: string;
  zone: string;
  localities: Readonly<Record<string, string>>;
  localityTargets: readonly string[];
  createdMs: number;
  /** As status shows it. */
  metadata: {
    created_time_datetime: string;
    created_time_timestamp: number;
    storage_engine: string;
  };
  /** When its process was lost; undefined while it lives. */
  diedMs: number | undefined;
  /** Data distribution has given it up. */
  isFailed: boolean;
  /** Data distribution has begun to empty it. */
  isLeaving: boolean;
  isBorrowed: boolean;
  shards: Set<Shard>;
}

export interface Shard {
  id: number;
  /** The slots of the key space it covers: [firstSlot, lastSlot]. */
  firstSlot: number;
  lastSlot: number;
  bytes: number;
  /** One team per region, the primary region first. */
  teams: StorageServer[][];
  move: { region: number; team: StorageServer[]; timer: Timer; priority: number } | undefined;
  isStuck: boolean;
}

export interface Distribution {
  /** The process of the data distributor, ratekeeper and consistency scan. */
  role: { processId: string; distributor: string; ratekeeper: string; scan: string } | undefined;
  startedMs: number;
  isInitialized: boolean;
  /** What status keeps showing just after data distribution moved. */
  previous: DistributionView | undefined;
  servers: Map<string, StorageServer>;
  shards: Shard[];
  inFlight: number;
  totalMovedBytes: number;
  /** The same, counted once for each server that received it. */
  copiedBytes: number;
  /** Regions whose data is complete: datacenter ids. */
  populated: Set<string>;
  borrowUntilMs: number;
  /** A changed configuration: the distributor starts over at the next recovery. */
  mustRestart: boolean;
  /** Datacenter of each team of a shard; one undefined entry without regions. */
  regionIds: readonly (string | undefined)[];
  hasInternalError: Map<string, number>;
  /** The server that is being emptied to begin again with another engine, and what was done of that. */
  wiggle: { serverId: string | undefined; startedMs: number; finishedMs: number; finished: number };
}

export interface RecoveryRecord {
  cause: string;
  generation: number;
  startedMs: number;
  /** Since when commits were impossible. */
  stalledSinceMs: number;
  acceptedMs: number | undefined;
}

export interface Database {
  readonly fabric: Fabric;
  readonly uid: string;
  readonly createdMs: number;
  connection: ConnectionString;
  version: string;
  isConfigured: boolean;
  configuration: Configuration;
  generation: number;
  readonly workers: Map<string, ServerInstance>;
  /** Lost processes that status still lists, and when they were lost. */
  readonly departed: Map<string, { instance: ServerInstance; atMs: number }>;
  controller: Role | undefined;
  /** Its process died, also when it is back already. */
  isControllerLost: boolean;
  phase: RecoveryPhase;
  transaction: TransactionSystem | undefined;
  oldLogSets: LogSet[];
  /** When commits were accepted last. */
  recoveredMs: number | undefined;
  /** Since when commits are impossible; undefined while they are possible. */
  stalledSinceMs: number | undefined;
  readonly history: RecoveryRecord[];
  /** Timers of one kind each; a new one replaces the old. */
  readonly timers: Map<string, { timer: Timer; dueMs: number }>;
  recoveryAttempt: number;
  recruitingSinceMs: number;
  primaryLostMs: number | undefined;
  /** The datacenter into which the recovery under way moves the primary. */
  nextPrimary: string | undefined;
  readonly distribution: Distribution;
  readonly excludedAddresses: Map<string, number>;
  readonly excludedLocalities: Map<string, number>;
  readonly classOverrides: Map<string, string>;
  maintenance: { zone: string; untilMs: number } | undefined;
  /** The last status that was begun, or is to begin, while commits were impossible. */
  slowStatus: { startMs: number; endMs: number } | undefined;
  lockUid: string | undefined;
  /** Time from which the database counts its versions. */
  versionZeroMs: number;
  readonly listeners: Set<() => void>;
  readonly store: KeyValueStore;
  /** Why the last write to a special key was refused. */
  errorMessage: string | undefined;
  /** Connected clients by address. */
  readonly clients: Map<string, ApplicationClient>;
  /** The master of a database that was never created. */
  waitingMaster: Role | undefined;
  /** Coordinators that answered at the last look; refreshed on every change of members. */
  hasQuorum: boolean;
}

export function createDatabase(
  fabric: Fabric,
  connection: ConnectionString,
  version: string,
  configuration: Configuration,
): Database {
  const nowMs = fabric.clock.nowMs();
  const database: Database = {
    fabric,
    uid: randomHex(fabric, 32),
    createdMs: nowMs,
    connection,
    version,
    isConfigured: false,
    configuration,
    generation: 1,
    workers: new Map(),
    departed: new Map(),
    controller: undefined,
    isControllerLost: false,
    phase: "configuration_never_created",
    transaction: undefined,
    oldLogSets: [],
    recoveredMs: undefined,
    stalledSinceMs: nowMs,
    history: [],
    timers: new Map(),
    recoveryAttempt: 0,
    recruitingSinceMs: 0,
    primaryLostMs: undefined,
    nextPrimary: undefined,
    distribution: newDistribution(nowMs),
    excludedAddresses: new Map(),
    excludedLocalities: new Map(),
    classOverrides: new Map(),
    maintenance: undefined,
    slowStatus: undefined,
    lockUid: undefined,
    versionZeroMs: nowMs,
    listeners: new Set(),
    clients: new Map(),
    waitingMaster: undefined,
    errorMessage: undefined,
    hasQuorum: false,
    store: createKeyValueStore({
      clock: fabric.clock,
      random: fabric.random,
      lockUid: () => database.lockUid,
      commitFault: () => fabric.commitFault?.(),
      unavailable: () => (isServing(database) ? undefined : nextChange(database)),
      latencyMs: (step) => (step === "commit" ? 3 : 1),
      derivedKeys: (range) => fabric.acts.timeKeeperKeys(database, range),
    }),
  };
  fabric.acts.serveKeys(database);
  return database;
}

function newDistribution(nowMs: number): Distribution {
  return {
    role: undefined,
    startedMs: nowMs,
    isInitialized: false,
    previous: undefined,
    servers: new Map(),
    shards: [],
    inFlight: 0,
    totalMovedBytes: 0,
    copiedBytes: 0,
    populated: new Set(),
    borrowUntilMs: 0,
    mustRestart: false,
    regionIds: [undefined],
    hasInternalError: new Map(),
    wiggle: { serverId: undefined, startedMs: 0, finishedMs: 0, finished: 0 },
  };
}

/** Resolves at the next change of the database, whatever it is. */
export function nextChange(database: Database): Promise<void> {
  return new Promise((resolve) => {
    const listener = (): void => {
      database.listeners.delete(listener);
      resolve();
    };
    database.listeners.add(listener);
  });
}

export function trace(database: Database, line: string): void {
  const { description } = database.connection;
  database.fabric.trace(`fdb ${description} ${line}`);
}

/** Runs `run` after `delayMs`; an earlier timer of the same name is kept when it is due first. */
export function schedule(
  database: Database,
  name: string,
  delayMs: number,
  run: () => void,
  keepEarlier = true,
): void {
  const dueMs = database.fabric.clock.nowMs() + delayMs;
  const known = database.timers.get(name);
  if (known && keepEarlier && known.dueMs <= dueMs) return;
  known?.timer.cancel();
  const timer = database.fabric.clock.setTimer(delayMs, () => {
    database.timers.delete(name);
    run();
  });
  database.timers.set(name, { timer, dueMs });
}

export function unschedule(database: Database, name: string): void {
  database.timers.get(name)?.timer.cancel();
  database.timers.delete(name);
}

/** Wakes everybody who waits for the database to change. */
export function notifyChange(database: Database): void {
  for (const listener of Array.from(database.listeners)) listener();
}

/** The commit version at this moment: a million a second, as in a real one. */
export function currentVersion(database: Database): number {
  return Math.max(0, database.fabric.clock.nowMs() - database.versionZeroMs) * 1000;
}

/** Whether transactions can go on: commits are accepted and the system keys can be read. */
export function isServing(database: Database): boolean {
  return (
    isAcceptingCommits(database) &&
    database.distribution.shards[0]?.teams.some(hasLiveMember) === true
  );
}

function hasLiveMember(team: readonly StorageServer[]): boolean {
  return team.some((server) => server.diedMs === undefined);
}

export function isAcceptingCommits(database: Database): boolean {
  const { phase } = database;
  return (
    database.isConfigured &&
    database.stalledSinceMs === undefined &&
    (phase === "accepting_commits" || phase === "all_logs_recruited" || phase === "fully_recovered")
  );
}
