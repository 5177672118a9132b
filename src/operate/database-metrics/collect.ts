// Serves what each database says of itself as metrics, from the status that was polled last: nothing is asked and nothing is
// parsed for it. A status that is too old gives no sample but its age. Rules: spec/monitoring.md [MON3]-[MON7].
import type { Labels, MetricsRegistry, Sample } from "../../env/metrics.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import type { DatabaseFigures } from "../../model/database-figures.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { databaseProcessMetrics } from "../../model/metrics/database-process.ts";
import { databaseMetrics, hearingMetrics } from "../../model/metrics/database.ts";
import { processRows } from "../../model/process-row.ts";
import type { ProcessRow } from "../../model/process-row.ts";
import type { DatabaseObservation } from "../../plan/snapshot.ts";
import { databaseReadings, processReadings, rolesMax, short } from "./readings.ts";
import type { Reading } from "./readings.ts";
import { processBudget } from "./series-budget.ts";

export const databaseMetricsDetails = ["off", "cluster", "process"] as const;
export type DatabaseMetricsDetail = (typeof databaseMetricsDetails)[number];

export interface HeardDatabase {
  readonly namespace: string;
  readonly name: string;
  readonly latest: DatabaseObservation;
  /** When the newest status was asked for; undefined when there was none. */
  readonly observedMs: number | undefined;
  /** Most restarts of one process. */
  readonly restarts: number;
}

export interface DatabaseMetricsSource {
  readonly detail: DatabaseMetricsDetail;
  /** Of all processes together. */
  readonly processSeriesMax: number;
  /** A status that is older says nothing. */
  readonly maximumAgeMs: number;
  readonly databases: () => Iterable<HeardDatabase>;
  readonly nowMs: () => number;
}

/** What a process may have at most: a sample of each metric, and of its roles several. */
const seriesOfProcess = Object.keys(databaseProcessMetrics).length - 1 + rolesMax;

interface View {
  readonly labels: Labels;
  readonly ageSeconds: number;
  /** Undefined when the status is too old. */
  readonly known: { readonly figures: DatabaseFigures; readonly restarts: number } | undefined;
  readonly rows: readonly ProcessRow[];
  readonly cut: number;
}

export function registerDatabaseMetrics(
  registry: MetricsRegistry,
  source: DatabaseMetricsSource,
): void {
  const { detail } = source;
  if (detail === "off") return;
  let views: readonly View[] = [];
  registry.onCollect(() => {
    views = viewsOf(source);
  });
  registry.sampled(hearingMetrics.age, () =>
    views.map(({ labels, ageSeconds }) => ({ labels, value: ageSeconds })),
  );
  for (const key of keysOf(databaseMetrics)) {
    registry.sampled(databaseMetrics[key], () =>
      views.flatMap(({ labels, known }) =>
        known === undefined ? [] : samples(labels, databaseReadings[key](known)),
      ),
    );
  }
  if (detail !== "process") return;
  registry.sampled(hearingMetrics.processesCut, () =>
    views.map(({ labels, cut }) => ({ labels, value: cut })),
  );
  for (const key of keysOf(databaseProcessMetrics)) {
    registry.sampled(databaseProcessMetrics[key], () =>
      views.flatMap(({ labels, rows }) =>
        rows.flatMap((row) => samples(processLabels(labels, row), processReadings[key](row))),
      ),
    );
  }
}

function viewsOf(source: DatabaseMetricsSource): View[] {
  const nowMs = source.nowMs();
  const heard = [...source.databases()].filter(({ observedMs }) => observedMs !== undefined);
  const fresh = new Map<string, DatabaseStatus>();
  for (const database of heard) {
    const { latest } = database;
    if (latest.kind !== "seen" || nowMs - latest.observedMs > source.maximumAgeMs) continue;
    fresh.set(keyOf(database), latest.status);
  }
  const budget = source.detail === "process" ? budgetOf(fresh, source.processSeriesMax) : undefined;
  return heard.map((database): View => {
    const { namespace, name, observedMs = nowMs, restarts } = database;
    const status = fresh.get(keyOf(database));
    const rows = status === undefined || budget === undefined ? [] : processRows(status);
    const given = budget?.get(keyOf(database)) ?? 0;
    return {
      labels: { namespace, name },
      ageSeconds: Math.max(0, nowMs - observedMs) / 1000,
      known: status && { figures: databaseFigures(status), restarts },
      rows: distinct(rows).slice(0, given),
      cut: rows.length - Math.min(rows.length, given),
    };
  });
}

function budgetOf(
  fresh: ReadonlyMap<string, DatabaseStatus>,
  seriesMax: number,
): ReadonlyMap<string, number> {
  const counts = [...fresh].map(([key, { cluster }]): [string, number] => [
    key,
    Object.keys(cluster?.processes ?? {}).length,
  ]);
  return processBudget(new Map(counts), seriesMax, seriesOfProcess);
}

/** Two processes with one name would give the same series twice, which Prometheus refuses as a whole. */
function distinct(rows: readonly ProcessRow[]): ProcessRow[] {
  return [...new Map(rows.map((row) => [`${row.process} ${row.processClass}`, row])).values()];
}

function keyOf({ namespace, name }: HeardDatabase): string {
  return `${namespace}/${name}`;
}

function processLabels(labels: Labels, { process, processClass }: ProcessRow): Labels {
  return { ...labels, process: short(process), process_class: processClass };
}

function samples(labels: Labels, readings: readonly Reading[]): Sample[] {
  return readings.flatMap(([more, value]) =>
    value === undefined || !Number.isFinite(value)
      ? []
      : [{ labels: { ...labels, ...more }, value }],
  );
}

function keysOf<T extends object>(record: T): (keyof T)[] {
  return Object.keys(record) as (keyof T)[];
}
