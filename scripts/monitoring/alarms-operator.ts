// Alarms of the operator itself: without it nobody looks after the databases.
import { deployment, ofDeployment, operator } from "./alarm.ts";
import type { Alarm } from "./alarm.ts";

const leading = (pod: string): string => `fdb_operator_leading{${operator},pod="${pod}"}`;

export const operatorAlarms: readonly Alarm[] = [
  {
    name: "FoundationDBOperatorNotLeading",
    severity: "critical",
    forMinutes: 5,
    expression: () =>
      `max ${deployment} (fdb_operator_leading) == 0 or absent(fdb_operator_leading)`,
    summary: "No instance of the operator works: lost pods stay lost, and nothing is changed.",
    labels: ofDeployment,
    fires: [
      {
        title: "all of them wait",
        series: { [leading("a")]: "0x20", [leading("b")]: "0x20" },
        says: "No instance of the operator works: lost pods stay lost, and nothing is changed.",
        atMinutes: 10,
      },
      {
        title: "there is none",
        series: {},
        says: "No instance of the operator works: lost pods stay lost, and nothing is changed.",
        labels: {},
        atMinutes: 10,
      },
    ],
    quiet: [
      {
        title: "one of two leads",
        series: { [leading("a")]: "1x20", [leading("b")]: "0x20" },
        atMinutes: 10,
      },
      {
        title: "another one takes over",
        series: { [leading("a")]: "1x5 0x20", [leading("b")]: "0x6 1x20" },
        atMinutes: 15,
      },
    ],
  },
  {
    name: "FoundationDBOperatorPassesFailing",
    severity: "warning",
    forMinutes: 5,
    expression: (time) =>
      `sum ${deployment} (increase(fdb_operator_reconcile_errors_total[${time.span(15)}])) > 5`,
    summary:
      "Passes of the operator end with errors: {{ $value | humanize }} within 15 minutes. Its log says why.",
    labels: ofDeployment,
    fires: [
      {
        title: "one a minute",
        series: { [`fdb_operator_reconcile_errors_total{${operator}}`]: "0+1x40" },
        says: "Passes of the operator end with errors: 15 within 15 minutes. Its log says why.",
        atMinutes: 25,
      },
    ],
    quiet: [
      {
        title: "a conflict now and then",
        series: { [`fdb_operator_reconcile_errors_total{${operator}}`]: "0x10 1x10 2x30" },
        atMinutes: 25,
      },
      {
        title: "a bad minute, a while ago",
        series: { [`fdb_operator_reconcile_errors_total{${operator}}`]: "0x2 20x40" },
        atMinutes: 25,
      },
    ],
  },
  {
    name: "FoundationDBOperatorWatchStale",
    severity: "warning",
    forMinutes: 5,
    expression: () => `max by (namespace, job, kind) (fdb_operator_watch_age_seconds) > 300`,
    summary:
      "The operator has heard nothing of {{ $labels.kind }} objects for {{ $value | humanizeDuration }}: it acts on an old view, or not at all.",
    labels: { ...ofDeployment, kind: "Pod" },
    fires: [
      {
        title: "silence",
        series: { [`fdb_operator_watch_age_seconds{${operator},kind="Pod"}`]: "0+60x30" },
        says: "The operator has heard nothing of Pod objects for 15m 0s: it acts on an old view, or not at all.",
        atMinutes: 15,
      },
    ],
    quiet: [
      {
        title: "a word every minute",
        series: { [`fdb_operator_watch_age_seconds{${operator},kind="Pod"}`]: "60x30" },
        atMinutes: 15,
      },
      {
        title: "a silence that ends",
        series: { [`fdb_operator_watch_age_seconds{${operator},kind="Pod"}`]: "0+60x8 0x20" },
        atMinutes: 12,
      },
    ],
  },
];
