// Gauges of backups, read off the resources and the newest look at the database whenever they are asked for.
// Rules: spec/backup.md [BK99].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { Gauge, Labels, LabelValues, MetricsRegistry } from "../../env/metrics.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
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
  const gauge = (name: string, help: string, more: LabelValues = {}): Gauge =>
    registry.gauge(`fdb_operator_backup_${name}`, help, { namespace: [], name: [], ...more });
  const condition = gauge("condition", "1 when the condition is True.", { condition: [] });
  const blocked = gauge("blocked", "Waits of the backup by reason.", { reason: [] });
  const lag = gauge("lag_seconds", "How far the last restorable point is behind.");
  const bytes = gauge("written_bytes", "Bytes that agents have written since the start.");
  const success = gauge(
    "last_success_timestamp_seconds",
    "When the last run of a schedule that succeeded was seen to have ended.",
  );
  const passed = gauge(
    "last_verified_timestamp_seconds",
    "When the last drill that passed had ended.",
  );
  const failed = gauge("verification_failed", "1 when the last drill has failed.");
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
      const lagMs = source.lagMs(backup);
      // A backup without a restorable point is not up to date: no value is better than 0.
      if (lagMs === undefined) lag.remove(labels);
      else lag.set(labels, lagMs / 1000);
    }
    for (const [key, labels] of shown) {
      if (present.has(key)) continue;
      shown.delete(key);
      for (const each of [condition, blocked, lag, bytes, success, passed, failed]) {
        each.remove(labels);
      }
    }
  });
}
