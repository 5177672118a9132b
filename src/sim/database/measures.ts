// Figures of a database at this moment, cheap enough to be taken at every turn: for those who watch a run and sum it up.
// [FDB72]
import { viewDistribution } from "./distribution-view.ts";
import { isServing } from "./database.ts";
import type { Database, RecoveryRecord } from "./database.ts";
import { toleranceOf } from "./status.ts";
import type { FaultTolerance } from "./fault-tolerance.ts";

export interface DatabaseMeasures {
  readonly isServing: boolean;
  /** As status would say; undefined while the database does not serve. */
  readonly faultTolerance: FaultTolerance | undefined;
  /** No living process holds some of the data, or the newest commits; disks that come back may. */
  readonly isDataMissing: () => boolean;
  /** Data is being moved, or is about to be looked at. */
  readonly isMoving: boolean;
  /** Copied since the beginning, counted once for each server that received it. */
  readonly copiedBytes: number;
  readonly recoveries: readonly Readonly<RecoveryRecord>[];
}

export function measure(database: Database): DatabaseMeasures {
  const { distribution } = database;
  const serves = isServing(database);
  const going = [...distribution.servers.values()].some(
    ({ isFailed, isLeaving, shards }) => (isFailed || isLeaving) && shards.size > 0,
  );
  const isStuck = distribution.shards.some((shard) => shard.isStuck);
  return {
    isServing: serves,
    faultTolerance: serves ? toleranceOf(database, viewDistribution(database)) : undefined,
    isDataMissing: () => isDataMissing(database),
    isMoving: distribution.inFlight > 0 || !distribution.isInitialized || (going && !isStuck),
    copiedBytes: distribution.copiedBytes,
    recoveries: database.history,
  };
}

function isDataMissing(database: Database): boolean {
  const { distribution, transaction, fabric } = database;
  const running = new Set([...fabric.listening.values()].map(({ disk }) => disk.processId));
  const isAway = ({ processId }: { readonly processId: string }): boolean =>
    !running.has(processId);
  if (distribution.shards.some(({ teams }) => teams.flat().every(isAway))) return true;
  if (transaction === undefined) return false;
  const { primary, replication, satellite, satelliteReplication } = transaction.logs;
  if (primary.filter(isAway).length < replication) return false;
  return satellite.length === 0 || satellite.filter(isAway).length >= satelliteReplication;
}
