// Whether the database is calm enough for a change of its configuration. Rules: spec/plan.md [P70].
import type { DatabaseStatus } from "../model/database-status.ts";
import { hasRecoveryState, parseVersion } from "../model/version.ts";
import type { Snapshot } from "./snapshot.ts";

const generationsMax = 10;
const lagSecondsMax = 60;
const queueBytesMax = 250 * 1024 * 1024;

/** The first reason against it, as a sentence without numbers that change by themselves; undefined when there is none. */
export function configurationDanger(
  snapshot: Snapshot,
  status: DatabaseStatus,
  runningVersion: string,
): string | undefined {
  const cluster = status.cluster ?? {};
  if ((cluster.recovery_state?.active_generations ?? 0) > generationsMax) {
    return `The database has more than ${generationsMax} active generations`;
  }
  if (cluster.data?.state?.healthy !== true) {
    return `The data is not healthy: ${cluster.data?.state?.name ?? "its state is unknown"}`;
  }
  if (cluster.messages?.some((message) => message.name === "unreadable_configuration")) {
    return "The database cannot read its own configuration";
  }
  const version = parseVersion(runningVersion);
  const { configurationMinimumUptimeSeconds: minimum } = snapshot.options;
  const seconds = cluster.recovery_state?.seconds_since_last_recovered ?? 0;
  if (version !== undefined && hasRecoveryState(version) && seconds < minimum) {
    return `The last recovery is less than ${minimum} seconds ago`;
  }
  return performanceDanger(status);
}

function performanceDanger(status: DatabaseStatus): string | undefined {
  const qos = status.cluster?.qos ?? {};
  const lags = [qos.worst_data_lag_storage_server, qos.worst_durability_lag_storage_server];
  if (lags.some((lag) => (lag?.seconds ?? 0) > lagSecondsMax)) {
    return `A storage server lags more than ${lagSecondsMax} seconds behind`;
  }
  const queues = [qos.worst_queue_bytes_log_server, qos.worst_queue_bytes_storage_server];
  if (queues.some((bytes) => (bytes ?? 0) > queueBytesMax)) {
    return "A storage or log server has a queue of more than 250 MiB";
  }
  return undefined;
}
