// What has to be the same after a crash as without one: everything that a person or a program can see of a cluster at
// rest, but for ids, addresses and nodes.
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { parseTimeMap } from "../../src/model/backup-time-map.ts";
import { prefixEnd, printableBytes } from "../../src/fdb/bytes.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import {
  configMaps,
  deployments,
  persistentVolumeClaims,
  pods,
  services,
} from "../../src/kube/resource.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Resource } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { storeAddress } from "../world/backup-harness.ts";
import { person } from "../world/removal-harness.ts";
import type { TestWorld } from "../world/world-harness.ts";

export interface FinalState {
  /** Generation and what of it is in force. */
  reconciled: string;
  classes: Record<string, number>;
  conditions: string[];
  runningVersion: string | undefined;
  images: string[];
  /** Of the processes that the database lists, with everything replaced that belongs to one of them only. */
  commandLines: string[];
  versions: string[];
  coordinators: number;
  excluded: string[];
  maintenanceZone: string;
  /** What is left under the operators' prefix, but for the lock. */
  operatorKeys: string[];
  objects: Record<string, number>;
  /** What can be seen of backups, and how many objects lie in which of their destinations. */
  backups: string[];
  /** What can be seen of restores, and the keys that they made. */
  restores: string[];
  databases: number;
  isAvailable: boolean;
  isDataLost: boolean;
  /** All copies of all data live on disks that exist. */
  areCopiesComplete: boolean;
}

const keys = operatorKeys();

export async function finalState(world: TestWorld): Promise<FinalState> {
  const { metadata, status, spec } = await world.cluster();
  const groups = status?.processGroups ?? [];
  const database = await person(world, readDatabase);
  const { truth } = world.world.fdb;
  const live = await descriptionsOf(world);
  const found = truth
    .databases()
    .filter(({ isConfigured, description }) => isConfigured && live.has(description));
  const processes = Object.values(database.status.cluster?.processes ?? {});
  return {
    reconciled: `${metadata.generation} ${JSON.stringify(status?.generations)} ${spec.version}`,
    classes: countOf(groups.map(({ processClass }) => processClass)),
    conditions: groups.flatMap(({ processGroupConditions, removalTimestamp }) => [
      ...(processGroupConditions ?? []).map(({ type }) => type),
      ...(removalTimestamp === undefined ? [] : ["on its way out"]),
    ]),
    runningVersion: status?.runningVersion,
    images: await imagesOf(world),
    commandLines: distinct(processes.map((process) => anonymous(process.command_line ?? ""))),
    versions: distinct(processes.map((process) => process.version ?? "")),
    coordinators: (status?.connectionString ?? "").split(",").length,
    excluded: database.excluded,
    maintenanceZone: database.status.cluster?.maintenance_zone ?? "",
    operatorKeys: database.keys,
    objects: await objectsOf(world),
    backups: await backupsOf(world),
    restores: await restoresOf(world),
    databases: found.length,
    isAvailable: found.every((one) => one.isAvailable),
    isDataLost:
      truth.dataLost().some((lost) => live.has(lost.database)) ||
      found.some((one) => one.areLogsLost || one.isForgotten),
    areCopiesComplete: found
      .flatMap((one) => one.replicas)
      .every(({ replicas }) => replicas.every((replica) => replica.isLive && replica.isOnDisk)),
  };
}

/** Of the databases of clusters that exist: one that was deleted with its cluster is no loss. */
async function descriptionsOf(world: TestWorld): Promise<ReadonlySet<string>> {
  const { items } = await world.client.list(foundationDbClusters, { namespace: "default" });
  return new Set(items.map(({ status }) => (status?.connectionString ?? "").split(":")[0] ?? ""));
}

interface DatabaseContent {
  status: DatabaseStatus;
  excluded: string[];
  keys: string[];
}

async function readDatabase(client: AdminClient): Promise<DatabaseContent> {
  const entries = await client.transact(
    (transaction) => transaction.getRange(keys.prefix, prefixEnd(keys.prefix)),
    { timeoutMs: 10_000, readSystemKeys: true },
  );
  const lock = printableBytes(keys.lock());
  return {
    status: await client.status(10_000),
    excluded: await client.excluded(10_000),
    keys: entries.map(({ key }) => printableBytes(key)).filter((key) => key !== lock),
  };
}

async function imagesOf(world: TestWorld): Promise<string[]> {
  const containers = (await world.pods()).flatMap(({ spec }) => [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
  ]);
  return distinct(containers.map(({ image }) => image ?? ""));
}

async function objectsOf(world: TestWorld): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const resources: readonly Resource<KubeObject>[] = [
    ...[pods, persistentVolumeClaims, services, configMaps, deployments],
    ...[foundationDbClusters, foundationDbRestores],
  ];
  for (const resource of resources) {
    const { items } = await world.client.list(resource, { namespace: "default" });
    counts[resource.plural] = items.length;
  }
  return counts;
}

async function backupsOf(world: TestWorld): Promise<string[]> {
  const { items } = await world.client.list(foundationDbBackups, { namespace: "default" });
  const maps = await world.client.list(configMaps, {
    labelSelector: "foundationdb.org/backup-timeline",
  });
  const objects = world.world.fdb.objectStores.at(storeAddress)?.list("backups", "") ?? [];
  const destinations = objects.map(({ key }) => /nightly[^/]*/.exec(key)?.[0] ?? key);
  return [
    ...items.map(({ status = {} }) =>
      JSON.stringify([
        ...[status.state, status.backupDetails, status.generations],
        status.runs?.map(({ time, result }) => `${time} ${result}`),
        ...[status.drill?.phase, status.lastVerification?.result, status.lastVerification?.keys],
        status.blockedBy?.map(({ reason }) => reason),
        status.conditions?.map(({ type, status: value }) => `${type} ${value}`),
      ]),
    ),
    ...maps.items.map(({ metadata, data }) => {
      const pairs = parseTimeMap(data);
      return `${metadata.name} ${pairs.length > 0} ${pairs.some(({ isAfterGap }) => isAfterGap)}`;
    }),
    ...distinct(destinations),
  ];
}

async function restoresOf(world: TestWorld): Promise<string[]> {
  const { items } = await world.client.list(foundationDbRestores, { namespace: "default" });
  const { connectionString = "" } = (await world.cluster()).status ?? {};
  const content = world.world.fdb.record(connectionString)?.contentAt(Number.MAX_SAFE_INTEGER);
  return [
    ...items.map(({ metadata, status = {} }) =>
      JSON.stringify([
        ...[metadata.finalizers ?? [], status.state, status.generations, status.progress?.percent],
        status.blockedBy?.map(({ reason }) => reason),
        status.conditions?.map(({ type, status: value }) => `${type} ${value}`),
      ]),
    ),
    ...[...(content ?? [])]
      .filter(([key]) => key.startsWith("old/"))
      .map(([key, value]) => `${key}=${Buffer.from(value).toString()}`),
  ];
}

/** A command line without what tells one process of a class from another. */
function anonymous(commandLine: string): string {
  return commandLine
    .replaceAll(/\[?\b\d+\.\d+\.\d+\.\d+\]?(?=:)/g, "ADDRESS")
    .replaceAll(/\b(storage|log|stateless)-\d+\b/g, "$1-NUMBER")
    .replaceAll(/\bnode-\d+\b/g, "NODE")
    .replaceAll(/\bzone-\d+\b/g, "ZONE");
}

function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}
