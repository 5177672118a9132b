// `top` as text: two lines about the database, then a table that fits the terminal. Rules: spec/plugin.md [VW7], [VW8].
import { figureRows } from "../database/figures-text.ts";
import type { ProcessRow } from "../../model/process-row.ts";
import { partsLine } from "../text/parts.ts";
import type { Part } from "../text/parts.ts";
import { rolesText } from "../text/roles.ts";
import { cut, tableLines } from "../text/table.ts";
import type { Cell, Column, Screen, Style } from "../text/table.ts";
import { bytesText, coresText, percentText, secondsText, unknownText } from "../text/units.ts";
import type { TopView } from "./top-view.ts";

export interface TopFrame {
  readonly title: string;
  /** The time of the figures. */
  readonly asOf: string;
  /** Lines that there is room for; the table is cut, not the head. */
  readonly heightMax?: number;
}

const shownRows = ["Load", "Latency", "Data", "Behind", "Held back"];

const columns: readonly Column[] = [
  { title: "PROCESS", widthMin: 14 },
  { title: "CLASS", widthMin: 9, spare: 3 },
  { title: "ROLES", widthMin: 12, spare: 1, isProse: true },
  { title: "CPU", isRight: true },
  { title: "BUSY", isRight: true, spare: 6 },
  { title: "MEMORY", isRight: true },
  { title: "DISK", isRight: true },
  { title: "FREE", isRight: true, spare: 5 },
  { title: "STORED", isRight: true, spare: 7 },
  { title: "QUEUE", isRight: true },
  { title: "LAG", isRight: true },
  { title: "ZONE", widthMin: 14, spare: 8 },
  { title: "NOTES", widthMin: 8, spare: 2, isProse: true },
];

export function topLines(view: TopView, frame: TopFrame, screen: Screen): string[] {
  const head = headLines(view, frame, screen);
  const room = Math.max(1, (frame.heightMax ?? Infinity) - head.length - 2);
  const { processes } = view;
  // The last line of a table that is cut says so.
  const shown = processes.length <= room + 1 ? processes : processes.slice(0, room);
  const hasNotes = shown.some(({ notes }) => notes.length > 0);
  const used = hasNotes ? columns : columns.slice(0, -1);
  const rest = processes.length - shown.length;
  return [
    ...head,
    ...(processes.length === 0
      ? ["The database reports no such process."]
      : tableLines(used, shown.map(cellsOf), screen)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}

function headLines({ database }: TopView, { title, asOf }: TopFrame, screen: Screen): string[] {
  const { isAvailable, redundancyMode = "", storageEngine = "", recovery = "" } = database;
  const what = [redundancyMode, storageEngine].filter((text) => text !== "").join(", ");
  const why = recovery === "" ? "" : ` (${recovery.replaceAll("_", " ")})`;
  const head: Part[] = [
    { text: title, style: "bold" },
    isAvailable
      ? { text: "serves", style: "green" }
      : { text: `does not serve${why}`, style: "red" },
    { text: what },
    { text: asOf },
  ];
  const rows = figureRows(database).filter(([label]) => shownRows.includes(label));
  return [
    partsLine(
      head.filter(({ text }) => text !== ""),
      screen,
    ),
    ...rows.map(([label, text]) => cut(`  ${label.padEnd(11)}${text}`, screen.width)),
    "",
  ];
}

function cellsOf(row: ProcessRow): Cell[] {
  const { memoryBytes, memoryLimitBytes = 0, diskFreeBytes, diskTotalBytes = 0 } = row;
  const free =
    diskFreeBytes === undefined || diskTotalBytes === 0
      ? undefined
      : diskFreeBytes / diskTotalBytes;
  return [
    row.process,
    row.processClass,
    rolesText(row),
    marked(coresText(row.cpuCores), row.cpuCores, 0.8, 0.95),
    marked(percentText(row.runLoopBusy), row.runLoopBusy, 0.7, 0.9),
    marked(
      bytesText(memoryBytes),
      memoryLimitBytes === 0 ? undefined : (memoryBytes ?? 0) / memoryLimitBytes,
      ...([0.8, 0.95] as const),
    ),
    marked(percentText(row.diskBusy), row.diskBusy, 0.8, 0.95),
    marked(percentText(free), free === undefined ? undefined : 1 - free, 0.8, 0.9),
    bytesText(row.storedBytes),
    // Storage servers are slowed down from about a gigabyte on.
    marked(bytesText(row.queueBytes), row.queueBytes, 500e6, 900e6),
    marked(lagText(row), row.lagSeconds, 5, 60),
    row.zone,
    row.notes.length === 0 ? " " : { text: row.notes.join(", "), style: "yellow" },
  ];
}

function lagText({ lagSeconds }: ProcessRow): string {
  return lagSeconds === undefined ? unknownText : secondsText(lagSeconds);
}

function marked(text: string, figure: number | undefined, high: number, veryHigh: number): Cell {
  const style = styleOf(figure, high, veryHigh);
  return style === undefined ? text : { text, style };
}

function styleOf(figure: number | undefined, high: number, veryHigh: number): Style | undefined {
  if (figure === undefined || figure < high) return undefined;
  return figure >= veryHigh ? "red" : "yellow";
}
