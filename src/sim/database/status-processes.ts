// The processes, their roles and the machines in status. A dead process stays listed for a while;
// one that just came back has no locality and no figures yet. [FDB28] [FDB31]
import type {
  StatusMachine,
  StatusMessage,
  StatusProcess,
  StatusRole,
} from "../../model/database-status.ts";
import { parseVersion, tellsStorageEngines } from "../../model/version.ts";
import { askCoordinators } from "./coordination.ts";
import { currentVersion } from "./database.ts";
import type { Database, LogRole, Role, StorageServer } from "./database.ts";
import { isExcluded } from "./exclusion.ts";
import { isMaintenanceActive } from "./fault-tolerance.ts";
import { classOf } from "./server-instance.ts";
import type { ServerInstance } from "./server-instance.ts";
import {
  latencies,
  logFigures,
  machineFigures,
  processFigures,
  storageFigures,
} from "./status-figures.ts";

export interface ProcessSections {
  processes: Record<string, StatusProcess>;
  machines: Record<string, StatusMachine>;
  /** Lost processes that are still listed. */
  unreachable: string[];
  hasNewcomers: boolean;
}

/** `isComplete` is false while the configuration cannot be read: then many fields are missing. */
export function describeProcesses(database: Database, isComplete: boolean): ProcessSections {
  const roles = isComplete ? collectRoles(database) : collectBareRoles(database);
  const sections: ProcessSections = {
    processes: {},
    machines: {},
    unreachable: [],
    hasNewcomers: false,
  };
  const nowMs = database.fabric.clock.nowMs();
  const { departedMs, newcomerMs } = database.fabric.timings;
  const listed = new Map(database.workers);
  for (const [processId, { instance, atMs }] of database.departed) {
    if (nowMs - atMs >= departedMs) {
      database.departed.delete(processId);
      continue;
    }
    listed.set(processId, instance);
    if (isComplete) sections.unreachable.push(instance.address);
  }
  for (const processId of [...listed.keys()].toSorted()) {
    const instance = listed.get(processId);
    if (!instance) continue;
    const isNewcomer =
      isComplete && database.recoveredMs !== undefined && nowMs - instance.startedMs < newcomerMs;
    sections.hasNewcomers ||= isNewcomer;
    const excluded = isExcluded(database, instance);
    sections.processes[processId] = describeProcess(database, instance, {
      isComplete,
      isNewcomer,
      excluded,
      roles: roles.get(processId) ?? [],
    });
    if (!isNewcomer) addMachine(sections.machines, instance, excluded);
  }
  return sections;
}

interface ProcessFindings {
  readonly isComplete: boolean;
  readonly isNewcomer: boolean;
  readonly excluded: boolean;
  readonly roles: StatusRole[];
}

function describeProcess(
  database: Database,
  instance: ServerInstance,
  { isComplete, isNewcomer, excluded, roles }: ProcessFindings,
): StatusProcess {
  const { memoryBytes } = instance.arguments;
  const known: StatusProcess = {
    address: instance.address,
    class_source: database.classOverrides.has(instance.endpoint) ? "set_class" : "command_line",
    class_type: classOf(database, instance),
    command_line: instance.commandLine,
    memory: {
      available_bytes: memoryBytes,
      limit_bytes: memoryBytes,
      rss_bytes: 87_363_584,
      unused_allocated_memory: 0,
      used_bytes: 435_253_248,
    },
    messages: [...diskMessages(database, instance), ...processMessages(database, instance)],
    roles,
    version: instance.version,
  };
  if (isComplete) known.excluded = excluded;
  if (isNewcomer) return known;
  known["cpu"] = processFigures.cpu;
  known["disk"] = processFigures.disk;
  known["network"] = processFigures.network;
  known.run_loop_busy = processFigures.run_loop_busy;
  known.fault_domain = instance.zone;
  known.locality = instance.localities;
  known.machine_id = instance.machineId;
  known.uptime_seconds = (database.fabric.clock.nowMs() - instance.startedMs) / 1000;
  if (isComplete && isMaintenanceActive(database) && database.maintenance?.zone === instance.zone) {
    known.under_maintenance = true;
  }
  return known;
}

function diskMessages({ fabric }: Database, instance: ServerInstance): StatusMessage[] {
  const name = fabric.spoiltDisks.get(instance.endpoint) ?? fabric.spoiltDisks.get(instance.ip);
  return name === undefined ? [] : [{ name, description: `StorageServerFailed: ${name}` }];
}

function processMessages(database: Database, instance: ServerInstance): StatusMessage[] {
  const atMs = database.distribution.hasInternalError.get(instance.disk.processId);
  if (atMs === undefined || atMs < instance.startedMs) return [];
  const date = new Date(atMs).toISOString();
  return [
    {
      description: `DataDistribution: internal_error at ${date}`,
      name: "internal_error",
      raw_log_message: `"Severity"="40", "DateTime"="${date}", "Type"="DataDistribution"`,
      time: Math.floor(atMs / 1000),
      type: "DataDistribution",
    },
  ];
}

function addMachine(
  machines: Record<string, StatusMachine>,
  instance: ServerInstance,
  excluded: boolean,
): void {
  const known = machines[instance.machineId];
  if (known) {
    known.contributing_workers = (known.contributing_workers ?? 0) + 1;
    known.excluded = known.excluded === true && excluded;
    return;
  }
  const machine: StatusMachine = {
    address: instance.ip,
    contributing_workers: 1,
    cpu: machineFigures.cpu,
    memory: machineFigures.memory,
    network: machineFigures.network,
    excluded,
    locality: instance.localities,
    machine_id: instance.machineId,
  };
  const datacenter = instance.localities["dcid"];
  if (datacenter !== undefined) machine.datacenter_id = datacenter;
  machines[instance.machineId] = machine;
}

type RoleMap = Map<string, StatusRole[]>;

function addRole(map: RoleMap, processId: string, role: StatusRole): void {
  const list = map.get(processId);
  if (list) list.push(role);
  else map.set(processId, [role]);
}

function addPlain(map: RoleMap, name: string, roles: readonly Role[]): void {
  for (const role of roles) addRole(map, role.processId, { id: role.id, role: name });
}

function collectRoles(database: Database): RoleMap {
  const map: RoleMap = new Map();
  addControlRoles(map, database);
  const { transaction } = database;
  if (!transaction) return map;
  const isWarm = database.fabric.clock.nowMs() - (database.recoveredMs ?? 0) >= 60_000;
  for (const role of transaction.commitProxies) {
    addRole(map, role.processId, {
      ...(isWarm ? commitStatistics : {}),
      id: role.id,
      role: "commit_proxy",
    });
  }
  for (const role of transaction.grvProxies) {
    addRole(map, role.processId, {
      ...(isWarm ? grvStatistics : {}),
      id: role.id,
      role: "grv_proxy",
    });
  }
  addPlain(map, "resolver", transaction.resolvers);
  addPlain(map, "router", transaction.routers);
  addCoordinators(map, database);
  for (const set of database.oldLogSets) {
    for (const log of allLogs(set)) {
      if (database.workers.has(log.processId))
        addRole(map, log.processId, { id: log.id, role: "log" });
    }
  }
  const version = currentVersion(database);
  for (const log of allLogs(transaction.logs)) {
    addRole(map, log.processId, { data_version: version, ...logFigures, id: log.id, role: "log" });
  }
  addStorage(map, database, version);
  return map;
}

const commitStatistics = {
  commit_batching_window_size: latencies,
  commit_latency_statistics: latencies,
};
const grvStatistics = { grv_latency_statistics: { batch: latencies, default: latencies } };

function allLogs(set: {
  primary: readonly LogRole[];
  satellite: readonly LogRole[];
  remote: readonly LogRole[];
}): LogRole[] {
  return [...set.primary, ...set.satellite, ...set.remote];
}

function addControlRoles(map: RoleMap, database: Database): void {
  const { transaction, controller, waitingMaster, distribution } = database;
  if (controller) addPlain(map, "cluster_controller", [controller]);
  const master = transaction?.master ?? waitingMaster;
  if (master) addPlain(map, "master", [master]);
  const { role } = distribution;
  if (!role) return;
  addRole(map, role.processId, { id: role.distributor, role: "data_distributor" });
  addRole(map, role.processId, { id: role.ratekeeper, role: "ratekeeper" });
  addRole(map, role.processId, { id: role.scan, role: "consistency_scan" });
}

/** What is known while the configuration cannot be read. */
function collectBareRoles(database: Database): RoleMap {
  const map: RoleMap = new Map();
  addControlRoles(map, database);
  const { transaction, phase } = database;
  if (!transaction) return map;
  if (phase === "fully_recovered" || phase === "all_logs_recruited") {
    addPlain(map, "resolver", transaction.resolvers);
  } else {
    for (const set of [transaction.logs, ...database.oldLogSets])
      addPlain(map, "log", allLogs(set));
  }
  return map;
}

function addCoordinators(map: RoleMap, database: Database): void {
  const answers = askCoordinators(database.fabric, database.connection, database.version);
  for (const { instance } of answers) {
    if (instance) addRole(map, instance.disk.processId, { role: "coordinator" });
  }
}

/** Only newer versions tell the engine of a server. */
function toldMetadata(database: Database, { metadata }: StorageServer): object {
  const version = parseVersion(database.version);
  if (version !== undefined && tellsStorageEngines(version)) return metadata;
  const { storage_engine: _engine, ...older } = metadata;
  return older;
}

function addStorage(map: RoleMap, database: Database, version: number): void {
  const nowMs = database.fabric.clock.nowMs();
  for (const server of database.distribution.servers.values()) {
    if (server.diedMs !== undefined && !database.departed.has(server.processId)) continue;
    let storedBytes = 0;
    for (const shard of server.shards) storedBytes += shard.bytes;
    const role: StatusRole = {
      ...storageFigures,
      data_version: version,
      durable_version: Math.max(0, version - 5_000_000),
      id: server.id,
      kvstore_used_bytes: 104_878_232 + storedBytes,
      role: "storage",
      storage_metadata: toldMetadata(database, server),
      stored_bytes: storedBytes,
      tss: false,
    };
    if (nowMs - server.createdMs >= 60_000) role["read_latency_statistics"] = latencies;
    addRole(map, server.processId, role);
  }
}
