// The real database behind the seam that the operator uses: its client is in a process with the client library of the
// running version, which it may share with other databases. Rules: spec/real-database.md [DB1], [DB10]-[DB19],
// [DB30]-[DB38], [DB50].
import type { Clock } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type {
  AdminClient,
  AdminClientFactory,
  FdbTransaction,
  TransactionOptions,
} from "../admin.ts";
import { FdbError, fdbCommandFailed } from "../error.ts";
import { clientProgramPath } from "./client-program.ts";
import { forkStarter } from "./child-handle.ts";
import type { ChildStarter } from "./child-handle.ts";
import type { ClientLimits } from "./client-limits.ts";
import { ClientPool } from "./client-pool.ts";
import type { ClientProcessFigures } from "./client-pool.ts";
import type { Installation } from "./installation.ts";
import type { PooledDatabase } from "./pooled-database.ts";
import { transactIn } from "./process-transaction.ts";

export interface ProcessAdminOptions {
  readonly installation: Installation;
  readonly clock: Clock;
  readonly log: Log;
  /** Handed to the clients; FDB_TLS_* and FDB_NETWORK_OPTION_* mean there what they mean to FoundationDB. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called for every database whose client was lost and that may be the cause, with its name. */
  readonly onLost?: (name: string, reason: string) => void;
  readonly limits?: Partial<ClientLimits>;
  /** Only tests start something else. */
  readonly start?: ChildStarter;
}

/** What would make one library load others: each client has exactly one. */
const withheldVariables: ReadonlySet<string> = new Set([
  "FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY",
  "FDB_NETWORK_OPTION_EXTERNAL_CLIENT_LIBRARY",
  "FDB_NETWORK_OPTION_IGNORE_EXTERNAL_CLIENT_FAILURES",
  "FDB_NETWORK_OPTION_CLIENT_THREADS_PER_VERSION",
  "FDB_NETWORK_OPTION_DISABLE_LOCAL_CLIENT",
]);

export interface ProcessAdmin extends AdminClientFactory {
  /** The client processes that run now. */
  processes(): readonly ClientProcessFigures[];
}

export function createProcessAdmin(options: ProcessAdminOptions): ProcessAdmin {
  const { installation, clock, log, limits, onLost } = options;
  const environment = Object.fromEntries(
    Object.entries(options.environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !withheldVariables.has(entry[0]),
    ),
  );
  const starter = options.start ?? forkStarter(clientProgramPath());
  const pool = new ClientPool({ clock, log, limits, environment, starter, onLost });
  return {
    isVersionSupported: (version) => installation.find(version) !== undefined,
    installedVersions: () => installation.clients.map(({ version }) => version),
    processes: () => pool.figures(),
    open(client) {
      const files = installation.find(client.version);
      return files === undefined
        ? missingClient(client.version, installation)
        : new ProcessAdminClient(clock, pool.open(client, files));
    },
  };
}

class ProcessAdminClient implements AdminClient {
  readonly #clock: Clock;
  readonly #database: PooledDatabase;
  #lastTransaction = 0;

  constructor(clock: Clock, database: PooledDatabase) {
    this.#clock = clock;
    this.#database = database;
  }

  status(timeoutMs: number): ReturnType<AdminClient["status"]> {
    return this.#database.status(timeoutMs);
  }

  async configure(text: string, timeoutMs: number): Promise<void> {
    await this.#database.call("configure", { text }, timeoutMs);
  }

  async exclude(
    targets: readonly string[],
    { wait, timeoutMs }: { wait: boolean; timeoutMs: number },
  ): Promise<void> {
    await this.#database.call("exclude", { targets, wait }, timeoutMs);
  }

  async include(targets: readonly string[], timeoutMs: number): Promise<void> {
    await this.#database.call("include", { targets }, timeoutMs);
  }

  excluded(timeoutMs: number): Promise<string[]> {
    return this.#database.call("excluded", null, timeoutMs);
  }

  exclusionsInProgress(timeoutMs: number): Promise<string[]> {
    return this.#database.call("exclusionsInProgress", null, timeoutMs);
  }

  async kill(addresses: readonly string[], timeoutMs: number): Promise<void> {
    await this.#database.call("kill", { addresses }, timeoutMs);
  }

  changeCoordinators(addresses: readonly string[], timeoutMs: number): Promise<string> {
    return this.#database.call("changeCoordinators", { addresses }, timeoutMs);
  }

  connectionString(timeoutMs: number): Promise<string> {
    return this.#database.call("connectionString", null, timeoutMs);
  }

  async setMaintenanceZone(zone: string, seconds: number, timeoutMs: number): Promise<void> {
    await this.#database.call("setMaintenanceZone", { zone, seconds }, timeoutMs);
  }

  async resetMaintenanceZone(timeoutMs: number): Promise<void> {
    await this.#database.call("resetMaintenanceZone", null, timeoutMs);
  }

  transact<T>(
    body: (transaction: FdbTransaction) => Promise<T>,
    options: TransactionOptions,
  ): Promise<T> {
    const nextId = (): number => ++this.#lastTransaction;
    return transactIn({ clock: this.#clock, database: this.#database, nextId }, body, options);
  }

  close(): void {
    this.#database.close();
  }
}

/** Nobody should open a client of a version that is not supported; if it happens every call says what is missing. */
function missingClient(version: string, installation: Installation): AdminClient {
  const refuse = (): Promise<never> =>
    Promise.reject(new FdbError(fdbCommandFailed, installation.explainMissing(version)));
  return {
    status: refuse,
    configure: refuse,
    exclude: refuse,
    include: refuse,
    excluded: refuse,
    exclusionsInProgress: refuse,
    kill: refuse,
    changeCoordinators: refuse,
    connectionString: refuse,
    setMaintenanceZone: refuse,
    resetMaintenanceZone: refuse,
    transact: refuse,
    close: () => {},
  };
}
