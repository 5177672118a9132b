// The operator itself: who works, how much, and what goes wrong.
import type { Dashboard, Panel } from "../dashboard.ts";

function graph(title: string, unit: Panel["unit"], expression: string, legend: string): Panel {
  return { title, kind: "graph", unit, queries: [{ expression, legend }] };
}

const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`;

export const operatorDashboard: Dashboard = {
  uid: "fdb-operator",
  title: "FoundationDB / operator",
  description: "The operator: its work, its view of Kubernetes, its process.",
  choices: [],
  rows: [
    {
      title: "Work",
      panels: [
        graph(
          "Leads",
          "bool",
          "max by (namespace, job, instance) (fdb_operator_leading)",
          "{{namespace}} {{instance}}",
        ),
        graph(
          "Passes",
          "ops",
          `sum by (namespace, job) (${rate("fdb_operator_reconciles_total")})`,
          "{{namespace}}",
        ),
        graph(
          "Passes that fail",
          "ops",
          "namespace_job:fdb_operator_reconcile_errors:rate15m",
          "{{namespace}}",
        ),
        graph(
          "Time of a pass, 99 of 100",
          "s",
          "namespace_job:fdb_operator_reconcile_duration_seconds:p99",
          "{{namespace}}",
        ),
        graph(
          "Actions by outcome",
          "ops",
          `sum by (outcome) (${rate("fdb_operator_actions_total")})`,
          "{{outcome}}",
        ),
        graph(
          "Actions by type",
          "ops",
          `sum by (type) (${rate("fdb_operator_actions_total")}) > 0`,
          "{{type}}",
        ),
        graph(
          "Looks by queue",
          "ops",
          `sum by (queue) (${rate("fdb_operator_queue_looks_total")})`,
          "{{queue}}",
        ),
        graph(
          "Waiting in queues",
          "short",
          "max by (queue) (fdb_operator_queue_depth)",
          "{{queue}}",
        ),
        graph(
          "Changes of coordinators within an hour",
          "short",
          "sum by (namespace, name) (increase(fdb_operator_coordinator_changes_total[1h])) > 0",
          "{{namespace}}/{{name}}",
        ),
      ],
    },
    {
      title: "Kubernetes and FoundationDB",
      panels: [
        graph(
          "Requests by code",
          "ops",
          `sum by (code) (${rate("fdb_operator_kubernetes_requests_total")})`,
          "{{code}}",
        ),
        graph(
          "Requests by resource",
          "ops",
          `sum by (resource) (${rate("fdb_operator_kubernetes_requests_total")})`,
          "{{resource}}",
        ),
        graph("Age of watches", "s", "max by (kind) (fdb_operator_watch_age_seconds)", "{{kind}}"),
        graph(
          "Clock of the API server ahead",
          "s",
          "max by (instance) (fdb_operator_api_server_clock_ahead_seconds)",
          "{{instance}}",
        ),
        graph(
          "Client processes lost within an hour",
          "short",
          "sum by (namespace, name) (increase(fdb_operator_client_restarts_total[1h]))",
          "{{namespace}}/{{name}}",
        ),
      ],
    },
    {
      title: "Process",
      panels: [
        graph(
          "Processor",
          "percentunit",
          `${rate("process_cpu_seconds_total")} and on (instance) fdb_operator_leading`,
          "{{instance}}",
        ),
        graph(
          "Memory",
          "bytes",
          "process_resident_memory_bytes and on (instance) fdb_operator_leading",
          "{{instance}}",
        ),
        graph(
          "Heap",
          "bytes",
          "nodejs_heap_size_used_bytes and on (instance) fdb_operator_leading",
          "{{instance}}",
        ),
        graph(
          "Lateness of the event loop",
          "s",
          "nodejs_eventloop_lag_p99_seconds and on (instance) fdb_operator_leading",
          "{{instance}}",
        ),
        graph(
          "Open sockets, timers, files",
          "short",
          "nodejs_active_resources and on (instance) fdb_operator_leading",
          "{{instance}}",
        ),
        graph("Versions", "short", "count by (version) (fdb_operator_build_info)", "{{version}}"),
      ],
    },
  ],
};
