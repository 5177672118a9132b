// All metrics that the operator serves, by subject, and what their labels mean: the manual is made of this, and no dashboard
// and no rule may ask for anything else. Rules: spec/monitoring.md [MON2].
import type { MetricDescription } from "../../env/metric-description.ts";
import { databaseProcessMetrics } from "./database-process.ts";
import { databaseMetrics, hearingMetrics } from "./database.ts";
import { processMetrics, runtimeMetrics, workMetrics } from "./operator.ts";
import { backupMetrics, clusterMetrics, restoreMetrics } from "./resources.ts";

export interface MetricSubject {
  readonly title: string;
  /** Where these metrics come from, for people. */
  readonly source: string;
  readonly metrics: readonly MetricDescription[];
}

export const metricCatalogue: readonly MetricSubject[] = [
  {
    title: "Databases",
    source:
      "From the status of each database, which the operator reads anyway. With `--database-metrics off` there are none of these. Only the instance that works serves them.",
    metrics: [...Object.values(hearingMetrics), ...Object.values(databaseMetrics)],
  },
  {
    title: "Processes of databases",
    source:
      "From the same status, with `--database-metrics process` only. `--process-series-max` bounds how many there are.",
    metrics: Object.values(databaseProcessMetrics),
  },
  {
    title: "Clusters",
    source: "From the FoundationDBCluster resources. Every instance serves them.",
    metrics: Object.values(clusterMetrics),
  },
  {
    title: "Backups",
    source: "From the FoundationDBBackup resources. Every instance serves them.",
    metrics: Object.values(backupMetrics),
  },
  {
    title: "Restores",
    source: "From the FoundationDBRestore resources. Every instance serves them.",
    metrics: Object.values(restoreMetrics),
  },
  {
    title: "Work of the operator",
    source: "Counted since the start of the instance.",
    metrics: Object.values(workMetrics),
  },
  {
    title: "Kubernetes and FoundationDB as the operator sees them",
    source: "From the running instance.",
    metrics: Object.values(runtimeMetrics),
  },
  {
    title: "The process of the operator",
    source:
      "From the running instance, under the names that Prometheus' own clients use where there are any.",
    metrics: Object.values(processMetrics),
  },
];

export const allMetrics: readonly MetricDescription[] = metricCatalogue.flatMap(
  ({ metrics }) => metrics,
);

export const labelMeanings: Readonly<Record<string, string>> = {
  bucket: "Name of a replacement bucket.",
  code: "HTTP status of the answer.",
  condition: "Type of a condition.",
  content: "`range` for snapshots, `log` for mutations.",
  factor: "The name that FoundationDB gives to what limits transactions.",
  feature: "A feature of the operator.",
  kind: "Kind of a Kubernetes object.",
  name: "Name of the resource.",
  namespace: "Namespace of the resource.",
  operation: "`read` or `write`; of latencies also `start` and `commit`.",
  outcome: "How it ended.",
  process:
    "The process, as its locality `process_id` names it, or its address; of a client process its number.",
  process_class: "Class of the process.",
  process_group: "Id of a process group.",
  queue: "`clusters`, `backups` or `restores`.",
  reason: "Reason of a wait: [docs/errors.md](../errors.md) has them all.",
  resource: "Resource of the Kubernetes API, with its subresource.",
  role: "Role of a process.",
  set: "A coordination set.",
  state: "The name that FoundationDB gives to a state; of moving data `in_flight` or `in_queue`.",
  status_type: "`available`, `health`, `replication` or `datamovementpriority`.",
  step: "Step of a pass.",
  tag: "Tag of a backup inside the database.",
  type: "Type of an action.",
  use: "`shared`, or `quarantine` for databases that are kept apart from others.",
  verb: "What was asked of the API server.",
  version: "A version.",
  without_losing: "`data` or `availability`.",
};
