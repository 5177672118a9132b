// The real database behind the seam that the operator uses: each client is a process of its own with the client library of
// the running version. Rules: spec/real-database.md [DB1], [DB10]-[DB19], [DB30]-[DB38],
// spec/certificates.md [CERT10].
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type {
  AdminClient,
  AdminClientFactory,
  AdminClientOptions,
  FdbTransaction,
  TransactionOptions,
} from "../admin.ts";
import { FdbError, fdbCommandFailed } from "../error.ts";
import { certificateVariables, watchFiles } from "./certificate-watch.ts";
import { clientProgramPath } from "./client-program.ts";
import { forkStarter } from "./child-handle.ts";
import type { ChildStarter } from "./child-handle.ts";
import type { ChildStart } from "./child-messages.ts";
import { ChildSupervisor } from "./child-supervisor.ts";
import type { SupervisorLimits } from "./child-supervisor.ts";
import type { ClientFiles, Installation } from "./installation.ts";
import { transactIn } from "./process-transaction.ts";

export interface ProcessAdminOptions {
  readonly installation: Installation;
  readonly clock: Clock;
  readonly log: Log;
  /** Handed to the clients; FDB_TLS_* and FDB_NETWORK_OPTION_* mean there what they mean to FoundationDB. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called for every client process that was lost, with the name of the client. */
  readonly onLost?: (name: string, reason: string) => void;
  readonly limits?: Partial<SupervisorLimits>;
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

export function createProcessAdmin(options: ProcessAdminOptions): AdminClientFactory {
  const { installation, environment } = options;
  const handed = Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !withheldVariables.has(entry[0]),
    ),
  );
  const starter = options.start ?? forkStarter(clientProgramPath());
  return {
    isVersionSupported: (version) => installation.find(version) !== undefined,
    installedVersions: () => installation.clients.map(({ version }) => version),
    open(client) {
      const files = installation.find(client.version);
      return files === undefined
        ? missingClient(client.version, installation)
        : new ProcessAdminClient(options, client, files, starter, handed);
    },
  };
}

class ProcessAdminClient implements AdminClient {
  readonly #clock: Clock;
  readonly #supervisor: ChildSupervisor;
  readonly #stopWatch: () => void;
  readonly #folders = new Set<string>();
  #lastTransaction = 0;

  constructor(
    options: ProcessAdminOptions,
    client: AdminClientOptions,
    files: ClientFiles,
    starter: ChildStarter,
    environment: Readonly<Record<string, string>>,
  ) {
    const { clock, onLost, limits } = options;
    this.#clock = clock;
    this.#supervisor = new ChildSupervisor({
      clock,
      log: options.log.with({ database: client.name, version: files.version }),
      ...(limits === undefined ? {} : { limits }),
      onLost: (reason) => onLost?.(client.name, reason),
      start: () => this.#start(client, files, starter, environment),
    });
    const certificates = certificateVariables.flatMap((name) => environment[name] ?? []);
    this.#stopWatch = watchFiles(clock, certificates, () => this.#supervisor.replace());
  }

  status(timeoutMs: number): ReturnType<AdminClient["status"]> {
    return this.#supervisor.call("status", null, timeoutMs);
  }

  async configure(text: string, timeoutMs: number): Promise<void> {
    await this.#supervisor.call("configure", { text }, timeoutMs);
  }

  async exclude(
    targets: readonly string[],
    { wait, timeoutMs }: { wait: boolean; timeoutMs: number },
  ): Promise<void> {
    await this.#supervisor.call("exclude", { targets, wait }, timeoutMs);
  }

  async include(targets: readonly string[], timeoutMs: number): Promise<void> {
    await this.#supervisor.call("include", { targets }, timeoutMs);
  }

  excluded(timeoutMs: number): Promise<string[]> {
    return this.#supervisor.call("excluded", null, timeoutMs);
  }

  exclusionsInProgress(timeoutMs: number): Promise<string[]> {
    return this.#supervisor.call("exclusionsInProgress", null, timeoutMs);
  }

  async kill(addresses: readonly string[], timeoutMs: number): Promise<void> {
    await this.#supervisor.call("kill", { addresses }, timeoutMs);
  }

  changeCoordinators(addresses: readonly string[], timeoutMs: number): Promise<string> {
    return this.#supervisor.call("changeCoordinators", { addresses }, timeoutMs);
  }

  connectionString(timeoutMs: number): Promise<string> {
    return this.#supervisor.call("connectionString", null, timeoutMs);
  }

  async setMaintenanceZone(zone: string, seconds: number, timeoutMs: number): Promise<void> {
    await this.#supervisor.call("setMaintenanceZone", { zone, seconds }, timeoutMs);
  }

  async resetMaintenanceZone(timeoutMs: number): Promise<void> {
    await this.#supervisor.call("resetMaintenanceZone", null, timeoutMs);
  }

  transact<T>(
    body: (transaction: FdbTransaction) => Promise<T>,
    options: TransactionOptions,
  ): Promise<T> {
    const nextId = (): number => ++this.#lastTransaction;
    return transactIn({ clock: this.#clock, supervisor: this.#supervisor, nextId }, body, options);
  }

  close(): void {
    this.#stopWatch();
    this.#supervisor.close();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
    this.#folders.clear();
  }

  /** A cluster file of its own for each child: the library rewrites it when coordinators change. */
  #start(
    client: AdminClientOptions,
    files: ClientFiles,
    starter: ChildStarter,
    environment: Readonly<Record<string, string>>,
  ): ReturnType<ChildStarter> {
    const folder = mkdtempSync(join(tmpdir(), "fdb-client-"));
    this.#folders.add(folder);
    const child = starter({ ...environment, ...ownAuthorities(client, folder) });
    child.onEnd(() => {
      rmSync(folder, { recursive: true, force: true });
      this.#folders.delete(folder);
    });
    const { libraryPath, commandPath } = files;
    const { name, connectionString } = client;
    const start: ChildStart = {
      ...{ type: "start", name, libraryPath, commandPath, connectionString, folder },
    };
    child.send(start);
    return child;
  }
}

/** A database with authorities of its own gets them as a file beside its cluster file. */
function ownAuthorities(
  { authorities }: AdminClientOptions,
  folder: string,
): Readonly<Record<string, string>> {
  if (authorities === undefined) return {};
  const file = join(folder, "ca.pem");
  writeFileSync(file, authorities);
  return { FDB_TLS_CA_FILE: file };
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
