// Exclusions by address (ip, ip:port) and by locality, and who is still holding state under one. [FDB18]
import { isIP } from "node:net";
import type { Database, StorageServer } from "./database.ts";
import { parseNetworkAddress } from "./network-address.ts";
import type { ServerInstance } from "./server-instance.ts";

export type ExclusionTarget =
  | { kind: "address"; text: string }
  | { kind: "locality"; text: string };

/** Undefined when the text is neither; a TLS suffix makes it so. */
export function parseExclusionTarget(text: string): ExclusionTarget | undefined {
  if (/^locality_[A-Za-z0-9_]+:.+$/.test(text)) return { kind: "locality", text };
  const bare = /^\[(.+)\]$/.exec(text)?.[1] ?? text;
  if (isIP(bare) !== 0) return { kind: "address", text: bare };
  const address = parseNetworkAddress(text);
  if (!address || address.isHostName || address.useTls) return undefined;
  return { kind: "address", text };
}

export function hasExclusions(database: Database): boolean {
  return database.excludedAddresses.size + database.excludedLocalities.size > 0;
}

/** When the process was excluded first, or undefined while it is not. */
export function excludedSince(
  database: Database,
  ip: string,
  endpointText: string,
  localities: Readonly<Record<string, string>>,
): number | undefined {
  if (!hasExclusions(database)) return undefined;
  let since = database.excludedAddresses.get(endpointText) ?? database.excludedAddresses.get(ip);
  if (database.excludedLocalities.size === 0) return since;
  for (const [key, value] of Object.entries(localities)) {
    const at = database.excludedLocalities.get(`locality_${key}:${value}`);
    if (at !== undefined && (since === undefined || at < since)) since = at;
  }
  return since;
}

export function isExcluded(database: Database, instance: ServerInstance): boolean {
  return excludedSince(database, instance.ip, instance.endpoint, instance.localities) !== undefined;
}

export function serverExcludedSince(database: Database, server: StorageServer): number | undefined {
  const ip = server.address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  return excludedSince(database, ip, server.address, server.localities);
}

/** Addresses, without TLS suffix, that are excluded and still hold storage or log state. */
export function exclusionsInProgress(database: Database): string[] {
  if (!hasExclusions(database)) return [];
  const addresses = new Set<string>();
  for (const server of database.distribution.servers.values()) {
    if (serverExcludedSince(database, server) !== undefined) addresses.add(server.address);
  }
  const sets = [
    ...(database.transaction ? [database.transaction.logs] : []),
    ...database.oldLogSets,
  ];
  for (const set of sets) {
    for (const log of [...set.primary, ...set.satellite, ...set.remote]) {
      const instance = database.workers.get(log.processId);
      if (instance && isExcluded(database, instance)) addresses.add(instance.endpoint);
    }
  }
  return [...addresses].toSorted();
}
