// Metrics that are read off the resources: clusters, backups, restores. Names that dashboards of the Go operator know are kept.
import { gaugeOf } from "../../env/metric-description.ts";
import type { MetricDescription } from "../../env/metric-description.ts";

const ofResource =
  (prefix: string) =>
  (name: string, help: string, more: readonly string[] = []): MetricDescription =>
    gaugeOf(`${prefix}${name}`, help, ["namespace", "name", ...more]);

const gauge = ofResource("fdb_operator_");

export const clusterMetrics = {
  created: gauge("cluster_created_time", "Unix time of the resource's creation."),
  status: gauge("cluster_status", "What the database says of itself.", ["status_type"]),
  configured: gauge("cluster_configured", "1 when the database of the cluster was created."),
  hibernated: gauge("cluster_hibernated", "1 while the database is stopped by spec.hibernate."),
  latest: gauge("cluster_latest_reconciled_status", "The last generation that was reconciled."),
  reconciled: gauge("cluster_reconciled_status", "1 when the newest generation is reconciled."),
  upgrading: gauge(
    "cluster_upgrading",
    "1 while the database runs another version than the spec names.",
  ),
  toRemove: gauge("process_groups_to_remove_total", "Process groups that the spec names to go."),
  toRemoveAtOnce: gauge(
    "process_group_to_remove_without_exclusion_total",
    "Process groups that the spec names to go without exclusion.",
  ),
  groups: gauge("process_group_total", "Process groups by class and condition.", [
    "process_class",
    "condition",
  ]),
  marked: gauge("process_group_marked_removal", "Process groups marked for removal.", [
    "process_class",
  ]),
  excluded: gauge("process_group_marked_excluded", "Excluded process groups.", ["process_class"]),
  desired: gauge("desired_process_group_total", "Wanted process groups.", ["process_class"]),
  certificateExpiry: gauge(
    "certificate_expiry_timestamp_seconds",
    "When the first certificate of the cluster's processes expires, as they show it.",
  ),
  certificateOutdated: gauge(
    "certificate_outdated",
    "1 while a process shows an older certificate than others.",
  ),
  setSize: gauge("coordination_entries", "Entries of all instances in a coordination set.", [
    "set",
  ]),
  setAge: gauge(
    "coordination_oldest_entry_seconds",
    "How long this instance has seen the oldest entry of a coordination set.",
    ["set"],
  ),
  blocked: gauge("blocked", "What the cluster waits for, by reason.", ["reason"]),
  waitAge: gauge("wait_age_seconds", "How long the oldest wait of a reason lasts.", ["reason"]),
  needsPerson: gauge(
    "needs_person_seconds",
    "How long the oldest wait lasts that only a person can end; 0 when there is none.",
  ),
  bucketLimit: gauge("replacement_bucket_limit", "Replacements that a bucket takes at a time.", [
    "bucket",
  ]),
  bucketUsed: gauge("replacement_bucket_used", "Places of a bucket that are taken.", ["bucket"]),
  bucketHolder: gauge("replacement_bucket_holder", "1 for each process group in a bucket.", [
    "bucket",
    "process_group",
  ]),
} as const;

const backup = ofResource("fdb_operator_backup_");

export const backupMetrics = {
  condition: backup("condition", "1 when the condition is True.", ["condition"]),
  blocked: backup("blocked", "Waits of the backup by reason.", ["reason"]),
  lag: backup("lag_seconds", "How far the last restorable point is behind."),
  bytes: backup("written_bytes", "Bytes that agents have written since the start."),
  success: backup(
    "last_success_timestamp_seconds",
    "When the last run of a schedule that succeeded was seen to have ended.",
  ),
  passed: backup("last_verified_timestamp_seconds", "When the last drill that passed had ended."),
  failed: backup("verification_failed", "1 when the last drill has failed."),
  skipped: backup(
    "drills_skipped",
    "Drills in a row that were due and were not made; 0 where none are wanted.",
  ),
} as const;

const restore = ofResource("fdb_operator_restore_");

export const restoreMetrics = {
  condition: restore("condition", "1 when the condition is True.", ["condition"]),
  blocked: restore("blocked", "Waits of the restore by reason.", ["reason"]),
  progress: restore("progress_ratio", "How much of the backup's files was restored, 0 to 1."),
  bytes: restore("written_bytes", "Bytes that the restore has written."),
} as const;
