// Which databases `fdb-operator run` works with: real ones, or, in tests, simulated ones that another process serves.
// Rules: spec/run.md [RUN40]-[RUN43].
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { MetricsRegistry, Sample } from "../env/metrics.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import type { ClientProcessFigures } from "../fdb/client/client-pool.ts";
import type { ProcessAdmin } from "../fdb/client/process-admin.ts";
import { runtimeMetrics } from "../model/metrics/operator.ts";
import type { PodNetwork } from "../pod/network.ts";
import { CommandError, UsageError } from "../env/command-error.ts";

/** The way to the databases and to the sidecars of their pods. */
export interface Databases {
  readonly admin: AdminClientFactory;
  readonly podNetwork: PodNetwork;
  close(): Promise<void>;
}

export interface DatabasesInput {
  /** The value of --database. */
  kind: string;
  /** How many databases share a client process at most. */
  databasesPerClient: number;
  clock: Clock;
  log: Log;
  /** For numbers about the clients, such as restarts of their processes. */
  registry: MetricsRegistry;
  environment: Readonly<Record<string, string | undefined>>;
}

export type OpenDatabases = (input: DatabasesInput) => Promise<Databases>;

export async function openDatabases(input: DatabasesInput): Promise<Databases> {
  const simulated = /^simulated:([^:]+):(\d+)$/.exec(input.kind);
  if (simulated !== null) {
    const { connectSimulated } = await import("../sim/remote/remote-databases.ts");
    return connectSimulated(simulated[1] ?? "", Number(simulated[2]), input.clock, input.log);
  }
  if (input.kind !== "real") {
    throw new UsageError(`--database must be real or simulated:HOST:PORT, not "${input.kind}"`);
  }
  return realDatabases(input);
}

async function realDatabases(input: DatabasesInput): Promise<Databases> {
  const { clock, log, registry, environment, databasesPerClient } = input;
  const { findInstallation, installationPlaces } = await import("../fdb/client/installation.ts");
  const { createProcessAdmin } = await import("../fdb/client/process-admin.ts");
  const { createHttpPodNetwork } = await import("../pod/http-network.ts");
  const places = installationPlaces(environment);
  const installation = await findInstallation(places);
  if (installation.clients.length === 0) {
    const folders = [...new Set([...places.libraryFolders, ...places.programFolders])].join(", ");
    throw new CommandError(
      `no client of FoundationDB (libfdb_c.so with fdbcli of the same version) in ${folders}: name its folder in FDB_LIBRARY_DIR and FDB_BINARY_DIR`,
    );
  }
  log.info("clients of FoundationDB", {
    versions: installation.clients.map((each) => each.version),
  });
  const admin = createProcessAdmin({
    ...{ installation, clock, log, environment },
    limits: { databasesPerProcess: databasesPerClient },
    onLost: lossReporter(log, registry),
  });
  registerClientMetrics(registry, admin);
  return { admin, podNetwork: createHttpPodNetwork(clock, environment), close: async () => {} };
}

/** The client processes that run now, each with its memory as it told it last. Rule: spec/real-database.md [DB56]. */
export function registerClientMetrics(
  registry: MetricsRegistry,
  admin: Pick<ProcessAdmin, "processes">,
): void {
  const figures = (of: (figure: ClientProcessFigures) => number | undefined) =>
    function* (): Iterable<Sample> {
      for (const figure of admin.processes()) {
        const value = of(figure);
        const { number, version, isQuarantine } = figure;
        const use = isQuarantine ? "quarantine" : "shared";
        const labels = { process: String(number), version, use };
        if (value !== undefined) yield { labels, value };
      }
    };
  registry.sampled(
    runtimeMetrics.clientDatabases,
    figures(({ databases }) => databases),
  );
  registry.sampled(
    runtimeMetrics.clientMemory,
    figures(({ rssBytes }) => rssBytes),
  );
}

/** Tells of each database whose client was lost. */
export function lossReporter(
  log: Log,
  registry: MetricsRegistry,
): (database: string, reason: string) => void {
  const lost = registry.counter(runtimeMetrics.clientsLost);
  return (database, reason) => {
    const [namespace = "", name = ""] = database.split("/");
    lost.add({ namespace, name });
    log.warn("the client process of a database was lost", { database, reason });
  };
}
