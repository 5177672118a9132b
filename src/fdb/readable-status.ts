// Every status passes here before anybody reads it, whichever client brought it: parts of another shape than this project
// reads are dropped and named, and a status of which nothing of use is left is a failed call. Rules:
// spec/real-database.md [DB39].
import type { DatabaseStatus } from "../model/database-status.ts";
import { shapedStatus } from "../model/status-shape.ts";
import type { AdminClient, AdminClientFactory } from "./admin.ts";
import { FdbError, fdbCommandFailed } from "./error.ts";

export function readableStatus(value: unknown): DatabaseStatus {
  const shaped = shapedStatus(value);
  if ("problem" in shaped) throw new FdbError(fdbCommandFailed, shaped.problem);
  return shaped.status;
}

export function readableAdmin(factory: AdminClientFactory): AdminClientFactory {
  return {
    isVersionSupported: (version) => factory.isVersionSupported(version),
    installedVersions: () => factory.installedVersions(),
    open: (options) => readableClient(factory.open(options)),
  };
}

function readableClient(client: AdminClient): AdminClient {
  // A client gives the same object again when nothing has changed: that was looked at already.
  let last: { told: DatabaseStatus; readable: DatabaseStatus } | undefined;
  return {
    async status(timeoutMs) {
      const told = await client.status(timeoutMs);
      if (told !== last?.told) last = { told, readable: readableStatus(told) };
      return last.readable;
    },
    excluded: (timeoutMs) => client.excluded(timeoutMs),
    exclusionsInProgress: (timeoutMs) => client.exclusionsInProgress(timeoutMs),
    connectionString: (timeoutMs) => client.connectionString(timeoutMs),
    configure: (text, timeoutMs) => client.configure(text, timeoutMs),
    exclude: (targets, options) => client.exclude(targets, options),
    include: (targets, timeoutMs) => client.include(targets, timeoutMs),
    kill: (addresses, timeoutMs) => client.kill(addresses, timeoutMs),
    changeCoordinators: (addresses, timeoutMs) => client.changeCoordinators(addresses, timeoutMs),
    setMaintenanceZone: (zone, seconds, timeoutMs) =>
      client.setMaintenanceZone(zone, seconds, timeoutMs),
    resetMaintenanceZone: (timeoutMs) => client.resetMaintenanceZone(timeoutMs),
    transact: (body, options) => client.transact(body, options),
    close: () => client.close(),
  };
}
