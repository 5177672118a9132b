// Backups, drills and restores: could what was lost be brought back?
import { each } from "../alarm.ts";
import type { Dashboard, Panel } from "../dashboard.ts";

const legend = "{{namespace}}/{{name}}";
const most = (metric: string): string => `max ${each} (${metric})`;

function graph(title: string, unit: Panel["unit"], expression: string, named = legend): Panel {
  return { title, kind: "graph", unit, queries: [{ expression, legend: named }] };
}

function count(title: string, expression: string, badFrom?: number): Panel {
  return {
    ...{ title, kind: "stat", unit: "short", queries: [{ expression, legend: "" }] },
    ...(badFrom === undefined ? {} : { badFrom }),
  };
}

const condition = (type: string): string =>
  most(`fdb_operator_backup_condition{condition="${type}"}`);

export const backupDashboard: Dashboard = {
  uid: "fdb-backup",
  title: "FoundationDB / backup",
  description: "Backups, drills and restores.",
  choices: [],
  rows: [
    {
      title: "Now",
      panels: [
        count("Backups", `count(${condition("Reconciled")})`),
        count("Run", `sum(${condition("Running")})`),
        count(
          "Run and cannot be restored",
          `sum((${condition("Running")} == 1) and on (namespace, name) (${condition("Restorable")} == 0)) or vector(0)`,
          1,
        ),
        count("Behind", `sum(${condition("Behind")})`, 1),
        count("Drills that failed", `sum(${most("fdb_operator_backup_verification_failed")})`, 1),
        count(
          "Restores that run",
          `sum(${most('fdb_operator_restore_condition{condition="Running"}')}) or vector(0)`,
        ),
      ],
    },
    {
      title: "Backups",
      panels: [
        graph(
          "How far the last restorable point is behind",
          "s",
          most("fdb_operator_backup_lag_seconds"),
        ),
        graph("Written", "bytes", most("fdb_operator_backup_written_bytes")),
        graph(
          "Waits",
          "short",
          "max by (namespace, name, reason) (fdb_operator_backup_blocked) > 0",
          `${legend} {{reason}}`,
        ),
        graph(
          "Since the last run of a schedule that succeeded",
          "s",
          `time() - ${most("fdb_operator_backup_last_success_timestamp_seconds")}`,
        ),
        graph(
          "As agents tell it: behind",
          "s",
          "max by (namespace, name, tag) (fdb_database_backup_lag_seconds)",
          `${legend} {{tag}}`,
        ),
        graph(
          "As agents tell it: written",
          "bytes",
          "sum by (namespace, name, tag) (max by (namespace, name, tag, content) (fdb_database_backup_written_bytes))",
          `${legend} {{tag}}`,
        ),
        graph(
          "As agents tell it: runs",
          "bool",
          "max by (namespace, name, tag) (fdb_database_backup_running)",
          `${legend} {{tag}}`,
        ),
        graph(
          "As agents tell it: can be restored",
          "bool",
          "max by (namespace, name, tag) (fdb_database_backup_restorable)",
          `${legend} {{tag}}`,
        ),
      ],
    },
    {
      title: "Drills",
      panels: [
        graph(
          "Since the last drill that passed",
          "s",
          `time() - ${most("fdb_operator_backup_last_verified_timestamp_seconds")}`,
        ),
        graph("Drills skipped in a row", "short", most("fdb_operator_backup_drills_skipped")),
      ],
    },
    {
      title: "Restores",
      panels: [
        graph("Done", "percentunit", most("fdb_operator_restore_progress_ratio")),
        graph("Written", "bytes", most("fdb_operator_restore_written_bytes")),
        graph(
          "Waits",
          "short",
          "max by (namespace, name, reason) (fdb_operator_restore_blocked) > 0",
          `${legend} {{reason}}`,
        ),
      ],
    },
  ],
};
