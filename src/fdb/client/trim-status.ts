// The machine-readable status of a large database is many megabytes; what the operator never reads stays in the client
// process. Everything that is not known to be large is kept. Rule: spec/real-database.md [DB31].

type Json = Record<string, unknown>;

/** Figures of a machine that nobody reads. */
const figures: readonly string[] = ["cpu", "memory", "network"];
/** What is kept of these figures of a process: metrics tell it. */
const processFigures: Readonly<Record<string, readonly string[]>> = {
  memory: ["rss_bytes", "limit_bytes"],
  network: ["megabits_received", "megabits_sent"],
};
/** What is kept of a role; storage and log servers carry dozens of figures besides. */
const roleFields: readonly string[] = ["role", "id", "data_lag", "durability_lag", "stored_bytes"];
/** Of which the difference is the queue of a role. */
const roleCounters: readonly string[] = ["input_bytes", "durable_bytes"];
/** What is kept of the workload, and of each of these the rate alone. */
const workloadFigures: Readonly<Record<string, readonly string[]>> = {
  transactions: ["started", "committed", "conflicted"],
  operations: ["reads", "writes"],
  bytes: ["read", "written"],
};
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
  const { processes, machines, clients, workload } = cluster;
  if (isRecord(workload)) trimmed["workload"] = trimWorkload(workload);
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
  const trimmed = { ...process };
  for (const [part, kept] of Object.entries(processFigures)) {
    const { [part]: found } = process;
    if (isRecord(found)) trimmed[part] = only(found, kept);
  }
  const { roles } = process;
  if (Array.isArray(roles)) trimmed["roles"] = roles.map(trimRole);
  return trimmed;
}

function trimWorkload(workload: Json): Json {
  const parts = Object.entries(workloadFigures).flatMap(([part, names]) => {
    const { [part]: found } = workload;
    if (!isRecord(found)) return [];
    const rates = each(only(found, names), (one) => (isRecord(one) ? only(one, ["hz"]) : one));
    return [[part, rates] as const];
  });
  return Object.fromEntries(parts);
}

function trimRole(role: unknown): unknown {
  if (!isRecord(role)) return role;
  const trimmed = only(role, roleFields);
  for (const name of roleCounters) {
    const { [name]: counter } = role;
    if (isRecord(counter)) trimmed[name] = only(counter, ["counter"]);
  }
  return trimmed;
}

function only(record: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
}

function without(record: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
