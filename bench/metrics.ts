// What one look of Prometheus at the operator costs: size, series and processor time of `/metrics` with many clusters.
// Rules: spec/monitoring.md [MON15].
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import { MetricsRegistry } from "../src/env/metrics.ts";
import type { Stored } from "../src/kube/resource.ts";
import type { DatabaseStatus } from "../src/model/database-status.ts";
import { registerDatabaseMetrics } from "../src/operate/database-metrics/collect.ts";
import type { DatabaseMetricsDetail } from "../src/operate/database-metrics/collect.ts";
import { registerClusterMetrics } from "../src/operate/metrics-cluster.ts";
import { TestWorld } from "../test/world/world-harness.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";

const clusters = 50;
const scrapeAims = { bytes: 2_000_000, cpuMs: 50, series: 10_000 } as const;
const repetitions = 15;

interface MetricsRun {
  readonly detail: DatabaseMetricsDetail;
  readonly bytes: number;
  readonly series: number;
  /** Of single processes. */
  readonly processSeries: number;
  readonly cpuMs: number;
}

/** Copies of a cluster that came up in a world, with what its database said of itself. */
export async function runMetrics(): Promise<MetricsRun[]> {
  let sample: Stored<FoundationDBCluster> | undefined;
  let status: DatabaseStatus | undefined;
  const spec = {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 8, log: 4, stateless: 8 },
  } as const;
  await TestWorld.runWithCluster({ spec, nodes: 12 }, async (world) => {
    sample = await world.cluster();
    const { connectionString = "", runningVersion = "" } = sample.status ?? {};
    const client = world.world.fdb.admin.open({
      ...{ name: "bench", connectionString, version: runningVersion },
    });
    status = await world.during(client.status(10_000), 20_000, "a status");
    client.close();
  });
  if (sample === undefined || status === undefined) throw new Error("there is no cluster");
  const found = { sample, status };
  return (["off", "cluster", "process"] as const).map((detail) => measured(detail, found));
}

function measured(
  detail: DatabaseMetricsDetail,
  { sample, status }: { sample: Stored<FoundationDBCluster>; status: DatabaseStatus },
): MetricsRun {
  const named = Array.from({ length: clusters }, (_, index) => ({
    ...sample,
    metadata: { ...sample.metadata, name: `cluster-${index}` },
  }));
  const registry = new MetricsRegistry();
  registerClusterMetrics(registry, { clusters: () => named, nowMs: () => 0 });
  registerDatabaseMetrics(registry, {
    ...{ detail, processSeriesMax: scrapeAims.series, maximumAgeMs: 120_000, nowMs: () => 0 },
    databases: () =>
      named.map(({ metadata: { namespace = "", name = "" } }) => ({
        ...{ namespace, name, observedMs: 0, restarts: 0 },
        latest: { kind: "seen", status: status, observedMs: 0, answeredMs: 0 },
      })),
  });
  let text = "";
  const times = Array.from({ length: repetitions }, () => {
    const before = process.cpuUsage();
    text = registry.text();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return {
    ...{ detail, bytes: Buffer.byteLength(text), series: lines.length },
    processSeries: lines.filter((line) => line.startsWith("fdb_process_")).length,
    cpuMs: Math.round(times.reduce((left, right) => Math.min(left, right))),
  };
}

export function metricsTable(runs: readonly MetricsRun[]): string {
  return renderTable(
    `One look at /metrics, ${clusters} clusters of 20 processes`,
    [
      { title: "databaseMetrics", cell: ({ detail }) => detail, align: "left" },
      { title: "KB", cell: ({ bytes }) => String(Math.round(bytes / 1000)) },
      { title: "series", cell: ({ series }) => String(series) },
      { title: "of processes", cell: ({ processSeries }) => String(processSeries) },
      { title: "CPU ms", cell: ({ cpuMs }) => String(cpuMs) },
      { title: "", cell: (run) => mark(metricsAims([run]).every(({ isMet }) => isMet)) },
    ],
    runs,
  );
}

export function metricsAims(runs: readonly MetricsRun[]): Aim[] {
  const aim = (what: string, value: number, limit: number): Aim => ({
    ...{ what: `/metrics of ${clusters} clusters, ${what}`, value, limit },
    isMet: value <= limit,
  });
  return runs.flatMap(({ detail, bytes, cpuMs, processSeries }) => {
    if (detail === "process") return [aim("series of processes", processSeries, scrapeAims.series)];
    return [aim("bytes", bytes, scrapeAims.bytes), aim("CPU ms", cpuMs, scrapeAims.cpuMs)];
  });
}
