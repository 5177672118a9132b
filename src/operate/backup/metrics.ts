// Gauges of backups, read off the resources and the newest look at the database whenever they are asked for.
// Rules: spec/backup.md [BK99].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { Labels, MetricsRegistry } from "../../env/metrics.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import { backupMetrics } from "../../model/metrics/resources.ts";
import { backupWaitReasons } from "../../plan/reasons/registry.ts";

export interface BackupMetricsSource {
  backups: () => readonly Stored<FoundationDBBackup>[];
  /** How far the last restorable point is behind; undefined when that is not known. */
  lagMs: (backup: Stored<FoundationDBBackup>) => number | undefined;
}

const conditions = [
  "Reconciled",
  "Running",
  "Restorable",
  "Behind",
  "Expired",
  "Verified",
] as const;
const reasons = [
  ...backupWaitReasons,
  "ActionFailed",
  "DatabaseNotReady",
  "DatabaseUnreachable",
  "InvalidSpec",
];

/** Every gauge has a value for each backup that exists, and none for one that is gone. */
export function registerBackupMetrics(
  registry: MetricsRegistry,
  source: BackupMetricsSource,
): void {
  const condition = registry.gauge(backupMetrics.condition);
  const blocked = registry.gauge(backupMetrics.blocked);
  const lag = registry.gauge(backupMetrics.lag);
  const bytes = registry.gauge(backupMetrics.bytes);
  const success = registry.gauge(backupMetrics.success);
  const passed = registry.gauge(backupMetrics.passed);
  const failed = registry.gauge(backupMetrics.failed);
  const skipped = registry.gauge(backupMetrics.skipped);
  const shown = new Map<string, Labels>();
  registry.onCollect(() => {
    const present = new Set<string>();
    for (const backup of source.backups()) {
      const { namespace = "", name = "" } = backup.metadata;
      const labels = { namespace, name };
      present.add(`${namespace}/${name}`);
      shown.set(`${namespace}/${name}`, labels);
      const { status = {} } = backup;
      for (const type of conditions) {
        const isTrue = status.conditions?.some(
          (each) => each.type === type && each.status === "True",
        );
        condition.set({ ...labels, condition: type }, isTrue === true ? 1 : 0);
      }
      for (const reason of reasons) {
        const own = (status.blockedBy ?? []).filter((wait) => wait.reason === reason);
        blocked.set({ ...labels, reason }, own.length);
      }
      bytes.set(labels, status.bytes?.total ?? 0);
      const succeededMs = parseTime(status.lastSuccess);
      if (succeededMs === undefined) success.remove(labels);
      else success.set(labels, succeededMs / 1000);
      const { lastVerification } = status;
      const passedMs = parseTime(lastVerification?.lastPassed);
      if (passedMs === undefined) passed.remove(labels);
      else passed.set(labels, passedMs / 1000);
      failed.set(labels, lastVerification?.result === "Failed" ? 1 : 0);
      skipped.set(labels, status.verification?.skipped?.count ?? 0);
      const lagMs = source.lagMs(backup);
      // A backup without a restorable point is not up to date: no value is better than 0.
      if (lagMs === undefined) lag.remove(labels);
      else lag.set(labels, lagMs / 1000);
    }
    for (const [key, labels] of shown) {
      if (present.has(key)) continue;
      shown.delete(key);
      for (const each of [condition, blocked, lag, bytes, success, passed, failed, skipped]) {
        each.remove(labels);
      }
    }
  });
}
