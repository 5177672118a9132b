// Every call of a client of the database through one function, so that a fault needs to be said once.
import type { AdminClient } from "../../fdb/admin.ts";

/** Carries a call out, or does not; `timeoutMs` is how long the caller is ready to wait. */
export type PassCall = <T>(call: () => Promise<T>, timeoutMs: number) => Promise<T>;

export function throughCalls(client: AdminClient, pass: PassCall): AdminClient {
  return {
    status: (timeoutMs) => pass(() => client.status(timeoutMs), timeoutMs),
    configure: (text, timeoutMs) => pass(() => client.configure(text, timeoutMs), timeoutMs),
    exclude: (targets, options) => pass(() => client.exclude(targets, options), options.timeoutMs),
    include: (targets, timeoutMs) => pass(() => client.include(targets, timeoutMs), timeoutMs),
    excluded: (timeoutMs) => pass(() => client.excluded(timeoutMs), timeoutMs),
    exclusionsInProgress: (timeoutMs) =>
      pass(() => client.exclusionsInProgress(timeoutMs), timeoutMs),
    kill: (addresses, timeoutMs) => pass(() => client.kill(addresses, timeoutMs), timeoutMs),
    changeCoordinators: (addresses, timeoutMs) =>
      pass(() => client.changeCoordinators(addresses, timeoutMs), timeoutMs),
    connectionString: (timeoutMs) => pass(() => client.connectionString(timeoutMs), timeoutMs),
    setMaintenanceZone: (zone, seconds, timeoutMs) =>
      pass(() => client.setMaintenanceZone(zone, seconds, timeoutMs), timeoutMs),
    resetMaintenanceZone: (timeoutMs) =>
      pass(() => client.resetMaintenanceZone(timeoutMs), timeoutMs),
    transact: (body, options) => pass(() => client.transact(body, options), options.timeoutMs),
    close: () => client.close(),
  };
}
