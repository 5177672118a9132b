// A database that is there already: made of what a status told, complete but for its processes. Each of them takes its
// place when a server is started at its address: with its identity, its disk, its roles and its time of start. Nothing
// recovers and nothing moves by that. [FDB70]
import type { Random } from "../../env/random.ts";
import { createDatabase } from "./database.ts";
import type {
  Database,
  LogRole,
  Role,
  Shard,
  StorageServer,
  TransactionSystem,
} from "./database.ts";
import { mainDatacenter } from "./configuration-check.ts";
import { localityTargets, serverExcludedSince } from "./exclusion.ts";
import type { Disk, Fabric } from "./fabric.ts";
import { randomHex } from "./fabric.ts";
import { isStorageClass } from "./fitness.ts";
import { clusterKey } from "./network-address.ts";
import { levelAtOnce } from "./rebalance.ts";
import { planTransactionSystem, regionsByPriority } from "./recruitment.ts";
import { redundancyModes, satelliteModes, selectReplicas } from "./redundancy-policy.ts";
import type { DatabaseSeed, SeedProcess, SeedRole } from "./seed-reading.ts";
import { setTeam, slotCount } from "./shards.ts";
import { storageDatacenters, storagePolicy } from "./storage-policy.ts";

/** A process that runs in the real world and is about to be started in this one. */
export interface Arrival {
  readonly process: SeedProcess;
  readonly disk: Disk;
  readonly database: Database;
}

export function seedDatabase(fabric: Fabric, seed: DatabaseSeed): void {
  const nowMs = fabric.clock.nowMs();
  const database = createDatabase(fabric, seed.connection, seed.version, seed.configuration);
  const disks = new Map(seed.processes.map((process) => [process.processId, diskOf(process)]));
  database.isConfigured = true;
  database.generation = seed.generation;
  database.phase = "fully_recovered";
  database.recoveredMs = seed.recoveredMs;
  database.stalledSinceMs = undefined;
  database.versionZeroMs = nowMs - seed.commitVersion / 1000;
  database.maintenance = seed.maintenance;
  database.lockUid = seed.lockUid;
  database.history.push({
    ...{ cause: "before this world began", generation: seed.generation },
    startedMs: seed.recoveredMs,
    stalledSinceMs: seed.recoveredMs,
    acceptedMs: seed.recoveredMs,
  });
  for (const { kind, text } of seed.exclusions) {
    const known = kind === "address" ? database.excludedAddresses : database.excludedLocalities;
    known.set(text, nowMs);
  }
  for (const client of seed.clients) database.clients.set(client.address, client);
  for (const process of seed.processes) {
    if (process.isClassSet) database.classOverrides.set(process.endpoint, process.processClass);
    const disk = disks.get(process.processId);
    if (disk === undefined) continue;
    if (process.roles.some(({ role }) => role === "coordinator")) {
      const register = { databaseUid: database.uid, generation: seed.generation };
      disk.registers.set(clusterKey(seed.connection), register);
    }
    fabric.seeded.add(process.endpoint);
    fabric.arrivals.set(process.endpoint, { process, disk, database });
  }
  seedRoles(database, seed, disks);
  seedStorage(fabric, database, seed, disks);
  fabric.databases.add(database);
}

/** Where it lies is known when its process is started. */
function diskOf({ processId, version }: SeedProcess): Disk {
  return {
    ...{ volumeId: "", path: "", processId, writtenBy: version, isIntact: true },
    ...{ storage: new Map(), logs: new Set(), registers: new Map(), copiedState: new Map() },
  };
}

type Found = { process: SeedProcess; role: SeedRole };

function rolesOf(seed: DatabaseSeed, name: string): Found[] {
  return seed.processes.flatMap((process) =>
    process.roles.filter(({ role }) => role === name).map((role) => ({ process, role })),
  );
}

function seedRoles(database: Database, seed: DatabaseSeed, disks: ReadonlyMap<string, Disk>): void {
  const plain = (name: string): Role[] =>
    rolesOf(seed, name).map(({ process, role }) => ({
      id: role.id === "" ? randomHex(database.fabric, 16) : role.id,
      processId: process.processId,
    }));
  const only = (name: string): Role => plain(name)[0] ?? { id: "", processId: "" };
  database.controller = only("cluster_controller");
  const master = only("master");
  const distributor = plain("data_distributor")[0] ?? master;
  database.distribution.role = {
    processId: distributor.processId,
    distributor: distributor.id,
    ratekeeper: only("ratekeeper").id,
    scan: only("consistency_scan").id,
  };
  database.transaction = {
    master,
    commitProxies: plain("commit_proxy"),
    grvProxies: plain("grv_proxy"),
    resolvers: plain("resolver"),
    routers: plain("router"),
    logs: seedLogs(seed, disks),
    primaryDatacenter: seed.primaryDatacenter,
    // Nothing is better than what runs; what it is worth is known when everybody is there.
    quality: [],
  };
}

function seedLogs(seed: DatabaseSeed, disks: ReadonlyMap<string, Disk>): TransactionSystem["logs"] {
  const current = rolesOf(seed, "log").filter(
    ({ role }) => seed.logIds.size === 0 || seed.logIds.has(role.id),
  );
  const logsOf = (isHere: (datacenter: string) => boolean): LogRole[] =>
    current.flatMap(({ process, role }) => {
      const disk = disks.get(process.processId);
      if (disk === undefined || !isHere(process.localities["dcid"] ?? "")) return [];
      disk.logs.add(role.id);
      const { processId, address } = process;
      return [{ id: role.id, processId, disk, zone: zoneOf(process), address }];
    });
  const { regions, usableRegions, redundancyMode } = seed.configuration;
  const mains = regions.map((region) => mainDatacenter(region)?.id ?? "");
  const primary = seed.primaryDatacenter;
  const own = regions.find((region) => mainDatacenter(region)?.id === primary);
  const isSpread = regions.length > 0 && usableRegions > 1;
  const replication = redundancyModes[redundancyMode]?.log.replicas ?? 1;
  return {
    epoch: seed.generation,
    beginVersion: 0,
    endVersion: undefined,
    replication,
    satelliteReplication: isSpread
      ? (satelliteModes[own?.satellite_redundancy_mode ?? ""]?.replicas ?? 0)
      : 0,
    remoteReplication: isSpread ? replication : 0,
    primary: logsOf((id) => !isSpread || id === primary),
    satellite: logsOf((id) => isSpread && !mains.includes(id)),
    remote: logsOf((id) => isSpread && id !== primary && mains.includes(id)),
  };
}

function zoneOf({ localities, processId }: SeedProcess): string {
  return localities["zoneid"] ?? localities["machineid"] ?? processId;
}

/** Status does not tell which data is where: the shards are laid out as this simulation keeps them, and chance decides who shares them. */
function seedStorage(
  fabric: Fabric,
  database: Database,
  seed: DatabaseSeed,
  disks: ReadonlyMap<string, Disk>,
): void {
  const { distribution } = database;
  const stored = new Map<StorageServer, number>();
  for (const { process, role } of rolesOf(seed, "storage")) {
    const disk = disks.get(process.processId);
    if (disk === undefined) continue;
    const server = serverOf(database, process, role, disk);
    disk.storage.set(server.id, database.uid);
    distribution.servers.set(server.id, server);
    stored.set(server, role.storedBytes);
  }
  distribution.isInitialized = true;
  distribution.startedMs = seed.recoveredMs;
  distribution.regionIds = storageDatacenters(database) ?? [undefined];
  for (const id of distribution.regionIds) if (id !== undefined) distribution.populated.add(id);
  layOut(database, inAnyOrder([...stored.keys()], fabric.random));
  levelAtOnce(database);
  for (const shard of distribution.shards) shard.bytes = bytesOf(shard, stored);
}

function inAnyOrder<T>(all: readonly T[], random: Random): T[] {
  return all
    .map((one) => [random.next(), one] as const)
    .toSorted(([left], [right]) => left - right)
    .map(([, one]) => one);
}

function serverOf(
  database: Database,
  process: SeedProcess,
  role: SeedRole,
  disk: Disk,
): StorageServer {
  const { createdMs = database.recoveredMs ?? 0, storageEngine } = role.metadata ?? {};
  return {
    id: role.id,
    processId: process.processId,
    disk,
    address: process.endpoint,
    zone: zoneOf(process),
    localities: process.localities,
    localityTargets: localityTargets(process.localities),
    createdMs,
    metadata: {
      created_time_datetime: `${new Date(createdMs).toISOString().replace("T", " ").slice(0, -1)} +0000`,
      created_time_timestamp: createdMs / 1000,
      storage_engine: storageEngine ?? database.configuration.storageEngine,
    },
    diedMs: undefined,
    isFailed: false,
    isLeaving: false,
    isBorrowed: !isStorageClass(process.processClass),
    shards: new Set(),
  };
}

/** A shard for each server, so that the loss of any of them matters. */
function layOut(database: Database, servers: readonly StorageServer[]): void {
  const { distribution } = database;
  // Who is excluded has given its data away, unless there is nobody else to have it.
  const lasting = servers.filter((server) => serverExcludedSince(database, server) === undefined);
  const policy = storagePolicy(database);
  const count = Math.max(1, Math.min(servers.length, 4096));
  for (let index = 0; index < count; index += 1) {
    const shard: Shard = {
      id: index,
      firstSlot: Math.floor((index * slotCount) / count),
      lastSlot: Math.floor(((index + 1) * slotCount) / count) - 1,
      bytes: 0,
      teams: distribution.regionIds.map(() => []),
      move: undefined,
      isStuck: false,
    };
    distribution.shards.push(shard);
    for (const [region, id] of distribution.regionIds.entries()) {
      const isHome = ({ localities }: StorageServer): boolean =>
        id === undefined || localities["dcid"] === id;
      const turned = (from: readonly StorageServer[]): StorageServer[] => {
        const local = from.filter(isHome);
        const start = local.length === 0 ? 0 : index % local.length;
        return [...local.slice(start), ...local.slice(0, start)];
      };
      const team = selectReplicas(policy, [], turned(lasting));
      setTeam(shard, region, team ?? selectReplicas(policy, [], turned(servers)) ?? []);
    }
  }
}

/** Each server's bytes fall evenly on its shards; the members of a team are about equally full. */
function bytesOf(shard: Shard, stored: ReadonlyMap<StorageServer, number>): number {
  const members = shard.teams.flat();
  if (members.length === 0) return 0;
  const sum = members.reduce(
    (total, server) => total + (stored.get(server) ?? 0) / Math.max(1, server.shards.size),
    0,
  );
  return Math.floor(sum / members.length);
}

/** Everybody is there: what runs is as good as what would be recruited now. */
export function settle(database: Database): void {
  const { transaction } = database;
  if (!transaction) return;
  const region = regionsByPriority(database).find(
    (candidate) => mainDatacenter(candidate)?.id === transaction.primaryDatacenter,
  );
  const plan = planTransactionSystem(database, region);
  transaction.quality = plan?.quality ?? [];
}
