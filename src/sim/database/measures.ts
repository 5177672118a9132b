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
    isMoving: distribution.inFlight > 0 || !distribution.isInitialized || (going && !isStuck),
    copiedBytes: distribution.copiedBytes,
    recoveries: database.history,
  };
}
