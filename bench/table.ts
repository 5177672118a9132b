// Plain-text tables: a header, a rule and right-aligned cells.

export interface Column<T> {
  title: string;
  cell: (row: T) => string;
  align?: "left" | "right";
}

export function renderTable<T>(title: string, columns: readonly Column<T>[], rows: readonly T[]) {
  const widths = columns.map((column) =>
    Math.max(column.title.length, ...rows.map((row) => column.cell(row).length)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) =>
        columns[index]?.align === "left"
          ? text.padEnd(widths[index] ?? 0)
          : text.padStart(widths[index] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [
    title,
    line(columns.map((column) => column.title)),
    widths.map((width) => "-".repeat(width)).join("  "),
    ...rows.map((row) => line(columns.map((column) => column.cell(row)))),
    "",
  ].join("\n");
}
