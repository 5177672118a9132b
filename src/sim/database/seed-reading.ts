// What a status tells of a database, as the beginning of a simulated one. What is not simulated is said and never
// guessed. Pure. [FDB71]
import type {
  DatabaseStatus,
  StatusConfiguration,
  StatusProcess,
  StatusRole,
} from "../../model/database-status.ts";
import type { ApplicationClient } from "./clients.ts";
import { defaultConfiguration } from "./configuration.ts";
import type { Configuration } from "./configuration.ts";
import { parseExclusionTarget } from "./exclusion.ts";
import type { ExclusionTarget } from "./exclusion.ts";
import { endpoint, parseConnectionString, parseNetworkAddress } from "./network-address.ts";
import type { ConnectionString } from "./network-address.ts";
import { redundancyModes, satelliteModes } from "./redundancy-policy.ts";

export interface SeedRole {
  readonly role: string;
  readonly id: string;
  /** Of a storage server. */
  readonly storedBytes: number;
  readonly metadata: { createdMs: number; storageEngine: string } | undefined;
}

export interface SeedProcess {
  readonly processId: string;
  /** As status shows it, with a TLS suffix where it has one. */
  readonly address: string;
  readonly endpoint: string;
  readonly processClass: string;
  readonly isClassSet: boolean;
  readonly version: string;
  readonly startedMs: number;
  readonly localities: Readonly<Record<string, string>>;
  readonly roles: readonly SeedRole[];
}

export interface DatabaseSeed {
  readonly connection: ConnectionString;
  readonly version: string;
  readonly commitVersion: number;
  readonly configuration: Configuration;
  readonly generation: number;
  readonly recoveredMs: number;
  readonly primaryDatacenter: string;
  /** Of the present generation. */
  readonly logIds: ReadonlySet<string>;
  readonly processes: readonly SeedProcess[];
  readonly exclusions: readonly ExclusionTarget[];
  readonly maintenance: { zone: string; untilMs: number } | undefined;
  readonly lockUid: string | undefined;
  readonly clients: readonly ApplicationClient[];
}

/** Why a database cannot be made of a status: where, what is there, what a person could do. */
export interface SeedProblem {
  readonly field: string;
  readonly value: string;
  readonly remedy: string;
}

export interface SeedReading {
  readonly seed: DatabaseSeed | undefined;
  readonly problems: readonly SeedProblem[];
  /** What the beginning leaves out. */
  readonly notes: readonly string[];
}

const simulatedRoles = new Set([
  ...["coordinator", "cluster_controller", "master", "commit_proxy", "grv_proxy", "resolver"],
  ...["log", "storage", "router", "data_distributor", "ratekeeper", "consistency_scan"],
]);

const whenItServes = "take the status while the database is available";

export function readSeed(status: DatabaseStatus, nowMs: number): SeedReading {
  const { cluster } = status;
  if (cluster?.database_available !== true || cluster.configuration === undefined) {
    const field = "databaseStatus.cluster.database_available";
    const value = String(cluster?.database_available ?? "missing");
    return { seed: undefined, problems: [{ field, value, remedy: whenItServes }], notes: [] };
  }
  const problems: SeedProblem[] = [];
  const connection = parseConnectionString(cluster.connection_string ?? "");
  if (connection === undefined) {
    problems.push({
      ...{ field: "databaseStatus.cluster.connection_string" },
      ...{ value: cluster.connection_string ?? "missing", remedy: whenItServes },
    });
  }
  const configuration = readConfiguration(cluster.configuration, problems);
  const processes = readProcesses(cluster.processes ?? {}, nowMs, problems);
  if (problems.length === 0 && processes.length === 0) {
    const remedy = "take the status again, with all processes: a database that serves has some";
    problems.push({ field: "databaseStatus.cluster.processes", value: "empty", remedy });
  }
  if (connection === undefined || configuration === undefined || problems.length > 0) {
    return { seed: undefined, problems, notes: [] };
  }
  const { maintenance_zone: zone, maintenance_seconds_remaining: seconds } = cluster;
  const secondsSince = cluster.recovery_state?.seconds_since_last_recovered ?? 0;
  const versions = Object.values(cluster.processes ?? {}).flatMap(({ roles = [] }) =>
    roles.map((role) => Number(role["data_version"] ?? 0)),
  );
  const seed: DatabaseSeed = {
    ...{ connection, configuration, processes },
    version: mostCommon(processes.map((process) => process.version)),
    commitVersion: versions.reduce((most, one) => Math.max(most, one), 0),
    generation: cluster.generation ?? 2,
    recoveredMs: nowMs - Math.max(0, secondsSince) * 1000,
    primaryDatacenter: cluster.active_primary_dc ?? "",
    logIds: new Set(
      (cluster.logs ?? [])
        .filter(({ current }) => current === true)
        .flatMap(({ log_interfaces: logs = [] }) => logs.map(({ id }) => id)),
    ),
    exclusions: readExclusions(cluster.configuration),
    maintenance: zone === undefined ? undefined : { zone, untilMs: nowMs + (seconds ?? 0) * 1000 },
    lockUid: cluster.database_lock_state?.lock_uid,
    clients: readClients(status),
  };
  return { seed, problems, notes: readNotes(status) };
}

function readConfiguration(
  status: StatusConfiguration,
  problems: SeedProblem[],
): Configuration | undefined {
  const field = "databaseStatus.cluster.configuration";
  const mode = status.redundancy_mode ?? "missing";
  if (redundancyModes[mode] === undefined) {
    const remedy = `only ${Object.keys(redundancyModes).join(", ")} are simulated`;
    problems.push({ field: `${field}.redundancy_mode`, value: mode, remedy });
    return undefined;
  }
  for (const { satellite_redundancy_mode: satellite } of status.regions ?? []) {
    if (satellite === undefined || satelliteModes[satellite] !== undefined) continue;
    const remedy = `only ${Object.keys(satelliteModes).join(", ")} are simulated`;
    problems.push({ field: `${field}.regions`, value: satellite, remedy });
  }
  const text = (name: string, fallback: string): string => {
    const value = status[name];
    return typeof value === "string" ? value : fallback;
  };
  const number = (name: string, fallback: number): number => {
    const value = status[name];
    return typeof value === "number" ? value : fallback;
  };
  const {
    tenantMode,
    encryptionAtRestMode,
    storageMigrationType,
    perpetualStorageWiggleEngine: wiggleEngine,
    perpetualStorageWiggleLocality: wiggleLocality,
  } = defaultConfiguration;
  return {
    redundancyMode: mode,
    storageEngine: text("storage_engine", ""),
    usableRegions: number("usable_regions", 1),
    regions: status.regions ?? [],
    logs: number("logs", -1),
    commitProxies: number("commit_proxies", -1),
    grvProxies: number("grv_proxies", -1),
    resolvers: number("resolvers", -1),
    logRouters: number("log_routers", -1),
    remoteLogs: number("remote_logs", -1),
    storageMigrationType: text("storage_migration_type", storageMigrationType),
    perpetualStorageWiggle: number("perpetual_storage_wiggle", 0),
    perpetualStorageWiggleLocality: text("perpetual_storage_wiggle_locality", wiggleLocality),
    perpetualStorageWiggleEngine: text("perpetual_storage_wiggle_engine", wiggleEngine),
    tenantMode: text("tenant_mode", tenantMode),
    logSpill: number("log_spill", 2),
    logVersion: number("log_version", 0),
    blobGranulesEnabled: number("blob_granules_enabled", 0),
    encryptionAtRestMode: text("encryption_at_rest_mode", encryptionAtRestMode),
  };
}

function readProcesses(
  processes: Readonly<Record<string, StatusProcess>>,
  nowMs: number,
  problems: SeedProblem[],
): SeedProcess[] {
  const ids = Object.keys(processes).toSorted();
  return ids.flatMap((processId) => {
    const process = processes[processId];
    const found = process && readProcess(processId, process, nowMs, problems);
    return found === undefined ? [] : [found];
  });
}

function readProcess(
  processId: string,
  process: StatusProcess,
  nowMs: number,
  problems: SeedProblem[],
): SeedProcess | undefined {
  const field = `databaseStatus.cluster.processes[${processId}]`;
  const { address: text = "", version, locality = {}, roles = [] } = process;
  const address = parseNetworkAddress(text);
  if (address === undefined || version === undefined) {
    const [part, value] = address === undefined ? ["address", text] : ["version", "missing"];
    problems.push({ field: `${field}.${part}`, value, remedy: "take the status again" });
    return undefined;
  }
  for (const role of roles) {
    if (simulatedRoles.has(role.role) && role["tss"] !== true) continue;
    const value = role["tss"] === true ? "storage with tss" : role.role;
    const remedy = "this role is not simulated, so nothing can be said about this database";
    problems.push({ field: `${field}.roles`, value, remedy });
  }
  return {
    ...{ processId, version, address: text, endpoint: endpoint(address), localities: locality },
    processClass: process.class_type ?? "unset",
    isClassSet: process.class_source === "set_class",
    startedMs: nowMs - (process.uptime_seconds ?? 0) * 1000,
    roles: roles.map(readRole),
  };
}

function readRole(role: StatusRole): SeedRole {
  const metadata = role["storage_metadata"];
  const { created_time_timestamp: created, storage_engine: engine } = (metadata ?? {}) as {
    created_time_timestamp?: number;
    storage_engine?: string;
  };
  return {
    role: role.role,
    id: role.id ?? "",
    storedBytes: typeof role["stored_bytes"] === "number" ? Math.max(0, role["stored_bytes"]) : 0,
    metadata:
      created === undefined || engine === undefined
        ? undefined
        : { createdMs: created * 1000, storageEngine: engine },
  };
}

function readExclusions(configuration: StatusConfiguration): ExclusionTarget[] {
  return (configuration.excluded_servers ?? [])
    .map(({ address, locality }) => parseExclusionTarget(address ?? locality ?? ""))
    .filter((target) => target !== undefined);
}

function readClients({ cluster }: DatabaseStatus): ApplicationClient[] {
  const clients = new Map<string, { logGroup: string; versions: string[] }>();
  for (const entry of cluster?.clients?.supported_versions ?? []) {
    const { client_version: version, connected_clients: connected = [] } = entry;
    for (const { address, log_group: logGroup } of connected) {
      const known = clients.get(address);
      if (known) known.versions.push(version);
      else clients.set(address, { logGroup, versions: [version] });
    }
  }
  return [...clients].map(([address, client]) => ({ address, ...client }));
}

function readNotes({ cluster }: DatabaseStatus): string[] {
  const notes: string[] = [];
  const recovery = cluster?.recovery_state?.name ?? "unknown";
  if (recovery !== "fully_recovered") {
    notes.push(`the database was in recovery state ${recovery}; the copy begins fully recovered`);
  }
  const data = cluster?.data?.state;
  if (data?.healthy !== true) {
    const name = data?.name ?? "unknown";
    notes.push(`its data was in state ${name}; the copy begins with every replica in place`);
  }
  const layers = Object.keys(cluster?.layers ?? {}).filter((name) => !name.startsWith("_"));
  for (const name of layers) notes.push(`what its ${name} layer does is not part of the copy`);
  return notes;
}

function mostCommon(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].toSorted(
    ([left, leftCount], [right, rightCount]) =>
      rightCount - leftCount || (left < right ? -1 : left > right ? 1 : 0),
  );
  return sorted[0]?.[0] ?? "";
}
