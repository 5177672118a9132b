// `status` of the simulated fdbcli for people: the main lines of the real one's page.
import { isAvailable } from "../../model/availability.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";

/** Without a cluster file only the one line that says whether the database is there. */
export function statusText(status: DatabaseStatus, clusterFile?: string): string {
  const { client, cluster } = status;
  const isServing = isAvailable(status);
  if (clusterFile === undefined) {
    return isServing
      ? "The database is available.\n"
      : "The database is unavailable; type `status' for more information.\n";
  }
  const lines = [`Using cluster file \`${clusterFile}'.`, ""];
  if (!isServing || cluster === undefined) {
    const coordinators = client?.coordinators;
    const hasQuorum = coordinators?.quorum_reachable === true;
    const why = hasQuorum
      ? (cluster?.recovery_state?.description ?? "The database does not accept commits.")
      : "Could not communicate with a quorum of coordination servers:";
    lines.push(why);
    for (const { address, reachable } of coordinators?.coordinators ?? []) {
      lines.push(`  ${address}  (${reachable ? "reachable" : "unreachable"})`);
    }
    return `${lines.join("\n")}\n`;
  }
  const { configuration = {}, data, fault_tolerance: tolerance, processes = {} } = cluster;
  const row = (name: string, value: unknown): string =>
    `  ${name.padEnd(22)} - ${String(value ?? "unknown")}`;
  lines.push(
    "Configuration:",
    row("Redundancy mode", configuration.redundancy_mode),
    row("Storage engine", configuration.storage_engine),
    row("Coordinators", client?.coordinators?.coordinators?.length),
    row("Usable Regions", configuration.usable_regions),
    "",
    "Cluster:",
    row("FoundationDB processes", Object.keys(processes).length),
    row("Fault Tolerance", `${tolerance?.max_zone_failures_without_losing_data ?? "?"} zones`),
    "",
    "Data:",
    row("Replication health", data?.state?.description ?? data?.state?.name),
    row("Sum of key-value sizes", `${Math.round((data?.total_kv_size_bytes ?? 0) / 1e6)} MB`),
  );
  return `${lines.join("\n")}\n`;
}
