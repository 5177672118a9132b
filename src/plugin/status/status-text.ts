// The table and the page of `status` as text. Rules: spec/plugin.md [VW11], [VW12].
import { counted } from "../../model/counted.ts";
import { figureRows } from "../database/figures-text.ts";
import { ageMs } from "../explain/page.ts";
import type { ExplainedFact } from "../explain/page.ts";
import { whatText } from "../explain/what.ts";
import { clusterText, renderPage, verdictStyles } from "../explain/text.ts";
import { formatAge, wrap } from "../explain/words.ts";
import { tableLines } from "../text/table.ts";
import type { Cell, Column, Screen } from "../text/table.ts";
import type { StatusPage, StatusRow } from "./status-view.ts";

const columns: readonly Column[] = [
  { title: "NAMESPACE", widthMin: 9 },
  { title: "NAME", widthMin: 20 },
  { title: "STATE" },
  { title: "SERVES", spare: 5 },
  { title: "SOUND", spare: 4 },
  { title: "AS SPECIFIED", spare: 3 },
  { title: "GROUPS", isRight: true, spare: 6 },
  { title: "VERSION", spare: 7 },
  { title: "MODE", spare: 8, widthMin: 6 },
  { title: "AGE", isRight: true, spare: 9 },
  { title: "WHAT", widthMin: 30, spare: 2, isProse: true },
];

export function statusTable(
  rows: readonly StatusRow[],
  { hasNamespaces }: { hasNamespaces: boolean },
  screen: Screen,
): string[] {
  const start = hasNamespaces ? 0 : 1;
  return tableLines(
    columns.slice(start),
    rows.map((row) => cellsOf(row).slice(start)),
    screen,
  );
}

function cellsOf(row: StatusRow): Cell[] {
  const { processGroups, version, redundancyMode, verdict } = row;
  const { wanted, running = wanted } = version;
  const { well, total } = processGroups;
  const age = ageMs(row, row.createdAt);
  return [
    row.namespace,
    row.cluster,
    { text: verdict, style: verdictStyles[verdict] },
    answerCell(row.serving),
    answerCell(row.sound),
    answerCell(row.reconciled),
    `${well}/${Math.max(processGroups.wanted, total)}`,
    running === wanted ? running : `${running}>${wanted}`,
    redundancyMode,
    age === undefined ? "" : formatAge(age),
    whatText(row) || " ",
  ];
}

function answerCell({ answer }: ExplainedFact): Cell {
  if (answer === "yes") return "yes";
  return { text: answer === "unknown" ? "?" : "no", style: answer === "no" ? "red" : "yellow" };
}

const classColumns: readonly Column[] = [
  { title: "CLASS", widthMin: 10 },
  { title: "WANTED", isRight: true },
  { title: "WELL", isRight: true },
  { title: "WITH CONDITIONS", isRight: true },
  { title: "LEAVING", isRight: true },
];

/** What `explain` says of the cluster, with the figures of the database and without what Kubernetes says of each object. */
export function statusText(page: StatusPage, screen: Screen): string {
  const { database, silent, classes, objects, recent, cluster } = page;
  const text = clusterText(page);
  const unasked =
    silent === undefined ? [] : [["Database", `could not be asked: ${silent}`] as const];
  const figures = database === undefined ? [] : figureRows(database);
  const told = (database?.messages ?? []).map((message) => ["It says", message] as const);
  const left = objects.length + recent.length;
  const head = renderPage(
    {
      ...text,
      rows: text.facts.length === 0 ? [] : [...text.rows, ...unasked, ...figures, ...told],
      processGroups: undefined,
      objects: [],
      recent: [],
    },
    screen,
  );
  const rows = classes.map(({ processClass, wanted, total, well, leaving }): Cell[] => {
    const bad = total - well - leaving;
    return [
      processClass,
      String(wanted),
      well < wanted ? { text: String(well), style: "yellow" } : String(well),
      bad > 0 ? { text: String(bad), style: "yellow" } : "0",
      String(leaving),
    ];
  });
  const table = tableLines(classColumns, rows, { ...screen, width: screen.width - 2 });
  const lines = [
    "",
    ...table.map((line) => `  ${line}`),
    ...(left === 0
      ? []
      : [
          "",
          ...wrap(
            `kubectl fdb explain ${cluster} has more: ${moreText(objects.length, recent.length)}.`,
            screen.width,
          ),
        ]),
  ];
  return `${head}${lines.join("\n")}\n`;
}

function moreText(objects: number, events: number): string {
  return [
    ...(objects === 0 ? [] : [`${counted(objects, "object")} that Kubernetes complains of`]),
    ...(events === 0 ? [] : [counted(events, "recent event")]),
  ].join(", ");
}
