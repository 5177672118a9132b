// The figures of databases as metrics.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { MetricsRegistry } from "../../env/metrics.ts";
import { readableStatus } from "../../fdb/readable-status.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { databaseProcessMetrics } from "../../model/metrics/database-process.ts";
import { databaseMetrics } from "../../model/metrics/database.ts";
import { registerDatabaseMetrics } from "./collect.ts";
import type { DatabaseMetricsDetail, HeardDatabase } from "./collect.ts";
import { ProcessRestarts } from "./restarts.ts";
import { processBudget } from "./series-budget.ts";

const folder = join(import.meta.dirname, "../../../test/data/fdb/status");

function capture(name: string): DatabaseStatus {
  return readableStatus(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
}

function heard(status: DatabaseStatus, more: Partial<HeardDatabase> = {}): HeardDatabase {
  return {
    ...{ namespace: "shop", name: "orders", observedMs: 0, restarts: 2 },
    latest: { kind: "seen", status, observedMs: 0, answeredMs: 0 },
    ...more,
  };
}

function served(
  databases: readonly HeardDatabase[],
  detail: DatabaseMetricsDetail = "cluster",
  { nowMs = 4_000, processSeriesMax = 10_000 } = {},
): string[] {
  const registry = new MetricsRegistry();
  registerDatabaseMetrics(registry, {
    ...{ detail, processSeriesMax, maximumAgeMs: 120_000 },
    databases: () => databases,
    nowMs: () => nowMs,
  });
  return registry
    .text()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

const whose = 'namespace="shop",name="orders"';
const healthy = capture("03-healthy-double");

test("[MON3] a healthy database has its figures", () => {
  const lines = served([heard(healthy)]);
  const expected = {
    [`fdb_database_status_age_seconds{${whose}}`]: 4,
    [`fdb_database_available{${whose}}`]: 1,
    [`fdb_database_tolerated_zone_failures{${whose},without_losing="data"}`]: 1,
    [`fdb_database_desired_tolerated_zone_failures{${whose}}`]: 1,
    [`fdb_database_replicas_left{${whose}}`]: 2,
    [`fdb_database_recovery_state{${whose},state="fully_recovered"}`]: 1,
    [`fdb_database_transactions_per_second{${whose},outcome="started"}`]: 15.7993,
    [`fdb_database_latency_probe_seconds{${whose},operation="commit"}`]: 0.00297809,
    [`fdb_database_limiting_factor{${whose},factor="workload"}`]: 1,
    [`fdb_database_queue_bytes{${whose},role="log"}`]: 21_763,
    [`fdb_database_coordinators_reachable{${whose}}`]: 3,
    [`fdb_database_restarts_of_one_process{${whose}}`]: 2,
    [`fdb_database_locked{${whose}}`]: 0,
  };
  for (const [series, value] of Object.entries(expected)) {
    assert.ok(lines.includes(`${series} ${value}`), `${series}\n${lines.join("\n")}`);
  }
  const processes = Object.keys(healthy.cluster?.processes ?? {}).length;
  assert.ok(lines.includes(`fdb_database_processes{${whose},version="7.3.79"} ${processes}`));
  assert.ok(!lines.some((line) => line.startsWith("fdb_process_")));
  assert.deepEqual(served([heard(healthy)], "off"), []);
});

test("[MON3] every metric of a database and of a process has samples", () => {
  const tag = {
    ...{ running_backup: true, running_backup_is_restorable: true },
    ...{ last_restorable_seconds_behind: 3, range_bytes_written: 1, mutation_log_bytes_written: 1 },
  };
  const regions = capture("regions-07-usable2-healthy");
  const whole: DatabaseStatus = {
    ...regions,
    cluster: {
      ...regions.cluster,
      ...{ maintenance_zone: "z1", maintenance_seconds_remaining: 5 },
      layers: { backup: { tags: { default: tag } } },
    },
  };
  const lines = served([heard(whole)], "process");
  const names = new Set(lines.map((line) => line.slice(0, line.indexOf("{"))));
  for (const { name } of [
    ...Object.values(databaseMetrics),
    ...Object.values(databaseProcessMetrics),
  ]) {
    assert.ok(names.has(name), name);
  }
});

test("[MON5] an old status, and one that did not come, give their age alone", () => {
  const old = served([heard(healthy)], "process", { nowMs: 120_001 });
  assert.deepEqual(old, [
    `fdb_database_status_age_seconds{${whose}} 120.001`,
    `fdb_database_processes_without_figures{${whose}} 0`,
  ]);
  const latest = { kind: "missing", reason: "Unreachable", message: "", sinceMs: 0 } as const;
  assert.deepEqual(served([heard(healthy, { latest })]), [
    `fdb_database_status_age_seconds{${whose}} 4`,
  ]);
  assert.deepEqual(served([heard(healthy, { latest, observedMs: undefined })]), []);
});

function large(processes: number): DatabaseStatus {
  const [sample] = Object.values(healthy.cluster?.processes ?? {});
  const all = Array.from({ length: processes }, (_, index) => [
    `p${index}`,
    { ...sample, locality: { ...sample?.locality, process_id: `storage-${index}-1` } },
  ]);
  return { ...healthy, cluster: { ...healthy.cluster, processes: Object.fromEntries(all) } };
}

test("[MON6] series of processes stay below their limit, and what is cut is told", () => {
  const databases = [
    heard(large(3), { name: "small" }),
    heard(large(300), { name: "large" }),
    heard(large(200), { name: "larger" }),
  ];
  const lines = served(databases, "process", { processSeriesMax: 2_200 });
  const own = lines.filter((line) => line.startsWith("fdb_process_"));
  assert.ok(own.length <= 2_200 && own.length > 1_000, String(own.length));
  const cut = lines.filter((line) => line.startsWith("fdb_database_processes_without_figures"));
  assert.deepEqual(
    cut.map((line) => [/name="(\w+)"/.exec(line)?.[1], line.split(" ").at(-1)]),
    [
      ["small", "0"],
      ["large", "251"],
      ["larger", "152"],
    ],
  );
});

test("[MON6] small clusters leave their share to large ones", () => {
  const counts = new Map([
    ["a", 100],
    ["b", 2],
    ["c", 100],
  ]);
  assert.deepEqual(Object.fromEntries(processBudget(counts, 600, 10)), { a: 29, b: 2, c: 29 });
  assert.deepEqual(Object.fromEntries(processBudget(counts, 0, 10)), { a: 0, b: 0, c: 0 });
  assert.deepEqual(processBudget(new Map(), 10, 10).size, 0);
});

test("[MON7] no series comes twice, and long texts are cut", () => {
  const [sample] = Object.values(healthy.cluster?.processes ?? {});
  assert.ok(sample);
  const status: DatabaseStatus = {
    ...healthy,
    cluster: {
      ...healthy.cluster,
      recovery_state: { name: "x".repeat(1000) },
      processes: { one: sample, two: sample },
    },
  };
  const lines = served([heard(status)], "process");
  const series = lines.map((line) => line.slice(0, line.lastIndexOf(" ")));
  assert.equal(new Set(series).size, series.length);
  assert.ok(lines.every((line) => line.length < 300));
});

test("[MON8] a process that starts again and again is counted, one that runs is not", () => {
  const restarts = new ProcessRestarts();
  const minute = 60_000;
  const status = (uptime: number, other: number): DatabaseStatus => ({
    cluster: {
      processes: {
        a: { address: "10.0.0.1:4501", uptime_seconds: uptime },
        b: { address: "10.0.0.2:4501", uptime_seconds: other },
        c: { address: "10.0.0.3:4501" },
      },
    },
  });
  // Clocks that differ by a few seconds are no restart.
  for (let index = 0; index < 10; index += 1) {
    const drift = index % 2 === 0 ? 2 : 0;
    restarts.note(status(20, 1_000 + index * 60 + drift), index * minute);
  }
  assert.equal(restarts.most(9 * minute), 9);
  assert.equal(restarts.most(35 * minute), 4);
  assert.equal(restarts.most(120 * minute), 0);
});
