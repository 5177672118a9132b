// What backup agents tell of each tag in the status of the database. Their part of the status has no checked shape, and the
// address of a store is left out: there may be a secret in it. Rules: spec/monitoring.md [MON1].
import { figureIn } from "./figure-in.ts";

export interface BackupTagFigures {
  readonly tag: string;
  readonly isRunning: boolean;
  readonly isRestorable: boolean;
  /** How far the last restorable point is behind. */
  readonly lagSeconds?: number;
  readonly rangeBytes?: number;
  readonly logBytes?: number;
}

/** Every tag that was ever used is told for ever; people use a few. */
const tagsMax = 20;

/** Running ones first. */
export function backupTagFigures(layers: unknown): BackupTagFigures[] {
  const tags = recordIn(recordIn(layers, "backup"), "tags");
  return Object.entries(tags ?? {})
    .map(([tag, figures]) => tagFigures(tag, figures))
    .toSorted(
      (left, right) =>
        Number(right.isRunning) - Number(left.isRunning) || (left.tag < right.tag ? -1 : 1),
    )
    .slice(0, tagsMax);
}

function tagFigures(tag: string, figures: unknown): BackupTagFigures {
  const lagSeconds = figureIn(figures, "last_restorable_seconds_behind");
  const rangeBytes = figureIn(figures, "range_bytes_written");
  const logBytes = figureIn(figures, "mutation_log_bytes_written");
  return {
    tag,
    isRunning: isTrueIn(figures, "running_backup"),
    isRestorable: isTrueIn(figures, "running_backup_is_restorable"),
    ...(lagSeconds === undefined ? {} : { lagSeconds }),
    ...(rangeBytes === undefined ? {} : { rangeBytes }),
    ...(logBytes === undefined ? {} : { logBytes }),
  };
}

function recordIn(value: unknown, name: string): object | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return typeof found === "object" && found !== null ? found : undefined;
}

function isTrueIn(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, name) === true;
}
