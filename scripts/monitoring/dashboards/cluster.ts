// One cluster: how safe it is, what it does, what it has left.
import type { Dashboard, Panel, Query } from "../dashboard.ts";

const chosen = 'namespace="$namespace",name="$cluster"';
const of = (metric: string, more = ""): string => `max(fdb_database_${metric}{${chosen}${more}})`;
const by = (label: string, metric: string): string =>
  `max by (${label}) (fdb_database_${metric}{${chosen}})`;

function stat(
  title: string,
  unit: Panel["unit"],
  expression: string,
  more: Partial<Panel> = {},
): Panel {
  return { title, kind: "stat", unit, queries: [{ expression, legend: "" }], ...more };
}

function graph(title: string, unit: Panel["unit"], ...queries: (Query | string)[]): Panel {
  const named = queries.map((query) =>
    typeof query === "string" ? { expression: query, legend: "" } : query,
  );
  return { title, kind: "graph", unit, queries: named };
}

const query = (expression: string, legend: string): Query => ({ expression, legend });

/** The busiest of them: a cluster may have thousands. */
function processes(title: string, unit: Panel["unit"], metric: string): Panel {
  const expression = `topk(10, max by (process) (fdb_process_${metric}{${chosen}}))`;
  return {
    ...graph(title, unit, query(expression, "{{process}}")),
    help: "The ten highest. Only with databaseMetrics: process.",
  };
}

export const clusterDashboard: Dashboard = {
  uid: "fdb-cluster",
  title: "FoundationDB / cluster",
  description: "One FoundationDB cluster, as its database and its resource tell of it.",
  choices: [
    { name: "namespace", label: "namespace", of: "fdb_operator_cluster_created_time" },
    { name: "cluster", label: "name", of: "fdb_operator_cluster_created_time" },
  ],
  rows: [
    {
      title: "Safety",
      panels: [
        stat("Serves", "bool", of("available")),
        stat(
          "Zones that may fail (data)",
          "short",
          of("tolerated_zone_failures", ',without_losing="data"'),
        ),
        stat(
          "Zones that may fail (availability)",
          "short",
          of("tolerated_zone_failures", ',without_losing="availability"'),
        ),
        stat("Copies left", "short", of("replicas_left")),
        stat("Since the last recovery", "s", of("since_recovery_seconds")),
        stat("Age of the status", "s", `min(fdb_database_status_age_seconds{${chosen}})`, {
          badFrom: 120,
        }),
        stat(
          "Certificates last for",
          "s",
          `min(fdb_operator_certificate_expiry_timestamp_seconds{${chosen}}) - time()`,
        ),
        graph(
          "Zones that may fail",
          "short",
          query(
            by("without_losing", "tolerated_zone_failures"),
            "without losing {{without_losing}}",
          ),
          query(of("desired_tolerated_zone_failures"), "by its redundancy mode"),
        ),
        graph(
          "Coordinators",
          "short",
          query(of("coordinators"), "all"),
          query(of("coordinators_reachable"), "reachable"),
        ),
        graph("State of recovery", "short", query(by("state", "recovery_state"), "{{state}}")),
        graph(
          "Generation",
          "short",
          query(of("generation"), "generation"),
          query(of("log_generations"), "generations of logs"),
        ),
        graph(
          "Waits",
          "short",
          query(`max by (reason) (fdb_operator_blocked{${chosen}}) > 0`, "{{reason}}"),
        ),
        graph(
          "Process groups by condition",
          "short",
          query(
            `sum by (condition) (max by (condition, process_class) (fdb_operator_process_group_total{${chosen}})) > 0`,
            "{{condition}}",
          ),
        ),
      ],
    },
    {
      title: "Load",
      panels: [
        graph(
          "Transactions",
          "ops",
          query(by("outcome", "transactions_per_second"), "{{outcome}}"),
        ),
        graph("Keys", "ops", query(by("operation", "operations_per_second"), "{{operation}}")),
        graph("Bytes", "Bps", query(by("operation", "traffic_bytes_per_second"), "{{operation}}")),
        graph(
          "Latency probe",
          "s",
          query(by("operation", "latency_probe_seconds"), "{{operation}}"),
        ),
        graph(
          "What limits transactions",
          "short",
          query(by("factor", "limiting_factor"), "{{factor}}"),
        ),
        graph(
          "Transactions that may begin",
          "ops",
          query(of("released_transactions_per_second"), "begin"),
          query(of("transaction_limit_per_second"), "at most"),
        ),
        graph("Clients", "short", query(of("clients"), "clients")),
      ],
    },
    {
      title: "Storage and logs",
      panels: [
        graph(
          "Lag",
          "s",
          query(of("storage_lag_seconds"), "storage"),
          query(of("durability_lag_seconds"), "on disk"),
          query(of("datacenter_lag_seconds"), "other region"),
        ),
        graph("Longest queue", "bytes", query(by("role", "queue_bytes"), "{{role}}")),
        graph(
          "Least room",
          "bytes",
          query(`min by (role) (fdb_database_least_free_bytes{${chosen}})`, "{{role}}"),
        ),
        graph(
          "Data",
          "bytes",
          query(of("data_bytes"), "keys and values"),
          query(of("disk_used_bytes"), "on disks"),
        ),
        graph("Data that moves", "bytes", query(by("state", "moving_bytes"), "{{state}}")),
        graph("Partitions", "short", query(of("partitions"), "partitions")),
      ],
    },
    {
      title: "Processes",
      panels: [
        graph("By version", "short", query(by("version", "processes"), "{{version}}")),
        graph(
          "Not as they should be",
          "short",
          query(of("degraded_processes"), "degraded"),
          query(of("exclusions"), "exclusions"),
          query(of("restarts_of_one_process"), "restarts of one process"),
          query(of("processes_without_figures"), "without figures of their own"),
        ),
        graph(
          "Set by hand",
          "bool",
          query(of("maintenance"), "maintenance"),
          query(of("locked"), "locked"),
        ),
        graph(
          "Maintenance still lasts",
          "s",
          query(of("maintenance_remaining_seconds"), "maintenance"),
        ),
      ],
    },
    {
      title: "Single processes",
      panels: [
        processes("Processor", "short", "cpu_cores"),
        processes("Run loop busy", "percentunit", "run_loop_busy_ratio"),
        processes("Memory", "bytes", "memory_bytes"),
        processes("Disk busy", "percentunit", "disk_busy_ratio"),
        processes("Queue", "bytes", "queue_bytes"),
        processes("Lag", "s", "lag_seconds"),
        processes("Received", "Bps", "network_received_bytes_per_second"),
        processes("Sent", "Bps", "network_sent_bytes_per_second"),
        processes("Stored", "bytes", "stored_bytes"),
      ],
    },
  ],
};
