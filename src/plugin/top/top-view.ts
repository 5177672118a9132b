// `kubectl fdb top`: the processes of a database with what each of them does, the busiest first. Pure.
// Rules: spec/plugin.md [VW7], [VW8].
import type { DatabaseStatus } from "../../model/database-status.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import type { DatabaseFigures } from "../../model/database-figures.ts";
import { byText, processRows } from "../../model/process-row.ts";
import type { ProcessRow } from "../../model/process-row.ts";

export const sortKeys = ["cpu", "memory", "disk", "free", "queue", "lag", "name"] as const;

export type SortKey = (typeof sortKeys)[number];

export interface TopView {
  readonly database: DatabaseFigures;
  readonly sortedBy: SortKey;
  readonly processes: readonly ProcessRow[];
}

export interface TopChoice {
  readonly sort: SortKey;
  /** Processes of this class alone. */
  readonly processClass?: string;
}

export function topView(status: DatabaseStatus, { sort, processClass }: TopChoice): TopView {
  const rows = processRows(status).filter(
    (row) => processClass === undefined || row.processClass === processClass,
  );
  return { database: databaseFigures(status), sortedBy: sort, processes: sorted(rows, sort) };
}

/** What is not known comes last, and what is equal in the order of names. */
function sorted(rows: readonly ProcessRow[], key: SortKey): ProcessRow[] {
  if (key === "name") return [...rows];
  const figure = figures[key];
  return rows.toSorted(
    (left, right) =>
      (figure(right) ?? -Infinity) - (figure(left) ?? -Infinity) ||
      byText(left.process, right.process),
  );
}

const figures: Readonly<Record<Exclude<SortKey, "name">, (row: ProcessRow) => number | undefined>> =
  {
    cpu: ({ cpuCores }) => cpuCores,
    memory: ({ memoryBytes }) => memoryBytes,
    disk: ({ diskBusy }) => diskBusy,
    // The fullest first.
    free: ({ diskFreeBytes, diskTotalBytes }) =>
      diskFreeBytes === undefined || !diskTotalBytes
        ? undefined
        : 1 - diskFreeBytes / diskTotalBytes,
    queue: ({ queueBytes }) => queueBytes,
    lag: ({ lagSeconds }) => lagSeconds,
  };
