// The machine-readable status of a large database is many megabytes; what the operator never reads stays in the client
// process. Everything that is not known to be large is kept. Rule: spec/real-database.md [DB31].

type Json = Record<string, unknown>;

/** Figures of one process or machine that only dashboards read. */
const figures: readonly string[] = ["cpu", "memory", "network"];
/** What is kept of a role; storage and log servers carry dozens of figures besides. */
const roleFields: readonly string[] = ["role", "id", "data_lag", "durability_lag", "stored_bytes"];
/** Parts of the cluster that only dashboards read. */
const clusterFigures: readonly string[] = [
  "blob_granules",
  "blob_restore",
  "idempotency_ids",
  "latency_probe",
  "metrics",
  "page_cache",
  "tenants",
  "workload",
];

/** What has another shape than expected is left as it is. */
export function trimStatus(status: unknown): unknown {
  if (!isRecord(status) || !isRecord(status["cluster"])) return status;
  const { cluster } = status;
  const trimmed = without(cluster, clusterFigures);
  const { processes, machines, clients } = cluster;
  if (isRecord(processes)) trimmed["processes"] = each(processes, trimProcess);
  if (isRecord(machines)) {
    trimmed["machines"] = each(machines, (machine) =>
      isRecord(machine) ? without(machine, figures) : machine,
    );
  }
  if (isRecord(clients) && Array.isArray(clients["supported_versions"])) {
    // Which client speaks what is in the list by highest protocol; this one repeats every client for every version.
    const supported = clients["supported_versions"].map((version: unknown) =>
      isRecord(version) ? without(version, ["connected_clients"]) : version,
    );
    trimmed["clients"] = { ...clients, supported_versions: supported };
  }
  return { ...status, cluster: trimmed };
}

function each(records: Json, change: (record: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(records).map(([id, record]) => [id, change(record)]));
}

function trimProcess(process: unknown): unknown {
  if (!isRecord(process)) return process;
  const trimmed = without(process, figures);
  const { roles } = process;
  if (Array.isArray(roles)) trimmed["roles"] = roles.map(trimRole);
  return trimmed;
}

function trimRole(role: unknown): unknown {
  if (!isRecord(role)) return role;
  return Object.fromEntries(Object.entries(role).filter(([name]) => roleFields.includes(name)));
}

function without(record: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
