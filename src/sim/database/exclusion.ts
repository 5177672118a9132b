// Exclusions by address (ip, ip:port) and by locality, and who is still holding state under one.
// [FDB18]
import { isIP } from "node:net";
import type { Database, StorageServer } from "./database.ts";
import { endpoint, parseNetworkAddress } from "./network-address.ts";
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

/** What is excluded, and since when; a database is one of these. */
export interface ExclusionSets {
  readonly excludedAddresses: ReadonlyMap<string, number>;
  readonly excludedLocalities: ReadonlyMap<string, number>;
}

export function exclusionSets(targets: readonly ExclusionTarget[]): ExclusionSets {
  const of = (kind: ExclusionTarget["kind"]): Map<string, number> =>
    new Map(targets.filter((target) => target.kind === kind).map(({ text }) => [text, 0]));
  return { excludedAddresses: of("address"), excludedLocalities: of("locality") };
}

export function hasExclusions(sets: ExclusionSets): boolean {
  return sets.excludedAddresses.size + sets.excludedLocalities.size > 0;
}

/** By which exclusions a process with these localities is met. */
export function localityTargets(localities: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(localities).map(([key, value]) => `locality_${key}:${value}`);
}

/** When the process was excluded first, or undefined while it is not. */
function excludedSince(
  sets: ExclusionSets,
  ip: string,
  endpointText: string,
  targets: readonly string[],
): number | undefined {
  let since = sets.excludedAddresses.get(endpointText) ?? sets.excludedAddresses.get(ip);
  if (sets.excludedLocalities.size === 0) return since;
  for (const target of targets) {
    const at = sets.excludedLocalities.get(target);
    if (at !== undefined && (since === undefined || at < since)) since = at;
  }
  return since;
}

/** Any of its addresses, or its place, may be excluded. */
export function isExcluded(sets: ExclusionSets, instance: ServerInstance): boolean {
  if (!hasExclusions(sets)) return false;
  return instance.arguments.publicAddresses.some(
    (address) =>
      excludedSince(sets, address.host, endpoint(address), instance.localityTargets) !== undefined,
  );
}

export function serverExcludedSince(
  sets: ExclusionSets,
  server: StorageServer,
): number | undefined {
  if (!hasExclusions(sets)) return undefined;
  const ip = server.address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  return excludedSince(sets, ip, server.address, server.localityTargets);
}

/**
 * Addresses, without TLS suffix, that are excluded and still hold storage or log state: of all
 * exclusions, or of the given ones.
 */
export function exclusionsInProgress(database: Database, sets: ExclusionSets = database): string[] {
  if (!hasExclusions(sets)) return [];
  const addresses = new Set<string>();
  for (const server of database.distribution.servers.values()) {
    if (serverExcludedSince(sets, server) !== undefined) addresses.add(server.address);
  }
  const current = database.transaction ? [database.transaction.logs] : [];
  for (const set of [...current, ...database.oldLogSets]) {
    for (const log of [...set.primary, ...set.satellite, ...set.remote]) {
      const instance = database.workers.get(log.processId);
      if (instance && isExcluded(sets, instance)) addresses.add(instance.endpoint);
    }
  }
  return [...addresses].toSorted();
}
