// The machine-readable status: everything a client may learn about the database, in the shape of a
// real `status json`. It is not the truth: see distribution-view.ts and status-processes.ts for how
// it lags behind. [FDB27] [FDB29]
import type { ClusterStatus, DatabaseStatus, StatusMessage } from "../../model/database-status.ts";
import { describeClients } from "./clients.ts";
import {
  desiredCommitProxies,
  desiredGrvProxies,
  desiredLogs,
  desiredResolvers,
} from "./configuration.ts";
import { isQuorum } from "./coordination.ts";
import type { CoordinatorAnswer } from "./coordination.ts";
import { isServing } from "./database.ts";
import type { Database, RecoveryPhase } from "./database.ts";
import { viewDistribution } from "./distribution-view.ts";
import type { DistributionView, TrackerView } from "./distribution-view.ts";
import { answering } from "./fabric.ts";
import { faultTolerance, isMaintenanceActive } from "./fault-tolerance.ts";
import type { FaultTolerance } from "./fault-tolerance.ts";
import { formatAddress, formatConnectionString } from "./network-address.ts";
import { lowestCompatibleProtocol, protocolVersion } from "./protocol.ts";
import type { ServerInstance } from "./server-instance.ts";
import { describeData } from "./status-data.ts";
import { latencyProbe, qosFigures, workloadFigures } from "./status-figures.ts";
import { describeLogs } from "./status-logs.ts";
import { describeProcesses } from "./status-processes.ts";
import { isFullyReplicated } from "./storage-policy.ts";
import { describeWiggler } from "./wiggle.ts";

const recoveryDescriptions: Readonly<Record<RecoveryPhase, string>> = {
  configuration_never_created:
    "The coordinator(s) have no record of this database. Either the coordinator addresses are incorrect, the " +
    "coordination state on those machines is missing, or no database has been created.",
  reading_coordinated_state:
    "Requesting information from coordination servers. Verify that a majority of coordination server processes " +
    "are active.",
  locking_coordinated_state:
    "Locking coordination state. Verify that a majority of coordination server processes are active.",
  recruiting_transaction_servers: "Recruiting new transaction servers.",
  recovery_transaction: "Performing recovery transaction.",
  writing_coordinated_state: "Writing coordinated state.",
  accepting_commits: "Accepting commits.",
  all_logs_recruited: "Accepting commits. All logs recruited.",
  fully_recovered: "Recovery complete.",
};

export interface StatusRequest {
  nowMs: number;
  clusterFilePath: string;
  answers: readonly CoordinatorAnswer[];
  /** Undefined when no quorum answers or no cluster controller was found in time. */
  database: Database | undefined;
}

export function buildStatus(request: StatusRequest): DatabaseStatus {
  const { answers, database, nowMs } = request;
  const hasQuorum = isQuorum(answers);
  const cluster: ClusterStatus = database
    ? describeCluster(database)
    : { layers: { _valid: false } };
  return {
    client: {
      cluster_file: { path: request.clusterFilePath, up_to_date: true },
      coordinators: {
        coordinators: answers.map(({ address, instance, version }) => ({
          address: formatAddress(address),
          ...(version === undefined ? {} : { protocol: `0${protocolVersion(version)}` }),
          reachable: instance !== undefined,
        })),
        quorum_reachable: hasQuorum,
      },
      database_status: {
        available: cluster.database_available === true,
        healthy: cluster.database_available === true && isHealthy(cluster),
      },
      messages: hasQuorum
        ? []
        : [
            {
              description: "Unable to reach a quorum of coordinators.",
              name: "quorum_not_reachable",
            },
          ],
      timestamp: Math.floor(nowMs / 1000),
    },
    cluster,
  };
}

/** As clients compute it: no message, no process with one, and data that is not being repaired. */
function isHealthy(cluster: ClusterStatus): boolean {
  if ((cluster.messages?.length ?? 0) > 0) return false;
  const state = cluster.data?.state;
  if (state?.healthy === false) return false;
  for (const process of Object.values(cluster.processes ?? {})) {
    if ((process.messages?.length ?? 0) > 0) return false;
  }
  return state !== undefined;
}

function describeCluster(database: Database): ClusterStatus {
  const isComplete = isServing(database);
  const sections = describeProcesses(database, isComplete);
  const base = describeBase(database);
  const cluster: ClusterStatus = {
    ...base,
    processes: sections.processes,
    machines: sections.machines,
  };
  return isComplete
    ? describeServing(database, cluster, sections.unreachable, sections.hasNewcomers)
    : describeStuck(database, cluster);
}

function describeBase(database: Database): ClusterStatus {
  const nowMs = database.fabric.clock.nowMs();
  const isRecovered = database.phase === "fully_recovered";
  const protocol = protocolVersion(database.version);
  return {
    active_tss_count: 0,
    bounce_impact: isRecovered
      ? { can_clean_bounce: true }
      : { can_clean_bounce: false, reason: "cluster hasn't fully recovered yet" },
    clients: describeClients(database),
    cluster_controller_timestamp: Math.floor(nowMs / 1000),
    connection_string: formatConnectionString(database.connection),
    datacenter_lag: lagOf(database),
    degraded_processes: 0,
    generation: database.generation,
    incompatible_connections: incompatibleConnections(database),
    lowest_compatible_protocol_version: lowestCompatibleProtocol(database.version),
    newest_protocol_version: protocol,
    protocol_version: protocol,
  };
}

/** Versions count a million a second. */
function lagOf({ configuration, fabric }: Database): { seconds: number; versions: number } {
  const seconds = configuration.usableRegions > 1 ? fabric.datacenterLagSeconds : 0;
  return { seconds, versions: seconds * 1_000_000 };
}

/** Processes that want to join with another protocol than the database speaks. [FDB6] [FDB85] */
export function incompatibleConnections(database: Database): string[] {
  return [...database.fabric.unjoined]
    .filter(({ version }) => protocolVersion(version) !== protocolVersion(database.version))
    .filter((instance) => isTurnedAway(database, instance))
    .map((instance) => instance.address)
    .toSorted();
}

/** Whoever takes part tells of it, also as a coordinator of before. */
function isTurnedAway(database: Database, instance: ServerInstance): boolean {
  const { description, id, coordinators } = instance.connection;
  const { connection, fabric } = database;
  if (connection.description === description && connection.id === id) return true;
  return coordinators.some((address) => answering(fabric, address)?.database === database);
}

function describeServing(
  database: Database,
  cluster: ClusterStatus,
  unreachable: readonly string[],
  hasNewcomers: boolean,
): ClusterStatus {
  const view = viewDistribution(database);
  const isYoung = view.kind === "absent" || isJustCreated(database);
  const tolerance = toleranceOf(database, view);
  const maintenance = isMaintenanceActive(database) ? database.maintenance : undefined;
  const nowMs = database.fabric.clock.nowMs();
  const serving: ClusterStatus = {
    ...cluster,
    active_primary_dc: database.transaction?.primaryDatacenter ?? "",
    configuration: describeConfiguration(database),
    data: describeData(database, view, isJustCreated(database)),
    database_available: true,
    database_lock_state:
      database.lockUid === undefined
        ? { locked: false }
        : { lock_uid: database.lockUid, locked: true },
    fault_tolerance: {
      max_zone_failures_without_losing_availability: tolerance.availability,
      max_zone_failures_without_losing_data: tolerance.data,
    },
    full_replication: isFullyReplicated(database),
    ...describeWiggler(database),
    idempotency_ids: { size_bytes: 0 },
    latency_probe: latencyProbe,
    layers: describeLayers(database),
    logs: describeLogs(database),
    messages: servingMessages(isYoung, unreachable, hasNewcomers),
    recovery_state: {
      active_generations: Math.max(1, database.oldLogSets.length),
      description: recoveryDescriptions[database.phase],
      name: database.phase,
      seconds_since_last_recovered: (nowMs - (database.recoveredMs ?? nowMs)) / 1000,
    },
    version_epoch: { enabled: false },
    workload: workloadFigures,
  };
  if (!hasNewcomers) serving["page_cache"] = { log_hit_rate: 1, storage_hit_rate: 1 };
  if (!isYoung) serving.qos = qosFigures;
  if (maintenance) {
    serving.maintenance_zone = maintenance.zone;
    serving.maintenance_seconds_remaining = Math.floor((maintenance.untilMs - nowMs) / 1000);
  }
  return serving;
}

export function toleranceOf(database: Database, view: DistributionView): FaultTolerance {
  const minReplicas = view.kind === "shown" ? remainingReplicas(view.trackers) : undefined;
  return faultTolerance(database, minReplicas);
}

function describeLayers(database: Database): NonNullable<ClusterStatus["layers"]> {
  const backup = database.fabric.acts.backupLayer(database);
  return backup === undefined ? { _valid: true } : { _valid: true, backup };
}

/** Copies in two regions add up. */
function remainingReplicas(trackers: readonly TrackerView[]): number {
  const populated = trackers.filter(({ name }) => name !== "healthy_populating_region");
  return populated.reduce((sum, { minReplicas }) => sum + minReplicas, 0);
}

/** The ratekeeper of a database that was just made has nothing to report yet. */
function isJustCreated(database: Database): boolean {
  const first = database.history[0]?.acceptedMs;
  return first !== undefined && database.fabric.clock.nowMs() - first < 2_000;
}

function servingMessages(
  isYoung: boolean,
  unreachable: readonly string[],
  hasNewcomers: boolean,
): StatusMessage[] {
  const messages: StatusMessage[] = [];
  if (unreachable.length > 0) {
    messages.push({
      description: "The cluster has some unreachable processes.",
      name: "unreachable_processes",
      unreachable_processes: unreachable.map((address) => ({ address })),
    });
  }
  const reasons: { description: string }[] = [];
  if (isYoung) reasons.push({ description: "Unknown performance state." });
  if (hasNewcomers || unreachable.length > 0) {
    reasons.push({ description: "Cannot retrieve all process status information." });
  }
  if (hasNewcomers) reasons.push({ description: "Unknown cache statistics." });
  if (reasons.length > 0) messages.push(incomplete(reasons));
  return messages;
}

function incomplete(reasons: { description: string }[]): StatusMessage {
  return {
    description: "Unable to retrieve all status information.",
    name: "status_incomplete",
    reasons,
  };
}

/** No database, a stuck recovery, or system keys that nobody can read. */
function describeStuck(database: Database, cluster: ClusterStatus): ClusterStatus {
  const messages: StatusMessage[] = [];
  const { role } = database.distribution;
  if (!role || !database.workers.has(role.processId)) {
    messages.push(
      {
        description: "Unable to locate the data distributor worker.",
        name: "unreachable_dataDistributor_worker",
      },
      {
        description: "Unable to locate the ratekeeper worker.",
        name: "unreachable_ratekeeper_worker",
      },
      {
        description: "Unable to locate the consistencyScan worker.",
        name: "unreachable_consistencyScan_worker",
      },
    );
  }
  messages.push(
    { description: "Unable to read database configuration.", name: "unreadable_configuration" },
    {
      description: "Fetching consistency scan information timed out.",
      name: "fetch_consistency_scan_info_timeout",
    },
    incomplete([
      { description: "Unable to retrieve idempotency ID status." },
      { description: "Unable to retrieve version epoch information (Operation timed out)." },
    ]),
  );
  const { phase, recoveredMs } = database;
  const nowMs = database.fabric.clock.nowMs();
  const isRecruiting = phase === "recruiting_transaction_servers";
  const isUp = database.stalledSinceMs === undefined && recoveredMs !== undefined;
  return {
    ...cluster,
    idempotency_ids: {},
    layers: { _error: "configurationMissing", _valid: false },
    messages,
    recovery_state: {
      ...(isRecruiting ? {} : { active_generations: 1 }),
      description: recoveryDescriptions[phase],
      name: phase,
      seconds_since_last_recovered: isUp ? (nowMs - recoveredMs) / 1000 : -1,
    },
    version_epoch: {},
  };
}

function describeConfiguration(database: Database): NonNullable<ClusterStatus["configuration"]> {
  const { configuration } = database;
  const commitProxies = desiredCommitProxies(configuration);
  const grvProxies = desiredGrvProxies(configuration);
  return {
    backup_worker_enabled: 0,
    blob_granules_enabled: configuration.blobGranulesEnabled,
    commit_proxies: commitProxies,
    coordinators_count: database.connection.coordinators.length,
    encryption_at_rest_mode: configuration.encryptionAtRestMode,
    excluded_servers: [
      ...[...database.excludedAddresses.keys()].toSorted().map((address) => ({ address })),
      ...[...database.excludedLocalities.keys()].toSorted().map((locality) => ({ locality })),
    ],
    grv_proxies: grvProxies,
    log_engine: "ssd-2",
    log_spill: configuration.logSpill,
    ...(configuration.logVersion > 0 ? { log_version: configuration.logVersion } : {}),
    ...(configuration.logRouters >= 0 ? { log_routers: configuration.logRouters } : {}),
    logs: desiredLogs(configuration),
    perpetual_storage_wiggle: configuration.perpetualStorageWiggle,
    perpetual_storage_wiggle_engine: configuration.perpetualStorageWiggleEngine,
    perpetual_storage_wiggle_locality: configuration.perpetualStorageWiggleLocality,
    proxies: commitProxies + grvProxies,
    redundancy_mode: configuration.redundancyMode,
    ...(configuration.regions.length > 0 ? { regions: [...configuration.regions] } : {}),
    ...(configuration.remoteLogs >= 0 ? { remote_logs: configuration.remoteLogs } : {}),
    resolvers: desiredResolvers(configuration),
    storage_engine: configuration.storageEngine,
    storage_migration_type: configuration.storageMigrationType,
    tenant_mode: configuration.tenantMode,
    usable_regions: configuration.usableRegions,
  };
}
