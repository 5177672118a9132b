// What data distribution says about itself. It knows of a dead server only after its reaction time,
// shows old figures just after it moved, none while it starts, and calls data healthy that it has
// not begun to look at. [FDB20] [FDB30]
import { mostOf } from "../../env/long-lists.ts";
import { isAcceptingCommits } from "./database.ts";
import type { Database, Shard } from "./database.ts";
import { storagePolicy } from "./storage-policy.ts";

export interface TrackerView {
  isPrimary: boolean;
  name: string;
  description: string | undefined;
  isHealthy: boolean;
  minReplicas: number;
  inFlightBytes: number;
  unhealthyServers: number;
}

export type DistributionView =
  | { kind: "absent" }
  | { kind: "initializing" }
  | {
      kind: "shown";
      trackers: TrackerView[];
      priority: number;
      inFlightBytes: number;
      totalWrittenBytes: number;
    };

export function viewDistribution(database: Database): DistributionView {
  const { distribution, fabric } = database;
  if (!isAcceptingCommits(database)) return { kind: "absent" };
  if (distribution.isInitialized) return present(database);
  const elapsedMs = fabric.clock.nowMs() - distribution.startedMs;
  const { distributorHandoverMs, distributorAbsentMs } = fabric.timings;
  if (distribution.previous && elapsedMs < distributorHandoverMs) {
    return withReplicas(distribution.previous, storagePolicy(database).replicas);
  }
  const isAbsent = distribution.previous && elapsedMs < distributorHandoverMs + distributorAbsentMs;
  return isAbsent ? { kind: "absent" } : { kind: "initializing" };
}

/** A new policy shows its number of replicas at once, long before they exist. */
function withReplicas(view: DistributionView, replicas: number): DistributionView {
  if (view.kind !== "shown") return view;
  const trackers = view.trackers.map((tracker) =>
    tracker.isHealthy ? { ...tracker, minReplicas: replicas } : tracker,
  );
  return { ...view, trackers };
}

function present(database: Database): DistributionView {
  const { distribution } = database;
  const primary = database.transaction?.primaryDatacenter;
  const order = [...distribution.regionIds.keys()].toSorted(
    (left, right) =>
      Number(distribution.regionIds[right] === primary) -
      Number(distribution.regionIds[left] === primary),
  );
  const views = order.map((region, index) => viewTracker(database, region, index === 0));
  return {
    kind: "shown",
    trackers: views.map((view) => view.tracker),
    priority: mostOf(
      views.map((view) => view.priority),
      0,
    ),
    inFlightBytes: views.reduce((sum, view) => sum + view.tracker.inFlightBytes, 0),
    totalWrittenBytes: distribution.totalMovedBytes,
  };
}

function viewTracker(
  database: Database,
  region: number,
  isPrimary: boolean,
): { tracker: TrackerView; priority: number } {
  const { distribution } = database;
  const { replicas } = storagePolicy(database);
  let priority = 0;
  let inFlightBytes = 0;
  let minReplicas = replicas;
  for (const shard of distribution.shards) {
    const failed = (shard.teams[region] ?? []).filter((server) => server.isFailed).length;
    minReplicas = Math.min(minReplicas, Math.max(0, replicas - failed));
    const own = shardPriority(shard, region, replicas - failed);
    if (own > 0) inFlightBytes += shard.bytes;
    priority = Math.max(priority, own);
  }
  const home = distribution.regionIds[region];
  const unhealthyServers = [...distribution.servers.values()].filter(
    (server) =>
      (server.isFailed || server.isLeaving) &&
      !server.isBorrowed &&
      (home === undefined || server.localities["dcid"] === home),
  ).length;
  const state = describe(
    priority,
    minReplicas,
    home !== undefined && !distribution.populated.has(home),
  );
  return {
    tracker: { isPrimary, ...state, minReplicas, inFlightBytes, unhealthyServers },
    priority,
  };
}

function shardPriority(shard: Shard, region: number, left: number): number {
  if (shard.move?.region === region) return shard.move.priority;
  if (!shard.isStuck || !shard.teams[region]?.some((server) => server.isFailed)) return 0;
  return left <= 0 ? 900 : left === 1 ? 800 : 709;
}

function describe(
  priority: number,
  minReplicas: number,
  isPopulating: boolean,
): { name: string; description: string | undefined; isHealthy: boolean } {
  const counts = ["No replicas remain", "Only one replica remains", "Only two replicas remain"];
  if (priority >= 900) {
    return { name: "missing_data", description: `${counts[0]} of some data`, isHealthy: false };
  }
  if (priority > 700) {
    const count = counts[minReplicas] ?? `Only ${minReplicas} replicas remain`;
    return { name: "healing", description: `${count} of some data`, isHealthy: false };
  }
  if (priority === 700) {
    return { name: "healing", description: "Restoring replication factor", isHealthy: false };
  }
  if (isPopulating) {
    return { name: "healthy_populating_region", description: undefined, isHealthy: true };
  }
  if (priority === 150) {
    return {
      name: "healthy_removing_server",
      description: "Removing storage server",
      isHealthy: true,
    };
  }
  if (priority === 141) {
    return {
      name: "healthy_perpetual_wiggle",
      description: "Wiggling storage server",
      isHealthy: true,
    };
  }
  const name = priority > 0 ? "healthy_rebalancing" : "healthy";
  return { name, description: undefined, isHealthy: true };
}
