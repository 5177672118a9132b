// Alarms of backups and their drills.
import { cluster, each, ofCluster, same } from "./alarm.ts";
import type { Alarm } from "./alarm.ts";

const condition = (type: string): string =>
  `fdb_operator_backup_condition{${cluster},condition="${type}"}`;
const whose = "{{ $labels.namespace }}/{{ $labels.name }}";

export const backupAlarms: readonly Alarm[] = [
  {
    name: "FoundationDBBackupBehind",
    severity: "warning",
    forMinutes: 15,
    expression: () => `max ${each} (fdb_operator_backup_condition{condition="Behind"}) == 1`,
    summary: `The last restorable point of the backup ${whose} is older than its alarm allows.`,
    labels: ofCluster,
    fires: [
      {
        title: "behind",
        series: { [condition("Behind")]: "1x30" },
        says: "The last restorable point of the backup shop/orders is older than its alarm allows.",
        atMinutes: 20,
      },
    ],
    quiet: [
      { title: "up to date", series: { [condition("Behind")]: "0x30" }, atMinutes: 20 },
      { title: "it catches up", series: { [condition("Behind")]: "0 1x10 0x30" }, atMinutes: 25 },
    ],
  },
  {
    name: "FoundationDBBackupNotRestorable",
    severity: "critical",
    forMinutes: 360,
    expression: () =>
      `max ${each} (fdb_operator_backup_condition{condition="Running"}) == 1 and ${same} max ${each} (fdb_operator_backup_condition{condition="Restorable"}) == 0`,
    summary: `The backup ${whose} runs, and there has been no point for six hours that it could be restored to.`,
    labels: ofCluster,
    fires: [
      {
        title: "it runs for nothing",
        series: { [condition("Running")]: "1x400", [condition("Restorable")]: "0x400" },
        says: "The backup shop/orders runs, and there has been no point for six hours that it could be restored to.",
        atMinutes: 370,
      },
    ],
    quiet: [
      {
        title: "its first snapshot takes an hour",
        series: { [condition("Running")]: "1x400", [condition("Restorable")]: "0x60 1x400" },
        atMinutes: 370,
      },
      {
        title: "it is stopped",
        series: { [condition("Running")]: "0x400", [condition("Restorable")]: "0x400" },
        atMinutes: 370,
      },
    ],
  },
  {
    name: "FoundationDBBackupDrillFailed",
    severity: "critical",
    forMinutes: 0,
    expression: () => `max ${each} (fdb_operator_backup_verification_failed) == 1`,
    summary: `The last drill of the backup ${whose} has failed: nobody knows whether it can be restored.`,
    labels: ofCluster,
    fires: [
      {
        title: "the last one failed",
        series: { [`fdb_operator_backup_verification_failed{${cluster}}`]: "0 1x10" },
        says: "The last drill of the backup shop/orders has failed: nobody knows whether it can be restored.",
        atMinutes: 5,
      },
    ],
    quiet: [
      {
        title: "it passed",
        series: { [`fdb_operator_backup_verification_failed{${cluster}}`]: "0x10" },
        atMinutes: 5,
      },
      {
        title: "the next one passed",
        series: { [`fdb_operator_backup_verification_failed{${cluster}}`]: "0 1x3 0x10" },
        atMinutes: 8,
      },
    ],
  },
  {
    name: "FoundationDBBackupDrillOverdue",
    severity: "warning",
    forMinutes: 0,
    expression: () => `max ${each} (fdb_operator_backup_drills_skipped) >= 2`,
    summary: `The backup ${whose} has had no drill although one was due; skipped in a row: {{ $value }}.`,
    labels: ofCluster,
    fires: [
      {
        title: "two in a row",
        series: { [`fdb_operator_backup_drills_skipped{${cluster}}`]: "0 1 2x10" },
        says: "The backup shop/orders has had no drill although one was due; skipped in a row: 2.",
        atMinutes: 5,
      },
    ],
    quiet: [
      {
        title: "one was skipped",
        series: { [`fdb_operator_backup_drills_skipped{${cluster}}`]: "0 1x10 0x10" },
        atMinutes: 5,
      },
      {
        title: "two were skipped, and then there was one",
        series: { [`fdb_operator_backup_drills_skipped{${cluster}}`]: "0 1 2 0x20" },
        atMinutes: 10,
      },
    ],
  },
];
