// What is really so, whatever status says: which copies of which data exist and live, and when
// commits were possible. Tests ask here whether data was lost. [FDB34] [FDB35]
import { incompatibleConnections } from "./status.ts";
import type { Database, LogRole, RecoveryRecord, Shard, StorageServer } from "./database.ts";
import { isServing } from "./database.ts";
import type { Fabric } from "./fabric.ts";
import { formatConnectionString } from "./network-address.ts";

export interface Replica {
  address: string;
  processId: string;
  zone: string;
  localities: Readonly<Record<string, string>>;
  /** Its process runs and belongs to the database. */
  isLive: boolean;
  /** The data is on a disk that still exists. */
  isOnDisk: boolean;
}

export interface ShardReplicas {
  shard: number;
  bytes: number;
  replicas: Replica[];
}

export interface LostData {
  database: string;
  shard: number;
  bytes: number;
}

/** What can be told of a database without looking at its data, for who looks all the time. */
export interface DatabaseOutline {
  description: string;
  isConfigured: boolean;
  isAvailable: boolean;
  generation: number;
  recoveries: readonly Readonly<RecoveryRecord>[];
  /** Addresses of the processes that take part. */
  members: readonly string[];
}

export interface DatabaseTruth extends DatabaseOutline {
  connectionString: string;
  replicas: ShardReplicas[];
  /** Commits since the last recovery cannot be recovered: too many logs are gone for good. */
  areLogsLost: boolean;
  /** The coordinators forgot the database. */
  isForgotten: boolean;
  /** Addresses of processes that want to join with another protocol: they are no part of it. */
  incompatible: readonly string[];
}

export interface GroundTruth {
  outlines(): DatabaseOutline[];
  databases(): DatabaseTruth[];
  replicas(): ShardReplicas[];
  dataLost(): LostData[];
}

export function createGroundTruth(fabric: Fabric): GroundTruth {
  const configured = (): Database[] =>
    [...fabric.databases].filter((database) => database.isConfigured);
  return {
    outlines: () => [...fabric.databases].map(outline),
    databases: () => [...fabric.databases].map(describe),
    replicas: () => configured().flatMap(replicasOf),
    dataLost: () => configured().flatMap(lostIn),
  };
}

function outline(database: Database): DatabaseOutline {
  return {
    description: database.connection.description,
    isConfigured: database.isConfigured,
    isAvailable: isServing(database),
    generation: database.generation,
    recoveries: database.history,
    members: [...database.workers.values()].map((instance) => instance.address),
  };
}

function describe(database: Database): DatabaseTruth {
  return {
    ...outline(database),
    connectionString: formatConnectionString(database.connection),
    replicas: replicasOf(database),
    areLogsLost: areLogsLost(database),
    isForgotten: database.isConfigured && isForgotten(database),
    incompatible: incompatibleConnections(database),
  };
}

function replicasOf(database: Database): ShardReplicas[] {
  return database.distribution.shards.map((shard) => ({
    shard: shard.id,
    bytes: shard.bytes,
    replicas: membersOf(shard).map((server) => ({
      address: server.address,
      processId: server.processId,
      zone: server.zone,
      localities: server.localities,
      isLive: server.diedMs === undefined,
      isOnDisk: isOnDisk(database, server),
    })),
  }));
}

function membersOf(shard: Shard): StorageServer[] {
  return [...new Set(shard.teams.flat())];
}

export function isOnDisk(database: Database, server: StorageServer): boolean {
  return server.disk.isIntact && server.disk.storage.get(server.id) === database.uid;
}

export function isShardLost(database: Database, shard: Shard): boolean {
  return !shard.teams.some((team) => team.some((server) => isOnDisk(database, server)));
}

function lostIn(database: Database): LostData[] {
  const isAllGone = isForgotten(database) || areLogsLost(database);
  return database.distribution.shards
    .filter((shard) => isAllGone || isShardLost(database, shard))
    .map((shard) => ({
      database: database.connection.description,
      shard: shard.id,
      bytes: shard.bytes,
    }));
}

/** More disks of the present logs are gone than there were copies of a commit. */
function areLogsLost(database: Database): boolean {
  const set = database.transaction?.logs;
  if (!set) return false;
  if (set.primary.filter(isGone).length < set.replication) return false;
  return (
    set.satellite.length === 0 || set.satellite.filter(isGone).length >= set.satelliteReplication
  );
}

function isGone(log: LogRole): boolean {
  return !log.disk.isIntact || !log.disk.logs.has(log.id);
}

/** No disk anywhere holds a coordinator register of this database. */
function isForgotten(database: Database): boolean {
  for (const disk of database.fabric.disks.values()) {
    if (!disk.isIntact) continue;
    for (const register of disk.registers.values()) {
      if (register.databaseUid === database.uid) return false;
    }
  }
  return true;
}
