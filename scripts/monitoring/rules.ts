// The rules for Prometheus: recording rules that dashboards use, and all alarms.
import { stringify } from "yaml";
import { backupAlarms } from "./alarms-backup.ts";
import { databaseAlarms } from "./alarms-database.ts";
import { operatorAlarms } from "./alarms-operator.ts";
import { deployment, durations, each, same } from "./alarm.ts";
import type { Alarm, AlarmProof, RecordingRule } from "./alarm.ts";

export const alarms: readonly Alarm[] = [...databaseAlarms, ...backupAlarms, ...operatorAlarms];

export const recordingRules: readonly RecordingRule[] = [
  {
    record: "namespace_name:fdb_database_missing_zone_failures:max",
    labels: ["namespace", "name"],
    expression: () =>
      `max ${each} (fdb_database_desired_tolerated_zone_failures) - ${same} min ${each} (fdb_database_tolerated_zone_failures)`,
  },
  {
    record: "namespace_name:fdb_operator_process_groups_unwell:sum",
    labels: ["namespace", "name"],
    expression: () =>
      `sum ${each} (max by (namespace, name, process_class) (fdb_operator_desired_process_group_total)) - ${same} sum ${each} (max by (namespace, name, process_class) (fdb_operator_process_group_total{condition="Ready"}))`,
  },
  {
    record: "namespace_job:fdb_operator_reconcile_duration_seconds:p99",
    labels: ["namespace", "job"],
    expression: (time) =>
      `histogram_quantile(0.99, sum by (namespace, job, le) (rate(fdb_operator_reconcile_duration_seconds_bucket[${time.span(15)}])))`,
  },
  {
    record: "namespace_job:fdb_operator_reconcile_errors:rate15m",
    labels: ["namespace", "job"],
    expression: (time) =>
      `sum ${deployment} (rate(fdb_operator_reconcile_errors_total[${time.span(15)}]))`,
  },
];

export function runbookOf({ name }: Pick<Alarm, "name">): string {
  return `docs/runbooks/${name}.md`;
}

/** The groups of a rules file; all durations are shorter by the factor. */
export function ruleGroups(factor = 1): object {
  const time = durations(factor);
  const alarmRules = (list: readonly Alarm[]): object[] =>
    list.map((alarm) => ({
      alert: alarm.name,
      expr: alarm.expression(time),
      ...(alarm.forMinutes === 0 ? {} : { for: time.span(alarm.forMinutes) }),
      labels: { severity: alarm.severity },
      annotations: { summary: alarm.summary, runbook_url: runbookOf(alarm) },
    }));
  return {
    groups: [
      {
        name: "foundationdb-recorded",
        rules: recordingRules.map(({ record, expression }) => ({ record, expr: expression(time) })),
      },
      { name: "foundationdb-databases", rules: alarmRules(databaseAlarms) },
      { name: "foundationdb-backups", rules: alarmRules(backupAlarms) },
      { name: "foundationdb-operator", rules: alarmRules(operatorAlarms) },
    ],
  };
}

/** What `promtool test rules` reads: each proof of each alarm is a case of its own. */
export function ruleTests(rulesFile: string): string {
  const tests = alarms.flatMap((alarm) => [
    ...alarm.fires.map((proof) =>
      proofCase(alarm, proof, [
        {
          exp_labels: { severity: alarm.severity, ...(proof.labels ?? alarm.labels) },
          exp_annotations: { summary: proof.says, runbook_url: runbookOf(alarm) },
        },
      ]),
    ),
    ...alarm.quiet.map((proof) => proofCase(alarm, proof, [])),
  ]);
  return yamlText({ rule_files: [rulesFile], evaluation_interval: "1m", tests });
}

function proofCase({ name }: Alarm, proof: AlarmProof, expected: readonly object[]): object {
  return {
    name: `${name}: ${proof.title}`,
    interval: "1m",
    input_series: Object.entries(proof.series).map(([series, values]) => ({ series, values })),
    alert_rule_test: [{ eval_time: `${proof.atMinutes}m`, alertname: name, exp_alerts: expected }],
  };
}

export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
