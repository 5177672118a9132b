// Tables that fit a terminal: long cells are shortened in the middle, then the columns that matter least are left out.
// Rules: spec/plugin.md [VW2], [VW3].
import { styleText } from "node:util";
import { mostOf } from "../../env/long-lists.ts";

export type Style = Parameters<typeof styleText>[0];

/** What a page may use of the terminal. */
export interface Screen {
  readonly width: number;
  readonly hasColor: boolean;
}

export interface Column {
  readonly title: string;
  readonly isRight?: boolean;
  /** How narrow its cells may be made where there is no room; whole when absent. */
  readonly widthMin?: number;
  /** Words, of which the first tell most; names are shortened in their middle. */
  readonly isProse?: boolean;
  /** The column with the highest number is left out first; one without stays. */
  readonly spare?: number;
}

export type Cell = string | { readonly text: string; readonly style: Style };

const gap = 2;

export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string[] {
  const natural = columns.map(({ title }, at) =>
    mostOf(
      rows.map((row) => shownText(row[at]).length),
      title.length,
    ),
  );
  const { shown, widths } = fitted(columns, natural, screen.width);
  const line = (cells: readonly Cell[]): string =>
    shown
      .map((at, index) => {
        const isLast = index === shown.length - 1;
        return cellText(cells[at], columns[at], widths[at] ?? 0, { screen, isLast });
      })
      .join(" ".repeat(gap))
      .trimEnd();
  const titles = columns.map(({ title }): Cell => ({ text: title, style: "bold" }));
  return [line(titles), ...rows.map(line)];
}

/** Which columns are shown, and how wide each is. */
function fitted(
  columns: readonly Column[],
  natural: readonly number[],
  width: number,
): { shown: number[]; widths: number[] } {
  const shown = columns.map((_, at) => at);
  const least = (at: number): number =>
    Math.min(
      natural[at] ?? 0,
      Math.max(columns[at]?.widthMin ?? Infinity, columns[at]?.title.length ?? 0),
    );
  const total = (of: (at: number) => number): number =>
    shown.reduce((sum, at) => sum + of(at), gap * (shown.length - 1));
  while (total(least) > width) {
    const spares = shown.filter((at) => columns[at]?.spare !== undefined);
    const [first] = spares.toSorted(
      (left, right) => (columns[right]?.spare ?? 0) - (columns[left]?.spare ?? 0) || right - left,
    );
    if (first === undefined) break;
    shown.splice(shown.indexOf(first), 1);
  }
  const widths = [...natural];
  // The widest of the columns that can give way gives way first, so that none is made narrow for nothing.
  for (let over = total((at) => widths[at] ?? 0) - width; over > 0; over -= 1) {
    const wide = shown.filter((at) => (widths[at] ?? 0) > least(at));
    const [widest] = wide.toSorted((left, right) => (widths[right] ?? 0) - (widths[left] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { shown, widths };
}

function cellText(
  cell: Cell | undefined,
  column: Column | undefined,
  width: number,
  { screen, isLast }: { screen: Screen; isLast: boolean },
): string {
  const whole = shownText(cell);
  const text = column?.isProse === true ? cut(whole, width) : shortened(whole, width);
  const room = " ".repeat(Math.max(0, width - text.length));
  const style = typeof cell === "object" ? cell.style : undefined;
  const painted = style === undefined ? text : paint(screen, style, text);
  if (column?.isRight === true) return `${room}${painted}`;
  return isLast ? painted : `${painted}${room}`;
}

function shownText(cell: Cell | undefined): string {
  return (typeof cell === "object" ? cell.text : (cell ?? "")) || "-";
}

/** Names begin and end with what tells them apart, so that the middle is left out. */
export function shortened(text: string, width: number): string {
  if (text.length <= width) return text;
  if (width <= 1) return "…".slice(0, width);
  const head = Math.ceil((width - 1) / 2);
  const tail = width - 1 - head;
  return `${text.slice(0, head)}…${tail === 0 ? "" : text.slice(-tail)}`;
}

/** Of a text the beginning tells most. */
export function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  return width <= 0 ? "" : `${text.slice(0, width - 1).trimEnd()}…`;
}

export function paint({ hasColor }: Pick<Screen, "hasColor">, style: Style, text: string): string {
  return hasColor && text !== "" ? styleText(style, text, { validateStream: false }) : text;
}
