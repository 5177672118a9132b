// What `/metrics` tells of client processes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricsRegistry } from "../env/metrics.ts";
import type { ProcessAdmin } from "../fdb/client/process-admin.ts";
import { registerClientMetrics } from "./run-databases.ts";

test("[DB56] metrics show the memory and the databases of each client process", () => {
  const registry = new MetricsRegistry();
  const shared = { number: 1, version: "7.3.79", databases: 16, isQuarantine: false };
  const apart = { number: 2, version: "7.3.79", databases: 1, isQuarantine: true };
  const processes: ReturnType<ProcessAdmin["processes"]> = [
    { ...shared, rssBytes: 47_000_000 },
    { ...apart, rssBytes: undefined },
  ];
  registerClientMetrics(registry, { processes: () => processes });
  const lines = registry.text().split("\n");
  assert.deepEqual(
    lines.filter((line) => line.startsWith("fdb_operator_client_process")),
    [
      'fdb_operator_client_process_databases{process="1",version="7.3.79",use="shared"} 16',
      'fdb_operator_client_process_databases{process="2",version="7.3.79",use="quarantine"} 1',
      'fdb_operator_client_process_resident_bytes{process="1",version="7.3.79",use="shared"} 47000000',
    ],
  );
});
