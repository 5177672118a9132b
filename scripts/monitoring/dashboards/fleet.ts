// All clusters at a glance: who needs help, and who is busy.
import { each } from "../alarm.ts";
import type { Dashboard } from "../dashboard.ts";

const legend = "{{namespace}}/{{name}}";
const most = (metric: string): string => `max ${each} (${metric})`;

export const fleetDashboard: Dashboard = {
  uid: "fdb-fleet",
  title: "FoundationDB / fleet",
  description: "All FoundationDB clusters that the operators look after.",
  choices: [],
  rows: [
    {
      title: "Now",
      panels: [
        {
          ...{ title: "Clusters", kind: "stat", unit: "short" },
          queries: [
            { expression: `count(${most("fdb_operator_cluster_created_time")})`, legend: "" },
          ],
        },
        {
          ...{ title: "Do not serve", kind: "stat", unit: "short", badFrom: 1 },
          queries: [
            {
              expression: `sum(${most('fdb_operator_cluster_status{status_type="available"}')} == bool 0)`,
              legend: "",
            },
          ],
        },
        {
          ...{ title: "Short of fault tolerance", kind: "stat", unit: "short", badFrom: 1 },
          queries: [
            {
              expression: "sum(namespace_name:fdb_database_missing_zone_failures:max > bool 0)",
              legend: "",
            },
          ],
        },
        {
          ...{ title: "Not reconciled", kind: "stat", unit: "short" },
          queries: [
            {
              expression: `sum(${most("fdb_operator_cluster_reconciled_status")} == bool 0)`,
              legend: "",
            },
          ],
        },
        {
          ...{ title: "Wait for a person", kind: "stat", unit: "short", badFrom: 1 },
          queries: [
            {
              expression: `sum(${most("fdb_operator_needs_person_seconds")} > bool 0)`,
              legend: "",
            },
          ],
        },
        {
          ...{ title: "Alarms", kind: "stat", unit: "short", badFrom: 1 },
          queries: [
            {
              expression:
                'count(ALERTS{alertname=~"FoundationDB.*",alertstate="firing"}) or vector(0)',
              legend: "",
            },
          ],
        },
      ],
    },
    {
      title: "Trouble",
      panels: [
        {
          ...{
            title: "Zone failures that are not survived any more",
            kind: "graph",
            unit: "short",
          },
          queries: [
            { expression: "namespace_name:fdb_database_missing_zone_failures:max > 0", legend },
          ],
        },
        {
          ...{ title: "Process groups that are not well", kind: "graph", unit: "short" },
          queries: [
            { expression: "namespace_name:fdb_operator_process_groups_unwell:sum > 0", legend },
          ],
        },
        {
          ...{ title: "Waits for a person", kind: "graph", unit: "s" },
          queries: [{ expression: `${most("fdb_operator_needs_person_seconds")} > 0`, legend }],
        },
        {
          ...{ title: "Recoveries within an hour", kind: "graph", unit: "short" },
          queries: [{ expression: most("increase(fdb_operator_recoveries_total[1h])"), legend }],
        },
        {
          ...{ title: "Least room of a storage server", kind: "graph", unit: "bytes" },
          queries: [
            {
              expression: `min ${each} (fdb_database_least_free_bytes{role="storage"})`,
              legend,
            },
          ],
        },
        {
          ...{ title: "Age of the newest status", kind: "graph", unit: "s" },
          queries: [{ expression: `min ${each} (fdb_database_status_age_seconds)`, legend }],
        },
      ],
    },
    {
      title: "Load",
      panels: [
        {
          ...{ title: "Commits", kind: "graph", unit: "ops" },
          queries: [
            {
              expression: most('fdb_database_transactions_per_second{outcome="committed"}'),
              legend,
            },
          ],
        },
        {
          ...{ title: "Time of a commit", kind: "graph", unit: "s" },
          queries: [
            { expression: most('fdb_database_latency_probe_seconds{operation="commit"}'), legend },
          ],
        },
        {
          ...{ title: "Data", kind: "graph", unit: "bytes" },
          queries: [{ expression: most("fdb_database_data_bytes"), legend }],
        },
        {
          ...{ title: "Processes by version", kind: "graph", unit: "short" },
          queries: [
            {
              expression:
                "sum by (version) (max by (namespace, name, version) (fdb_database_processes))",
              legend: "{{version}}",
            },
          ],
        },
      ],
    },
  ],
};
