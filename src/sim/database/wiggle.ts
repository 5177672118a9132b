// Storage servers of another engine than the configuration asks for give way to ones of the right engine, one after the
// other: a server is emptied, its role ends, and its process gets a new one. With storage_migration_type=gradual that is
// the work of the perpetual wiggle, with aggressive it goes on without it. [FDB80] [FDB81]
import { trace } from "./database.ts";
import type { Database, StorageServer } from "./database.ts";
import { selectReplicas } from "./redundancy-policy.ts";
import { isUnwanted, storagePolicy } from "./storage-policy.ts";

/** Priorities of a real data distributor for these moves. */
const wigglePriority = 141;
const undesiredPriority = 150;

/** The engine of a server that begins on a process with these localities. */
export function engineFor(
  { configuration }: Pick<Database, "configuration">,
  localities: Readonly<Record<string, string>>,
): string {
  const { storageEngine, perpetualStorageWiggleEngine: engine } = configuration;
  if (engine === "none" || !isInWiggleLocality(configuration, localities)) return storageEngine;
  return engine;
}

function isInWiggleLocality(
  {
    perpetualStorageWiggleLocality: limit,
  }: Pick<Database["configuration"], "perpetualStorageWiggleLocality">,
  localities: Readonly<Record<string, string>>,
): boolean {
  if (limit === "0") return true;
  return limit.split(";").some((pair) => {
    const [key = "", value = ""] = pair.split(":");
    return localities[key] === value;
  });
}

export function isWiggled({ distribution }: Database, server: StorageServer): boolean {
  return distribution.wiggle.serverId === server.id;
}

export function wiggleMovePriority({ configuration }: Database): number {
  return configuration.storageMigrationType === "aggressive" ? undesiredPriority : wigglePriority;
}

/** Goes on with the server that is being emptied, takes the next one, or pauses. */
export function steerWiggle(database: Database): void {
  const { wiggle, servers } = database.distribution;
  const current = servers.get(wiggle.serverId ?? "");
  if (wiggle.serverId !== undefined && current === undefined) {
    wiggle.finished += 1;
    wiggle.finishedMs = database.fabric.clock.nowMs();
  }
  const candidates = current === undefined ? byAge(servers.values()) : [current];
  const next = isMigrating(database)
    ? candidates.find((server) => mayWiggle(database, server))
    : undefined;
  if (next?.id === wiggle.serverId) return;
  wiggle.serverId = next?.id;
  trace(database, next === undefined ? "wiggle pauses" : `wiggle ${next.address}`);
  if (next !== undefined) wiggle.startedMs = database.fabric.clock.nowMs();
}

function byAge(servers: Iterable<StorageServer>): StorageServer[] {
  return [...servers].toSorted((left, right) => left.createdMs - right.createdMs);
}

function isMigrating({ configuration, distribution }: Database): boolean {
  if (!distribution.isInitialized) return false;
  const { storageMigrationType: type, perpetualStorageWiggle: speed } = configuration;
  return type === "aggressive" || (type === "gradual" && speed > 0);
}

/** Only in full health, and only where a team remains without the server. */
function mayWiggle(database: Database, server: StorageServer): boolean {
  const { configuration, distribution } = database;
  const isWrong = server.metadata.storage_engine !== engineFor(database, server.localities);
  if (!isWrong || isUnwanted(database, server) || server.isBorrowed) return false;
  const isReached =
    configuration.storageMigrationType === "aggressive" ||
    isInWiggleLocality(configuration, server.localities);
  if (!isReached) return false;
  const others = [...distribution.servers.values()].filter((other) => other !== server);
  const isTroubled = (one: StorageServer): boolean =>
    one.diedMs !== undefined || (isUnwanted(database, one) && one.shards.size > 0);
  if ([server, ...others].some(isTroubled)) return false;
  const dcid = server.localities["dcid"];
  const isAlone = distribution.regionIds.includes(undefined);
  const team = others.filter(
    (other) => !isUnwanted(database, other) && (isAlone || other.localities["dcid"] === dcid),
  );
  return selectReplicas(storagePolicy(database), [], team) !== undefined;
}

/** `cluster.storage_wiggler`, which status has while the wiggle is on. */
export function describeWiggler(database: Database): Record<string, unknown> {
  if (database.configuration.perpetualStorageWiggle === 0) return {};
  const { wiggle, servers } = database.distribution;
  const server = servers.get(wiggle.serverId ?? "");
  return {
    storage_wiggler: {
      primary: {
        finished_round: 0,
        finished_wiggle: wiggle.finished,
        ...dated("last_round_finish", 0),
        ...dated("last_round_start", wiggle.startedMs),
        ...dated("last_wiggle_finish", wiggle.finishedMs),
        ...dated("last_wiggle_start", wiggle.startedMs),
        smoothed_round_seconds: 0,
        smoothed_wiggle_seconds: 0,
      },
      wiggle_server_addresses: server === undefined ? [] : [server.address],
      wiggle_server_ids: server === undefined ? [] : [server.id],
    },
  };
}

function dated(name: string, atMs: number): Record<string, unknown> {
  return {
    [`${name}_datetime`]: `${new Date(atMs).toISOString().replace("T", " ").slice(0, -1)} +0000`,
    [`${name}_timestamp`]: atMs / 1000,
  };
}
