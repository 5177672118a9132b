// The simulated FoundationDB as others use it: a runtime for fdbserver processes, clients, the
// truth about the data, and trouble on demand. One of these may hold several databases, told apart
// by their coordinators. Rules: spec/database.md.
import type { Clock } from "../../env/clock.ts";
import { randomUuid } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClientFactory, FdbTransaction, TransactionOptions } from "../../fdb/admin.ts";
import { hostOf } from "../../model/address.ts";
import type { SeenCertificate } from "../../model/certificate.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type {
  HostResolver,
  ProcessRuntime,
  ToolProcess,
  ToolSpec,
} from "../../pod/process-runtime.ts";
import { backupLayer } from "../backup/layer-document.ts";
import { createObjectStores } from "../backup/object-store.ts";
import type { ObjectStores } from "../backup/object-store.ts";
import { timeKeeperKeys } from "../backup/time-keeper.ts";
import { startBackupTool } from "../backup/tools.ts";
import type { CommitRecord } from "../key-value/commit-record.ts";
import type { Acts } from "./acts.ts";
import type { CommitFault } from "../key-value/store.ts";
import { createAdminFactory } from "./admin-client.ts";
import type { ApplicationClient } from "./clients.ts";
import { locate } from "./coordination.ts";
import { notifyChange } from "./database.ts";
import type { Database } from "./database.ts";
import { moveDistributor, restartDistributor } from "./distribution.ts";
import { connectTo, shownCertificate } from "./fabric.ts";
import type { Fabric } from "./fabric.ts";
import { createFaults } from "./faults.ts";
import { startFdbcli } from "./fdbcli.ts";
import type { Faults } from "./faults.ts";
import { createGroundTruth } from "./ground-truth.ts";
import type { DatabaseOutline, DatabaseTruth, GroundTruth } from "./ground-truth.ts";
import { measure } from "./measures.ts";
import type { DatabaseMeasures } from "./measures.ts";
import { registerManagementKeys } from "./management-keys.ts";
import { abandonDatabase } from "./membership.ts";
import { clusterKey, parseConnectionString } from "./network-address.ts";
import { beginRecovery } from "./recovery.ts";
import { completeRecovery } from "./recovery-completion.ts";
import { react } from "./relocation.ts";
import { seedDatabase } from "./seed.ts";
import { readSeed } from "./seed-reading.ts";
import type { SeedProblem, SeedProcess, SeedReading } from "./seed-reading.ts";
import { createServerRuntime } from "./server-runtime.ts";
import { recruitStorage } from "./storage-servers.ts";
import { defaultTimings } from "./timings.ts";
import type { Timings } from "./timings.ts";

export type { DatabaseMeasures, DatabaseOutline, DatabaseTruth, SeedProblem, SeedProcess };

export interface SimulatedFdbOptions {
  clock: Clock;
  random: Random;
  resolver: HostResolver;
  trace?: (line: string) => void;
  timings?: Partial<Timings>;
  /** Size of the data that a new database gets. */
  initialBytes?: number;
  /**
   * Of a database that was there already: whether processes that come later get roles before equal ones, or after them. By
   * their addresses when absent.
   */
  newcomersFirst?: boolean;
  /** Asked at each commit of a transaction with writes: what goes wrong with it. */
  commitFault?: () => CommitFault | undefined;
  /** Who is told of connections to processes. */
  onConnection?: Fabric["onConnection"];
  /** Versions with a client beside the operator; all when absent. */
  supportedVersions?: readonly string[];
  /** Told of every backup tool as it is started. */
  onTool?: (spec: ToolSpec, process: ToolProcess) => void;
}

/** One database, also after its coordinators have changed or its processes are gone. */
export interface DatabaseInside {
  /** What it holds at every version from the first call on. */
  readonly record: CommitRecord;
  /** The version that it had at a moment of the past. */
  versionAt(ms: number): number;
  lockUid(): string | undefined;
}

/** The transactions of an application that is there all the time; what it draws is drawn from a generator of its own. */
export type Application = <T>(
  body: (transaction: FdbTransaction) => Promise<T>,
  options: TransactionOptions,
) => Promise<T>;

export interface SimulatedFdb {
  /** Starts fdbservers; what the emulated kubelet uses. */
  runtime: ProcessRuntime;
  /** What the operator uses. */
  admin: AdminClientFactory;
  truth: GroundTruth;
  faults: Faults;
  /** Where backups are kept, and the trouble that object stores have. */
  objectStores: ObjectStores;
  /** What the database behind a connection string holds at every version from the first call on. */
  record(connectionString: string): CommitRecord | undefined;
  /** The database behind a connection string, whatever becomes of that string. */
  inside(connectionString: string): DatabaseInside | undefined;
  /** One that stays with its database, whatever becomes of that string, and is not among its clients. */
  application(connectionString: string, random: Random): Application | undefined;
  /** Simulated applications connected to the database behind a connection string. */
  addClient(connectionString: string, client: ApplicationClient): void;
  removeClient(connectionString: string, address: string): void;
  /**
   * Makes the database that a status describes, as it was then. Its processes take their places when they are started at
   * their addresses.
   */
  wake(status: DatabaseStatus): Omit<SeedReading, "seed">;
  /** Processes of such a database that were not started yet. */
  awaited(): readonly SeedProcess[];
  /** The certificate that the process at this address shows to whoever begins with TLS. */
  certificateAt(ip: string, port: number): SeenCertificate | undefined;
  /** Figures of all databases that were created. */
  measures(): readonly DatabaseMeasures[];
  /** Locks the database and gives the UID; undefined when it is not there or locked already. */
  lock(connectionString: string): string | undefined;
  unlock(connectionString: string): void;
}

const acts: Acts = {
  beginRecovery,
  completeRecovery,
  moveDistributor,
  restartDistributor,
  recruitStorage,
  react,
  abandon: abandonDatabase,
  serveKeys: registerManagementKeys,
  timeKeeperKeys,
  backupLayer,
};

const defaultInitialBytes = 120_000_000;

/** It connects to every process. */
function welcome(database: Database | undefined, client: ApplicationClient): void {
  if (database === undefined) return;
  database.clients.set(client.address, client);
  const host = hostOf(client.address);
  for (const worker of database.workers.values()) connectTo(database.fabric, host, worker);
}

export function createSimulatedFdb(options: SimulatedFdbOptions): SimulatedFdb {
  const fabric: Fabric = {
    ...{ clock: options.clock, random: options.random },
    resolver: options.resolver,
    timings: { ...defaultTimings, ...options.timings },
    trace: options.trace ?? (() => {}),
    acts,
    listening: new Map(),
    disks: new Map(),
    objectStores: createObjectStores(),
    databases: new Set(),
    unjoined: new Set(),
    joinTimer: undefined,
    joinDelayMs: options.timings?.retryMs ?? defaultTimings.retryMs,
    ...{ commitFault: options.commitFault, onConnection: options.onConnection },
    initialBytes: options.initialBytes ?? defaultInitialBytes,
    cut: new Set(),
    cutNetworks: new Map(),
    spoiltDisks: new Map(),
    ...{ startDelays: new Map(), datacenterLagSeconds: 0 },
    arrivals: new Map(),
    seeded: new Set(),
    newcomersFirst: options.newcomersFirst,
  };
  const find = (text: string): Database | undefined => findByString(fabric, text);
  return {
    runtime: {
      ...createServerRuntime(fabric),
      startTool(spec) {
        if (spec.name === "fdbcli") return startFdbcli(fabric, spec);
        const process = startBackupTool(fabric, spec);
        options.onTool?.(spec, process);
        return process;
      },
    },
    admin: createAdminFactory(fabric, options.supportedVersions),
    truth: createGroundTruth(fabric),
    faults: createFaults(fabric),
    objectStores: fabric.objectStores,
    record: (text) => find(text)?.store.record(),
    inside: (text) => insideOf(find(text)),
    application: (text, random) => applicationOf(find(text), random),
    addClient: (text, client) => welcome(find(text), client),
    removeClient: (text, address) => {
      find(text)?.clients.delete(address);
    },
    wake(status) {
      const { seed, problems, notes } = readSeed(status, fabric.clock.nowMs());
      if (seed !== undefined) seedDatabase(fabric, seed);
      return { problems, notes };
    },
    awaited: () => [...fabric.arrivals.values()].map(({ process }) => process),
    certificateAt: (host, port) => shownCertificate(fabric, host, port),
    measures: () => [...fabric.databases].filter(({ isConfigured }) => isConfigured).map(measure),
    lock(text) {
      const database = find(text);
      if (!database || database.lockUid !== undefined) return undefined;
      database.lockUid = randomUuid(fabric.random).replaceAll("-", "");
      notifyChange(database);
      return database.lockUid;
    },
    unlock(text) {
      const database = find(text);
      if (!database) return;
      database.lockUid = undefined;
      notifyChange(database);
    },
  };
}

function applicationOf(database: Database | undefined, random: Random): Application | undefined {
  if (database === undefined) return undefined;
  return (body, options) => database.store.transact(body, options, random);
}

function insideOf(database: Database | undefined): DatabaseInside | undefined {
  if (database === undefined) return undefined;
  const { store } = database;
  return {
    record: store.record(),
    versionAt: (ms) => store.versionAt(ms),
    lockUid: () => database.lockUid,
  };
}

/** Through the coordinators when they answer, else by the key they would have. */
function findByString(fabric: Fabric, text: string): Database | undefined {
  const connection = parseConnectionString(text);
  if (!connection) return undefined;
  for (const database of fabric.databases) {
    const location = locate(fabric, connection, database.version);
    if (location.kind === "found" && location.databaseUid === database.uid) return database;
    if (clusterKey(database.connection) === clusterKey(connection)) return database;
  }
  return undefined;
}
