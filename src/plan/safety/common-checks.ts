// Small questions to a status that several steps ask before they disturb a database. Each answer is the reason against
// it, as a clause without numbers that change by themselves; undefined when there is none. Rules: spec/safety.md [S23].
import { isAvailable } from "../../model/availability.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { hasRecoveryState, parseVersion } from "../../model/version.ts";

const generationsMax = 10;
const lagSecondsMax = 60;
const queueBytesMax = 250 * 1024 * 1024;

export function availabilityProblem(status: DatabaseStatus): string | undefined {
  return isAvailable(status) ? undefined : "the database is not available";
}

/** Each unfinished recovery keeps a generation of logs; more recoveries on top of many are not survived. */
export function generationsProblem(
  status: DatabaseStatus,
  maximum = generationsMax,
): string | undefined {
  const generations = status.cluster?.recovery_state?.active_generations ?? 0;
  return generations > maximum
    ? `the database has more than ${maximum} active generations`
    : undefined;
}

/** Versions that do not tell the time of their last recovery are not asked. */
export function recoveryProblem(
  status: DatabaseStatus,
  minimumSeconds: number,
  runningVersion: string,
): string | undefined {
  const version = parseVersion(runningVersion);
  if (version === undefined || !hasRecoveryState(version)) return undefined;
  const seconds = status.cluster?.recovery_state?.seconds_since_last_recovered ?? 0;
  return seconds < minimumSeconds
    ? `the last recovery is less than ${minimumSeconds} seconds ago`
    : undefined;
}

/** A database that is behind with its work is not given more. */
export function performanceProblem(status: DatabaseStatus): string | undefined {
  const qos = status.cluster?.qos ?? {};
  const lags = [qos.worst_data_lag_storage_server, qos.worst_durability_lag_storage_server];
  if (lags.some((lag) => (lag?.seconds ?? 0) > lagSecondsMax)) {
    return `a storage server lags more than ${lagSecondsMax} seconds behind`;
  }
  const queues = [qos.worst_queue_bytes_log_server, qos.worst_queue_bytes_storage_server];
  if (queues.some((bytes) => (bytes ?? 0) > queueBytesMax)) {
    return "a storage or log server has a queue of more than 250 MiB";
  }
  return undefined;
}
