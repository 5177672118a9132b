// The log generations in status: the present one and the old ones that are still needed. [FDB10]
// [FDB29]
import type { StatusLogSet } from "../../model/database-status.ts";
import type { Database, LogSet } from "./database.ts";
import { deadLogs, logFaultTolerance } from "./fault-tolerance.ts";
import { isLogAlive } from "./log-roles.ts";

export function describeLogs(database: Database): StatusLogSet[] {
  const current = database.transaction?.logs;
  if (!current) return [];
  return [
    describeSet(database, current, true),
    ...database.oldLogSets.map((set) => describeSet(database, set, false)),
  ];
}

function describeSet(database: Database, set: LogSet, isCurrent: boolean): StatusLogSet {
  const tolerance = logFaultTolerance(database, set);
  const described: StatusLogSet & { end_version?: number } = {
    begin_version: set.beginVersion,
    current: isCurrent,
    epoch: set.epoch,
    log_fault_tolerance: tolerance,
    log_interfaces: [...set.primary, ...set.satellite, ...set.remote].map((log) => ({
      address: log.address,
      healthy: isLogAlive(database, log),
      id: log.id,
    })),
    log_replication_factor: set.replication,
    log_write_anti_quorum: 0,
    possibly_losing_data: tolerance < 0,
  };
  if (set.endVersion !== undefined) described.end_version = set.endVersion;
  if (set.satelliteReplication > 0) {
    described.satellite_log_fault_tolerance =
      set.satelliteReplication - 1 - deadLogs(database, set.satellite);
    described.satellite_log_replication_factor = set.satelliteReplication;
    described.satellite_log_write_anti_quorum = 0;
  }
  if (set.remoteReplication > 0) {
    described.remote_log_fault_tolerance =
      set.remoteReplication - 1 - deadLogs(database, set.remote);
    described.remote_log_replication_factor = set.remoteReplication;
  }
  return described;
}
