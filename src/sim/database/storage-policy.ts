// Which storage servers a database wants: by redundancy mode, region, class and exclusion. [FDB14]
// [FDB17]
import { mainDatacenter } from "./configuration-check.ts";
import type { Database, StorageServer } from "./database.ts";
import { serverExcludedSince } from "./exclusion.ts";
import { isStorageClass } from "./fitness.ts";
import { redundancyModes, selectReplicas } from "./redundancy-policy.ts";
import type { Policy } from "./redundancy-policy.ts";
import { classOf } from "./server-instance.ts";

export function storagePolicy(database: Database): Policy {
  const mode = redundancyModes[database.configuration.redundancyMode];
  return mode?.storage ?? { replicas: 1, across: undefined };
}

/** Datacenters that hold data: undefined when any may. */
export function storageDatacenters(database: Database): string[] | undefined {
  const { regions, usableRegions } = database.configuration;
  if (regions.length === 0) return undefined;
  if (usableRegions < 2) return [database.transaction?.primaryDatacenter ?? ""];
  return regions.map((region) => mainDatacenter(region)?.id ?? "");
}

/** Whether every datacenter that shall hold data holds all of it. */
export function isFullyReplicated(database: Database): boolean {
  const datacenters = storageDatacenters(database);
  return !datacenters || datacenters.every((id) => database.distribution.populated.has(id));
}

/**
 * Log processes lend a storage role where storage processes alone cannot form a team: the
 * datacenters concerned, or "anywhere" without regions.
 */
export function borrowingDatacenters(database: Database): Set<string> {
  const own = [...database.distribution.servers.values()].filter(
    (server) => !server.isBorrowed && !server.isFailed && !isUnwanted(database, server),
  );
  const policy = storagePolicy(database);
  const isForced = database.fabric.clock.nowMs() < database.distribution.borrowUntilMs;
  const datacenters = storageDatacenters(database);
  if (!datacenters) {
    const isNeeded = isForced || selectReplicas(policy, [], own) === undefined;
    return new Set(isNeeded ? [anywhere] : []);
  }
  const isPoor = (id: string): boolean => {
    const local = own.filter((server) => server.localities["dcid"] === id);
    return selectReplicas(policy, [], local) === undefined;
  };
  return new Set(datacenters.filter((id) => isForced || isPoor(id)));
}

const anywhere = "anywhere";

export function mayBorrow(
  borrowing: ReadonlySet<string>,
  localities: Readonly<Record<string, string>>,
): boolean {
  return borrowing.has(anywhere) || borrowing.has(localities["dcid"] ?? "");
}

/** Excluded, of the wrong class or datacenter: to be emptied, then removed. */
export function isUnwanted(database: Database, server: StorageServer): boolean {
  if (serverExcludedSince(database, server) !== undefined) return true;
  const datacenters = storageDatacenters(database);
  if (datacenters && !datacenters.includes(server.localities["dcid"] ?? "")) return true;
  const instance = database.workers.get(server.processId);
  return (
    instance !== undefined && !server.isBorrowed && !isStorageClass(classOf(database, instance))
  );
}
