// Who tries to take part in the database with a protocol that it does not speak. Rules: spec/upgrade.md [U51], [U90], [U96].
import { parseAddress, processNumberAt } from "./address.ts";
import type { ProcessAddress } from "./address.ts";
import type { DatabaseStatus } from "./database-status.ts";
import { localityKeys, localityOf, processesOf } from "./locality.ts";
import { lineOfProtocol } from "./version.ts";
import type { Version } from "./version.ts";

/** Machines that try to connect and are not understood; one that takes part as well is left alone. */
export function incompatibleHosts(
  status: DatabaseStatus,
  dataCenter: string | undefined,
): ReadonlySet<string> {
  return turnedAway(status, dataCenter, ({ host }) => host);
}

/** The same server by server, see serverKey: of a pod with several servers others may take part. */
export function incompatibleServers(
  status: DatabaseStatus,
  dataCenter: string | undefined,
): ReadonlySet<string> {
  return turnedAway(status, dataCenter, ({ host, port }) => serverKey(host, processNumberAt(port)));
}

/**
 * Coordinators that run a newer line than `running`. Each tells its protocol also to a client that does not understand it
 * otherwise, so they are known where no majority is left and nobody lists what is turned away.
 */
export function coordinatorsAhead(status: DatabaseStatus, running: Version): ProcessAddress[] {
  const listed = status.client?.coordinators?.coordinators ?? [];
  return listed.flatMap(({ address, protocol = "", reachable }) => {
    const line = reachable ? undefined : lineOfProtocol(protocol);
    if (line === undefined) return [];
    const isNewer = (line.major - running.major || line.minor - running.minor) > 0;
    const found = parseAddress(address);
    return isNewer && found.ok ? [found.value] : [];
  });
}

export function serverKey(host: string, processNumber: number): string {
  return `${host} ${processNumber}`;
}

function turnedAway(
  status: DatabaseStatus,
  dataCenter: string | undefined,
  keyOf: (address: ProcessAddress) => string,
): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const text of status.cluster?.incompatible_connections ?? []) {
    const address = parseAddress(text);
    if (address.ok) keys.add(keyOf(address.value));
  }
  if (keys.size === 0) return keys;
  for (const process of processesOf(status)) {
    const isOurs = !dataCenter || localityOf(process, localityKeys.dataCenter) === dataCenter;
    const address = parseAddress(process.address ?? "");
    if (isOurs && address.ok) keys.delete(keyOf(address.value));
  }
  return keys;
}
