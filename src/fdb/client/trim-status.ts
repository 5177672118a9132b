// The machine-readable status of a large database is many megabytes; what the operator never reads stays in the client
// process. Of what there are many of, processes with their roles and machines, the fields that this project reads are listed
// here, and nothing else is kept; of the rest, everything that is not known to be large. Rule: spec/real-database.md [DB31].
import type { StatusMachine, StatusProcess, StatusRole } from "../../model/database-status.ts";

type Json = Record<string, unknown>;

/** What is kept of a value: all of it, these fields of a record, or `[that]` of each item of a list. */
type Kept = "all" | KeptFields | readonly [KeptFields];
interface KeptFields {
  readonly [field: string]: Kept;
}

/** The fields that a type names, without those that it only tolerates. A field that is added there must be listed here. */
type Named<T> = keyof { [Key in keyof T as string extends Key ? never : Key]: T[Key] };
type KeptOf<T> = Readonly<Record<Named<T>, Kept>> & KeptFields;

/** Storage and log servers carry dozens of figures besides; of the counters the difference is the queue of a role. */
const role: KeptOf<StatusRole> = {
  ...{ role: "all", id: "all", data_lag: "all", durability_lag: "all", stored_bytes: "all" },
  input_bytes: { counter: "all" },
  durable_bytes: { counter: "all" },
};

const processFields: KeptOf<StatusProcess> = {
  ...{ address: "all", class_type: "all", class_source: "all", command_line: "all" },
  ...{ degraded: "all", excluded: "all", fault_domain: "all", locality: "all" },
  ...{ machine_id: "all", messages: "all", run_loop_busy: "all", under_maintenance: "all" },
  ...{ uptime_seconds: "all", version: "all" },
  disk: { busy: "all", free_bytes: "all", total_bytes: "all" },
  roles: [role],
  cpu: { usage_cores: "all" },
  memory: { rss_bytes: "all", limit_bytes: "all" },
  network: { megabits_received: { hz: "all" }, megabits_sent: { hz: "all" } },
};

const machine: KeptOf<StatusMachine> = {
  ...{ address: "all", contributing_workers: "all", excluded: "all", locality: "all" },
  ...{ machine_id: "all", datacenter_id: "all" },
};

/** What is kept of the workload, and of each of these the rate alone. */
const rate: Kept = { hz: "all" };
const workload: Kept = {
  transactions: { started: rate, committed: rate, conflicted: rate },
  operations: { reads: rate, writes: rate },
  bytes: { read: rate, written: rate },
};

/** Which client speaks what is in the list by highest protocol; the other one repeats every client for every version. */
const repeatedClients: readonly string[] = ["connected_clients"];

/** Parts of the cluster that nobody reads. */
const clusterFigures: readonly string[] = [
  "blob_granules",
  "blob_restore",
  "idempotency_ids",
  "metrics",
  "page_cache",
  "tenants",
];

/** What has another shape than expected is left as it is. */
export function trimStatus(status: unknown): unknown {
  if (!isRecord(status) || !isRecord(status["cluster"])) return status;
  const { cluster } = status;
  const trimmed = without(cluster, clusterFigures);
  const { processes, machines, clients } = cluster;
  if ("workload" in cluster) trimmed["workload"] = keep(cluster["workload"], workload);
  if (isRecord(processes)) trimmed["processes"] = ofEach(processes, processFields);
  if (isRecord(machines)) trimmed["machines"] = ofEach(machines, machine);
  if (isRecord(clients) && Array.isArray(clients["supported_versions"])) {
    const supported = clients["supported_versions"].map((version: unknown) =>
      isRecord(version) ? without(version, repeatedClients) : version,
    );
    trimmed["clients"] = { ...clients, supported_versions: supported };
  }
  return { ...status, cluster: trimmed };
}

function keep(value: unknown, kept: Kept): unknown {
  if (kept === "all") return value;
  if (isListOf(kept)) {
    return Array.isArray(value) ? value.map((item: unknown) => keep(item, kept[0])) : value;
  }
  if (!isRecord(value)) return value;
  const found: Json = {};
  for (const [field, inner] of Object.entries(kept)) {
    if (Object.hasOwn(value, field)) found[field] = keep(value[field], inner);
  }
  return found;
}

function ofEach(records: Json, kept: Kept): Json {
  return Object.fromEntries(Object.entries(records).map(([id, value]) => [id, keep(value, kept)]));
}

function isListOf(kept: KeptFields | readonly [KeptFields]): kept is readonly [KeptFields] {
  return Array.isArray(kept);
}

function without(record: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
