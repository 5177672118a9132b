// Whether the database is as redundant as its mode promises: every piece of data has all its copies, every log set all
// its members, and every coordinator answers. Rules: spec/safety.md [S20]-[S22].
import { isAvailable } from "../../model/availability.ts";
import type { DatabaseStatus, StatusLogSet } from "../../model/database-status.ts";
import { redundancyOf } from "../../model/redundancy.ts";

/** What is missing, as a clause; undefined when nothing is. The mode of the database counts before the given one. */
export function faultToleranceProblem(
  status: DatabaseStatus,
  redundancyMode: string | undefined,
): string | undefined {
  if (!isAvailable(status)) return "the database is not available";
  return (
    replicationProblem(status, redundancyMode) ?? logProblem(status) ?? coordinatorsProblem(status)
  );
}

/** The `healthy` flags are not asked: they are false while data is only spread better. */
export function replicationProblem(
  status: DatabaseStatus,
  redundancyMode?: string,
): string | undefined {
  const mode = status.cluster?.configuration?.redundancy_mode ?? redundancyMode;
  const needed = redundancyOf(mode).minimumFaultDomains;
  const trackers = status.cluster?.data?.team_trackers ?? [];
  if (trackers.length === 0) return "the database does not tell how many copies of the data exist";
  for (const { primary, state } of trackers) {
    const copies = state?.min_replicas_remaining;
    const where = primary ? "" : " in the remote region";
    if (copies === undefined) return `the number of copies of the data is unknown${where}`;
    if (copies < needed) return `some data has only ${copies} of ${needed} copies${where}`;
  }
  return undefined;
}

type LogFigures = [factor: number | undefined, tolerance: number | undefined];

export function logProblem(status: DatabaseStatus): string | undefined {
  const sets = status.cluster?.logs ?? [];
  if (sets.length === 0) return "the database lists no logs";
  const isWhole = sets.every((set) => figuresOf(set).every(isWholeSet));
  return isWhole ? undefined : "a transaction log is missing";
}

function figuresOf(set: StatusLogSet): LogFigures[] {
  return [
    [set.log_replication_factor, set.log_fault_tolerance],
    [set.remote_log_replication_factor, set.remote_log_fault_tolerance],
    [set.satellite_log_replication_factor, set.satellite_log_fault_tolerance],
  ];
}

function isWholeSet([factor = 0, tolerance = -1]: LogFigures): boolean {
  return factor === 0 || tolerance + 1 === factor;
}

function coordinatorsProblem(status: DatabaseStatus): string | undefined {
  const { coordinators = [], quorum_reachable } = status.client?.coordinators ?? {};
  if (quorum_reachable !== true) return "a majority of the coordinators cannot be reached";
  const lost = coordinators.find((coordinator) => !coordinator.reachable);
  return lost === undefined ? undefined : `coordinator ${lost.address} cannot be reached`;
}
