// Storage servers: recruited on storage processes, borrowed from log processes while the policy
// cannot be met without them, dead and alive, and removed when they are empty and not wanted.
// [FDB15] [FDB17] [FDB19]
import { reactLater, recruitStorageLater } from "./acts.ts";
import { isAcceptingCommits, notifyChange, schedule, trace, unschedule } from "./database.ts";
import type { Database, StorageServer } from "./database.ts";
import { isExcluded } from "./exclusion.ts";
import { randomHex } from "./fabric.ts";
import { isStorageClass, mayLendStorage } from "./fitness.ts";
import { classOf } from "./server-instance.ts";
import type { ServerInstance } from "./server-instance.ts";
import { borrowingDatacenters, mayBorrow, storageDatacenters } from "./storage-policy.ts";
import { engineFor } from "./wiggle.ts";

export function recruitStorage(database: Database): void {
  if (!isAcceptingCommits(database)) return;
  const { distribution } = database;
  const occupied = new Set([...distribution.servers.values()].map((server) => server.processId));
  const datacenters = storageDatacenters(database);
  let changed = false;
  const recruit = (instance: ServerInstance, isBorrowed: boolean): void => {
    if (occupied.has(instance.disk.processId) || isExcluded(database, instance)) return;
    if (datacenters && !datacenters.includes(instance.localities["dcid"] ?? "")) return;
    addServer(database, instance, isBorrowed);
    changed = true;
  };
  for (const instance of database.workers.values()) {
    if (isStorageClass(classOf(database, instance))) recruit(instance, false);
  }
  const borrowing = borrowingDatacenters(database);
  if (borrowing.size > 0) {
    for (const instance of database.workers.values()) {
      if (!mayBorrow(borrowing, instance.localities)) continue;
      if (mayLendStorage(classOf(database, instance))) recruit(instance, true);
    }
  }
  reactLater(database, 0);
  if (changed) notifyChange(database);
}

function addServer(database: Database, instance: ServerInstance, isBorrowed: boolean): void {
  const nowMs = database.fabric.clock.nowMs();
  const server: StorageServer = {
    id: randomHex(database.fabric, 16),
    processId: instance.disk.processId,
    disk: instance.disk,
    address: instance.endpoint,
    zone: instance.zone,
    localities: instance.localities,
    localityTargets: instance.localityTargets,
    createdMs: nowMs,
    metadata: {
      created_time_datetime: `${new Date(nowMs).toISOString().replace("T", " ").slice(0, -1)} +0000`,
      created_time_timestamp: nowMs / 1000,
      storage_engine: engineFor(database, instance.localities),
    },
    diedMs: undefined,
    isFailed: false,
    isLeaving: false,
    isBorrowed,
    shards: new Set(),
  };
  instance.disk.storage.set(server.id, database.uid);
  database.distribution.servers.set(server.id, server);
  trace(database, `storage added ${server.address}${isBorrowed ? " borrowed" : ""}`);
}

export function removeServer(database: Database, server: StorageServer): void {
  database.distribution.servers.delete(server.id);
  server.disk.storage.delete(server.id);
  unschedule(database, `failure:${server.id}`);
  trace(database, `storage removed ${server.address}`);
}

/** A process came back with what its disk holds. What was moved elsewhere meanwhile is dropped. */
export function returnStorage(database: Database, instance: ServerInstance): void {
  for (const [id, databaseUid] of Array.from(instance.disk.storage)) {
    if (databaseUid !== database.uid) continue;
    const server = database.distribution.servers.get(id);
    if (!server) {
      instance.disk.storage.delete(id);
      continue;
    }
    const movedZone = server.zone !== instance.zone;
    server.diedMs = undefined;
    server.isFailed = false;
    server.address = instance.endpoint;
    server.zone = instance.zone;
    server.localities = instance.localities;
    server.localityTargets = instance.localityTargets;
    unschedule(database, `failure:${id}`);
    if (movedZone && hasZoneClash(server) && database.distribution.isInitialized) {
      breakDistributor(database);
    }
    database.fabric.acts.completeRecovery(database);
    reactLater(database, 0);
  }
}

function hasZoneClash(server: StorageServer): boolean {
  return [...server.shards].some((shard) =>
    shard.teams.some(
      (team) =>
        team.includes(server) &&
        team.some((other) => other !== server && other.zone === server.zone),
    ),
  );
}

/** Two members of a team in one zone are more than the distributor's tables can hold. */
function breakDistributor(database: Database): void {
  const role = database.distribution.role;
  if (!role) return;
  database.distribution.hasInternalError.set(role.processId, database.fabric.clock.nowMs());
  trace(database, "data distributor failed with internal_error");
  database.fabric.acts.restartDistributor(database);
}

export function loseStorage(database: Database, instance: ServerInstance): void {
  const nowMs = database.fabric.clock.nowMs();
  for (const id of instance.disk.storage.keys()) {
    const server = database.distribution.servers.get(id);
    if (!server || server.diedMs !== undefined) continue;
    server.diedMs = nowMs;
    watchFailure(database, server);
  }
}

/**
 * After a while of silence the server counts as failed; a zone under maintenance is spared until
 * the end.
 */
export function watchFailure(database: Database, server: StorageServer): void {
  if (server.diedMs === undefined || server.isFailed) return;
  const { clock } = database.fabric;
  const dueMs = failureDueMs(database, server, server.diedMs);
  schedule(
    database,
    `failure:${server.id}`,
    Math.max(0, dueMs - clock.nowMs()),
    () => {
      if (server.diedMs === undefined) return;
      const isEarly = failureDueMs(database, server, server.diedMs) > clock.nowMs();
      if (isEarly) return watchFailure(database, server);
      server.isFailed = true;
      // The failure of another zone ends a maintenance, so that its servers are watched again.
      if (database.maintenance) endMaintenance(database);
      trace(database, `storage failed ${server.address}`);
      recruitStorageLater(database);
      reactLater(database, 0);
      notifyChange(database);
    },
    false,
  );
}

function endMaintenance(database: Database): void {
  database.maintenance = undefined;
  trace(database, "maintenance ends: another zone failed");
  for (const server of database.distribution.servers.values()) watchFailure(database, server);
}

function failureDueMs(database: Database, server: StorageServer, diedMs: number): number {
  const { distributorFailureMs } = database.fabric.timings;
  return Math.max(
    diedMs + reactionMs(database, server),
    database.distribution.startedMs + distributorFailureMs,
    maintenanceEnd(database, server),
  );
}

function maintenanceEnd(database: Database, server: StorageServer): number {
  const { maintenance } = database;
  return maintenance?.zone === server.zone ? maintenance.untilMs : 0;
}

/** A whole datacenter of three_datacenter takes longer to be called dead than anything else. */
function reactionMs(database: Database, server: StorageServer): number {
  const { timings } = database.fabric;
  if (database.configuration.redundancyMode !== "three_datacenter") return timings.storageFailureMs;
  const id = server.localities["dcid"];
  const isAlone = [...database.distribution.servers.values()].every(
    (other) => other.localities["dcid"] !== id || other.diedMs !== undefined,
  );
  return isAlone ? timings.datacenterFailureMs : timings.storageFailureMs;
}
