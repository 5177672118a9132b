// The data section of status. [FDB20] [FDB30]
import type { StatusData } from "../../model/database-status.ts";
import type { Database } from "./database.ts";
import type { DistributionView, TrackerView } from "./distribution-view.ts";
import { diskFreeBytes } from "./status-figures.ts";

/** Bytes that files take on every storage or log disk before there is any data. */
const baseDiskBytes = 104_867_245;

export function describeData(
  database: Database,
  view: DistributionView,
  isJustCreated: boolean,
): StatusData {
  if (view.kind === "absent") return { team_trackers: [] };
  const state = {
    description: "(Re)initializing automatic data distribution",
    name: "initializing",
  };
  if (view.kind === "initializing") {
    return isJustCreated ? { state } : { ...spaces(database), state };
  }
  const { shards } = database.distribution;
  const totalBytes = shards.reduce((sum, shard) => sum + shard.bytes, 0);
  const primary = view.trackers[0];
  return {
    average_partition_size_bytes: shards.length === 0 ? 0 : Math.floor(totalBytes / shards.length),
    ...spaces(database),
    moving_data: {
      highest_priority: view.priority,
      in_flight_bytes: view.inFlightBytes,
      in_queue_bytes: 0,
      total_written_bytes: view.totalWrittenBytes,
    },
    partitions_count: shards.length,
    state: primary ? describeState(primary) : state,
    system_kv_size_bytes: 0,
    team_trackers: view.trackers.map((tracker) => ({
      in_flight_bytes: tracker.inFlightBytes,
      primary: tracker.isPrimary,
      state: describeState(tracker),
      unhealthy_servers: tracker.unhealthyServers,
    })),
    total_kv_size_bytes: totalBytes,
  };
}

function spaces(database: Database): StatusData {
  let stored = 0;
  for (const server of database.distribution.servers.values()) {
    stored += baseDiskBytes;
    for (const shard of server.shards) stored += shard.bytes;
  }
  const logs = database.transaction?.logs.primary.length ?? 0;
  return {
    least_operating_space_bytes_log_server: diskFreeBytes - 4_889_754_680,
    least_operating_space_bytes_storage_server: diskFreeBytes - 4_889_754_680,
    total_disk_used_bytes: stored + logs * baseDiskBytes,
  };
}

function describeState(tracker: TrackerView): NonNullable<StatusData["state"]> {
  return {
    ...(tracker.description === undefined ? {} : { description: tracker.description }),
    healthy: tracker.isHealthy,
    min_replicas_remaining: tracker.minReplicas,
    name: tracker.name,
  };
}
