// Metrics of the operator itself: its work, its view of the API server, its process.
import { counterOf, gaugeOf, histogramOf } from "../../env/metric-description.ts";

const cluster: readonly string[] = ["namespace", "name"];
/** A client process: the number is taken again when one has ended. */
const client: readonly string[] = ["process", "version", "use"];
const passBounds: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const waitBounds: readonly number[] = [0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];

export const workMetrics = {
  passes: counterOf("fdb_operator_reconciles_total", "Passes over a cluster."),
  passesFailed: counterOf(
    "fdb_operator_reconcile_errors_total",
    "Passes that ended with an error.",
  ),
  looks: counterOf(
    "fdb_operator_queue_looks_total",
    "Looks at a resource: passes, and those that found nothing to look after.",
    ["queue"],
  ),
  duration: histogramOf(
    "fdb_operator_reconcile_duration_seconds",
    "Time from the start of a pass to its end.",
    passBounds,
  ),
  queueWait: histogramOf(
    "fdb_operator_queue_wait_seconds",
    "Time for which a key that was due waited for a worker.",
    waitBounds,
    ["queue"],
  ),
  actions: counterOf("fdb_operator_actions_total", "Actions and how they ended.", [
    "type",
    "outcome",
  ]),
  steps: counterOf(
    "fdb_operator_steps_total",
    "What the steps of passes came to: an action, a wait, or neither.",
    ["step", "outcome"],
  ),
  statusWrites: counterOf(
    "fdb_operator_status_writes_total",
    "Writes of the status of a cluster.",
    ["outcome"],
  ),
  invalidSpecs: counterOf(
    "fdb_operator_invalid_specs_total",
    "Generations of resources that were refused.",
  ),
  recoveries: counterOf(
    "fdb_operator_recoveries_total",
    "Recoveries of the database that were seen.",
    cluster,
  ),
  coordinatorChanges: counterOf(
    "fdb_operator_coordinator_changes_total",
    "Changes of coordinators that were carried out.",
    cluster,
  ),
} as const;

export const runtimeMetrics = {
  depth: gaugeOf("fdb_operator_queue_depth", "Keys that wait for a worker.", ["queue"]),
  running: gaugeOf("fdb_operator_queue_running", "Keys that are worked on.", ["queue"]),
  known: gaugeOf("fdb_operator_queue_keys", "Keys that are remembered.", ["queue"]),
  watchAge: gaugeOf(
    "fdb_operator_watch_age_seconds",
    "Time since the API server last told anything of a kind.",
    ["kind"],
  ),
  watchSynced: gaugeOf("fdb_operator_watch_synced", "1 when the local copy of a kind is filled.", [
    "kind",
  ]),
  clockAhead: gaugeOf(
    "fdb_operator_api_server_clock_ahead_seconds",
    "By how much the clock of the API server is ahead of the operator's.",
  ),
  requests: counterOf(
    "fdb_operator_kubernetes_requests_total",
    "Requests to the API server that have ended; code 0 is one without an answer.",
    ["verb", "resource", "code"],
  ),
  received: counterOf(
    "fdb_operator_kubernetes_received_bytes_total",
    "Bytes of answers of the API server, watches included.",
  ),
  clientsLost: counterOf(
    "fdb_operator_client_restarts_total",
    "Losses of a client process for which this database may be the cause.",
    cluster,
  ),
  clientDatabases: gaugeOf(
    "fdb_operator_client_process_databases",
    "Databases in a client process; use is quarantine for those that are kept apart.",
    client,
  ),
  clientMemory: gaugeOf(
    "fdb_operator_client_process_resident_bytes",
    "Resident memory of a client process, as it told it at the last ping.",
    client,
  ),
} as const;

export const processMetrics = {
  leading: gaugeOf("fdb_operator_leading", "1 when this instance holds the Lease."),
  feature: gaugeOf("fdb_operator_feature_enabled", "1 when a feature is on.", ["feature"]),
  build: gaugeOf("fdb_operator_build_info", "Always 1, with the version.", ["version"]),
  started: gaugeOf("process_start_time_seconds", "Unix time of the start."),
  processor: counterOf("process_cpu_seconds_total", "Processor time used."),
  resident: gaugeOf("process_resident_memory_bytes", "Resident memory."),
  heap: gaugeOf("nodejs_heap_size_used_bytes", "Memory in use by JavaScript objects."),
  resources: gaugeOf("nodejs_active_resources", "Open sockets, timers, processes and files."),
  lag: gaugeOf("nodejs_eventloop_lag_p99_seconds", "How late the event loop was, 99 of 100 times."),
} as const;
