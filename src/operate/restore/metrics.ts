// Gauges of restores, read off the resources whenever they are asked for. Rules: spec/restore.md [RS84].
import { conditionIn } from "../../kube/condition.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { Labels, MetricsRegistry } from "../../env/metrics.ts";
import type { Stored } from "../../kube/resource.ts";
import { restoreMetrics } from "../../model/metrics/resources.ts";
import { backupWaitReasons, restoreWaitReasons } from "../../plan/reasons/registry.ts";

const conditions = ["Reconciled", "Running", "Completed"] as const;
const reasons = [
  ...backupWaitReasons,
  ...restoreWaitReasons,
  "ActionFailed",
  "DatabaseNotReady",
  "DatabaseUnreachable",
  "InvalidSpec",
  "PodTemplateUnusable",
];

/** Every gauge has a value for each restore that exists, and none for one that is gone. */
export function registerRestoreMetrics(
  registry: MetricsRegistry,
  restores: () => readonly Stored<FoundationDBRestore>[],
): void {
  const condition = registry.gauge(restoreMetrics.condition);
  const blocked = registry.gauge(restoreMetrics.blocked);
  const progress = registry.gauge(restoreMetrics.progress);
  const bytes = registry.gauge(restoreMetrics.bytes);
  const shown = new Map<string, Labels>();
  registry.onCollect(() => {
    const present = new Set<string>();
    for (const { metadata, status = {} } of restores()) {
      const { namespace = "", name = "" } = metadata;
      const labels = { namespace, name };
      present.add(`${namespace}/${name}`);
      shown.set(`${namespace}/${name}`, labels);
      for (const type of conditions) {
        const found = conditionIn(status, type);
        condition.set({ ...labels, condition: type }, found?.status === "True" ? 1 : 0);
      }
      for (const reason of reasons) {
        const own = (status.blockedBy ?? []).filter((wait) => wait.reason === reason);
        blocked.set({ ...labels, reason }, own.length);
      }
      progress.set(labels, (status.progress?.percent ?? 0) / 100);
      bytes.set(labels, status.progress?.bytes ?? 0);
    }
    for (const [key, labels] of shown) {
      if (present.has(key)) continue;
      shown.delete(key);
      for (const each of [condition, blocked, progress, bytes]) each.remove(labels);
    }
  });
}
