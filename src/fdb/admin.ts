// The seam between the operator and a FoundationDB database. Two implementations: the simulated database (sim/), and
// the real one behind libfdb_c and fdbcli in a child process. One client serves one database.
import type { DatabaseStatus } from "../model/database-status.ts";

export interface AdminClientOptions {
  /** Identifies the client towards the database and in traces, for example "default/sample". */
  name: string;
  connectionString: string;
  /** Version of the client library to use; the running version of the database. */
  version: string;
  /** Certificates in PEM form that servers are checked against; those in FDB_TLS_CA_FILE when absent. */
  authorities?: string | undefined;
}

export interface AdminClientFactory {
  open(options: AdminClientOptions): AdminClient;
  /** Whether a client for this version is installed beside the operator. */
  isVersionSupported(version: string): boolean;
  /** Versions whose client is installed beside the operator; empty when there is one for every version. */
  installedVersions(): readonly string[];
}

export interface AdminClient {
  /**
   * The machine-readable status as the database tells it. An unreachable or unconfigured database still gives a
   * (partial) status; FdbError 1031 (timed_out) when nothing came back within `timeoutMs`.
   */
  status(timeoutMs: number): Promise<DatabaseStatus>;
  /** `arguments` is the text after "configure", for example "new double ssd-2 ...". */
  configure(configureArguments: string, timeoutMs: number): Promise<void>;
  /**
   * Targets are IP, IP:PORT (without TLS suffix) or locality_KEY:VALUE. With `wait` it resolves only when no excluded
   * process holds storage or log state any more, and fails with FdbError 1031 otherwise.
   */
  exclude(targets: readonly string[], options: { wait: boolean; timeoutMs: number }): Promise<void>;
  include(targets: readonly string[], timeoutMs: number): Promise<void>;
  /** All excluded targets, addresses and localities, from the management special keys. */
  excluded(timeoutMs: number): Promise<string[]>;
  /** Addresses that are excluded but still hold state. */
  exclusionsInProgress(timeoutMs: number): Promise<string[]>;
  /** Restarts processes. Addresses are IP:PORT without TLS suffix. */
  kill(addresses: readonly string[], timeoutMs: number): Promise<void>;
  /** Addresses keep their TLS suffix. Resolves with the new connection string. */
  changeCoordinators(addresses: readonly string[], timeoutMs: number): Promise<string>;
  /** The connection string as this client knows it now (it follows coordinator changes). */
  connectionString(timeoutMs: number): Promise<string>;
  setMaintenanceZone(zone: string, seconds: number, timeoutMs: number): Promise<void>;
  resetMaintenanceZone(timeoutMs: number): Promise<void>;
  /** Runs `body` in a transaction, commits, and retries on retryable errors until `timeoutMs`. */
  transact<T>(
    body: (transaction: FdbTransaction) => Promise<T>,
    options: TransactionOptions,
  ): Promise<T>;
  close(): void;
}

export interface TransactionOptions {
  timeoutMs: number;
  /** Needed for keys from \xff on (2004 without it). */
  accessSystemKeys?: boolean;
  readSystemKeys?: boolean;
  /** Works on a locked database (1038 without it). */
  lockAware?: boolean;
  /** Writes to \xff\xff management keys (2114 without it). */
  specialKeySpaceEnableWrites?: boolean;
  specialKeySpaceRelaxed?: boolean;
}

export interface KeyValue {
  key: Uint8Array;
  value: Uint8Array;
}

export interface FdbTransaction {
  get(key: Uint8Array, options?: { snapshot?: boolean }): Promise<Uint8Array | undefined>;
  /** Keys in [begin, end), in order. */
  getRange(
    begin: Uint8Array,
    end: Uint8Array,
    options?: { limit?: number; reverse?: boolean; snapshot?: boolean },
  ): Promise<KeyValue[]>;
  /** About how many bytes the keys and values of [begin, end) take; far off where there are only a few. */
  estimatedBytes(begin: Uint8Array, end: Uint8Array): Promise<number>;
  set(key: Uint8Array, value: Uint8Array): void;
  clear(key: Uint8Array): void;
  clearRange(begin: Uint8Array, end: Uint8Array): void;
}
