// Which databases `fdb-operator run` works with: real ones, or, in tests, simulated ones that another process serves.
// Rules: spec/run.md [RUN40], [RUN41].
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { MetricsRegistry } from "../env/metrics.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import type { PodNetwork } from "../pod/network.ts";
import { CommandError } from "./command-error.ts";

/** The way to the databases and to the sidecars of their pods. */
export interface Databases {
  readonly admin: AdminClientFactory;
  readonly podNetwork: PodNetwork;
  close(): Promise<void>;
}

export interface DatabasesInput {
  /** The value of --database. */
  kind: string;
  clock: Clock;
  log: Log;
  /** For numbers about the clients, such as restarts of their processes. */
  registry: MetricsRegistry;
  environment: Readonly<Record<string, string | undefined>>;
}

export async function openDatabases(input: DatabasesInput): Promise<Databases> {
  const simulated = /^simulated:([^:]+):(\d+)$/.exec(input.kind);
  if (simulated !== null) {
    const { connectSimulated } = await import("../sim/remote/remote-databases.ts");
    return connectSimulated(simulated[1] ?? "", Number(simulated[2]), input.clock, input.log);
  }
  if (input.kind !== "real") {
    throw new CommandError(`--database must be real or simulated:HOST:PORT, not "${input.kind}"`);
  }
  throw new CommandError("this build has no client for real databases");
}
