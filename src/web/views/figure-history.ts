// The figures of the last minutes: a ring of looks at a database. A look without an answer leaves a gap.
// Rules: spec/web.md [WEB6].
import { figurePlots } from "../figure-names.ts";
import type { FigureName } from "../figure-names.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import type { DatabaseFigures } from "../../model/database-figures.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";
import type { FiguresModel } from "../view-model.ts";

export const pointsMax = 360;

const names: readonly FigureName[] = figurePlots.flatMap(({ series }) =>
  series.map(({ name }) => name),
);

export const noFigures: FiguresModel = { timesMs: [], series: {} };

/** With one more look, and without the oldest when there are too many. */
export function withLook(
  history: FiguresModel,
  answer: DatabaseAnswer,
  atMs: number,
): FiguresModel {
  const latest = answer.kind === "answered" ? databaseFigures(answer.status) : undefined;
  const last = latest ?? history.last;
  const length = history.timesMs.length;
  const series = names.flatMap((name) => {
    const known = history.series[name];
    const value = rounded(valueOf(latest, name));
    if (known === undefined && value === null) return [];
    const before = known ?? Array.from({ length }, () => null);
    return [[name, [...before, value].slice(-pointsMax)] as const];
  });
  return {
    ...(answer.kind === "silent" ? { silent: answer.why } : {}),
    ...(last === undefined ? {} : { last: withoutAges(last) }),
    timesMs: [...history.timesMs, atMs].slice(-pointsMax),
    series: Object.fromEntries(series),
  };
}

/** A database that tells of no process does not tell how many there are. */
function valueOf(latest: DatabaseFigures | undefined, name: FigureName): number | undefined {
  return name === "processes" && latest?.processes === 0 ? undefined : latest?.[name];
}

/** Five digits are more than anybody sees, and shorter to send. */
function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Number(value.toPrecision(5));
}

/** What grows or shrinks with every look. */
function withoutAges(all: DatabaseFigures): DatabaseFigures {
  const { sinceRecoverySeconds: _since, maintenanceSeconds: _left, ...figures } = all;
  return figures;
}
