// The figures of operations on a running cluster as a table, each beside the Go operator's and
// marked where there is an aim.
import { mark } from "./aims.ts";
import { goFiguresOf, operationLimits } from "./operation-aims.ts";
import type { GoFigures, Range } from "./operation-aims.ts";
import type { OperationRun } from "./operation-run.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";

const none = "-";

export function operationsTable(runs: readonly OperationRun[]): string {
  const columns: Column<OperationRun>[] = [
    { title: "groups", cell: ({ groups }) => String(groups) },
    { title: "operation", align: "left", cell: ({ name }) => name },
    ...counted("requests"),
    ...counted("statusWrites", "status writes"),
    { title: "recoveries", cell: ({ recoveries }) => decimal(recoveries) },
    { title: "Go", cell: goCell("recoveries") },
    { title: "aim", cell: limitCell("recoveries") },
    { title: "reconciled s", cell: (run) => seconds(run.reconciledSeconds) },
    { title: "Go", cell: goCell("reconciled") },
    { title: "clean s", cell: (run) => seconds(run.cleanSeconds, "never") },
    { title: "Go", cell: goCell("clean") },
    { title: "", align: "left", cell: markOf },
  ];
  return renderTable("Operations on a running cluster (virtual time)", columns, runs);
}

function counted(
  field: "requests" | "statusWrites",
  title: string = field,
): Column<OperationRun>[] {
  return [
    { title, cell: (run) => String(run[field]) },
    { title: "Go", cell: goCell(field) },
    { title: "aim", cell: limitCell(field) },
  ];
}

interface Group {
  title: string;
  matches: RegExp;
}

const requestGroups: readonly Group[] = [
  { title: "pods made", matches: /^create pods$/ },
  { title: "deleted", matches: /^delete pods$/ },
  { title: "changed", matches: /^(patch|update) pods$/ },
  { title: "volumes", matches: / persistentvolumeclaims$/ },
  { title: "config maps", matches: / configmaps$/ },
  { title: "events", matches: / events$/ },
  { title: "status", matches: / foundationdbclusters\/status$/ },
];

/** Where the requests go: the same figures by kind. */
export function requestsTable(runs: readonly OperationRun[]): string {
  const sum = ({ requestsByKind }: OperationRun, matches: (key: string) => boolean): string =>
    String(
      Object.entries(requestsByKind).reduce(
        (total, [key, count]) => total + (matches(key) ? count : 0),
        0,
      ),
    );
  const columns: Column<OperationRun>[] = [
    { title: "groups", cell: ({ groups }) => String(groups) },
    { title: "operation", align: "left", cell: ({ name }) => name },
    ...requestGroups.map(({ title, matches }) => ({
      title,
      cell: (run: OperationRun) => sum(run, (key) => matches.test(key)),
    })),
    {
      title: "others",
      cell: (run) => sum(run, (key) => !requestGroups.some(({ matches }) => matches.test(key))),
    },
  ];
  return renderTable("Their requests by kind", columns, runs);
}

function goCell(field: keyof GoFigures): (run: OperationRun) => string {
  return (run) => {
    const range: Range | undefined = goFiguresOf(run)?.[field];
    if (range === undefined) return none;
    const [least, most] = range;
    return least === most ? String(least) : `${least}-${most}`;
  };
}

function limitCell(
  field: "requests" | "statusWrites" | "recoveries",
): (run: OperationRun) => string {
  return (run) => {
    const limit = operationLimits(run)[field];
    return limit === undefined ? none : `<= ${decimal(limit)}`;
  };
}

function markOf(run: OperationRun): string {
  const judged = operationAims([run]);
  const missed = judged.filter(({ isMet }) => !isMet);
  if (missed.length === 0) return judged.length === 1 ? "" : mark(true);
  return `${mark(false)}: ${missed.map(({ what }) => what.split(", ").at(-1)).join(", ")}`;
}

/** Every operation has to come to its end; some figures have a limit besides. */
export function operationAims(runs: readonly OperationRun[]): Aim[] {
  return runs.flatMap((run) => {
    const name = `${run.name} at ${run.groups}`;
    const isUnfinished = run.cleanSeconds === undefined;
    const limits = operationLimits(run);
    const judge = (field: "requests" | "statusWrites" | "recoveries", what: string): Aim[] => {
      const limit = limits[field];
      const value = run[field];
      return limit === undefined
        ? []
        : [{ what: `${name}, ${what}`, value, limit, isMet: value <= limit }];
    };
    return [
      { what: `${name}, unfinished`, value: Number(isUnfinished), limit: 0, isMet: !isUnfinished },
      ...judge("requests", "requests"),
      ...judge("statusWrites", "status writes"),
      ...judge("recoveries", "recoveries"),
    ];
  });
}

/** What unfinished operations wait for. */
export function unfinishedLines(runs: readonly OperationRun[]): string {
  return runs
    .filter(({ waitsFor }) => waitsFor !== undefined)
    .map(({ groups, name, waitsFor }) => `${name} at ${groups} waits for ${waitsFor}`)
    .join("\n");
}

function decimal(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

function seconds(value: number | undefined, absent = none): string {
  return value === undefined
    ? absent
    : value.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

export const operationFootnotes = `\
Operations aim at half of the middle of the Go operator's requests and status writes (2.33.0 on a
real API server and a real, empty database, 15 processes; "-" where it was not measured). A knob
change grows with the cluster: its requests were measured at 15 and 40 processes (35 to 53, and 90),
are interpolated between them and taken per process beyond; it may take a status write and an event
more, for the process group that proves it before all others. The other operations are the same work
at any size. Requests are those from the change until two minutes after the cluster is clean, events
included, watches and leases not; a recovery is two generations of the database. Reconciled: the
newest generation is in force, as stored; clean: besides no process group has a condition or is on
its way out, and each has a pod that is ready. Operations follow one another with fifteen quiet
minutes between them; the database holds 120 MB and the pod whose coordinator is lost is a log.
The Go operator's coordinator was a storage pod; both upgrades have no figures of it.`;
