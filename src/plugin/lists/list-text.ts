// The tables of backups and of restores. Rules: spec/plugin.md [VW17].
import { ageMs } from "../explain/page.ts";
import { verdictStyles } from "../explain/text.ts";
import { whatText } from "../explain/what.ts";
import { formatAge } from "../explain/words.ts";
import { tableLines } from "../text/table.ts";
import type { Cell, Column, Screen } from "../text/table.ts";
import type { BackupRow, RestoreRow } from "./list-views.ts";

interface ListOptions {
  readonly hasNamespaces: boolean;
}

const backupColumns: readonly Column[] = [
  { title: "NAMESPACE", widthMin: 9 },
  { title: "NAME", widthMin: 12 },
  { title: "CLUSTER", widthMin: 8, spare: 3 },
  { title: "TAG", widthMin: 6, spare: 7 },
  { title: "STATE", spare: 1 },
  { title: "RESTORABLE FROM", spare: 6 },
  { title: "RESTORABLE TO" },
  { title: "BEHIND", isRight: true, spare: 4 },
  { title: "NEXT RUN", spare: 5 },
  { title: "WHAT", widthMin: 12, spare: 2, isProse: true },
];

export function backupTable(
  rows: readonly BackupRow[],
  { hasNamespaces }: ListOptions,
  screen: Screen,
): string[] {
  return table(backupColumns, rows.map(backupCells), hasNamespaces, screen);
}

function backupCells(row: BackupRow): Cell[] {
  return [
    row.namespace,
    row.backup,
    row.cluster,
    row.tag,
    { text: row.state ?? row.verdict, style: verdictStyles[row.verdict] },
    row.restorableFrom ?? "",
    row.restorableTo ?? "",
    row.behind ?? "",
    row.nextRun ?? "",
    whatText(row) || " ",
  ];
}

const restoreColumns: readonly Column[] = [
  { title: "NAMESPACE", widthMin: 9 },
  { title: "NAME", widthMin: 12 },
  { title: "INTO", widthMin: 8 },
  { title: "STATE" },
  { title: "DONE", isRight: true, spare: 1 },
  { title: "TARGET", spare: 3 },
  { title: "STARTED", isRight: true, spare: 5 },
  { title: "EXPECTED", spare: 4 },
  { title: "WHAT", widthMin: 12, spare: 2, isProse: true },
];

export function restoreTable(
  rows: readonly RestoreRow[],
  { hasNamespaces }: ListOptions,
  screen: Screen,
): string[] {
  return table(restoreColumns, rows.map(restoreCells), hasNamespaces, screen);
}

function restoreCells(row: RestoreRow): Cell[] {
  const { percent, startTime, endTime } = row;
  const age = ageMs(row, startTime);
  const isDone = endTime !== undefined && row.verdict === "healthy";
  const done = isDone ? "100%" : percent === undefined ? "" : `${percent}%`;
  return [
    row.namespace,
    row.restore,
    row.destination,
    { text: row.state ?? row.verdict, style: verdictStyles[row.verdict] },
    done,
    row.target ?? "",
    age === undefined ? "" : `${formatAge(age)} ago`,
    endTime === undefined ? (row.eta ?? "") : "",
    whatText(row) || " ",
  ];
}

function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  hasNamespaces: boolean,
  screen: Screen,
): string[] {
  const start = hasNamespaces ? 0 : 1;
  return tableLines(
    columns.slice(start),
    rows.map((row) => row.slice(start)),
    screen,
  );
}
