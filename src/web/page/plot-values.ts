// The series of a plot that have values, with the newest and the range of each. Pure. Rules: spec/page.md [PAGE12].
import { leastOf, mostOf } from "../../env/long-lists.ts";
import type { FigureName, FigurePlot } from "../figure-names.ts";
import type { FiguresModel } from "../view-model.ts";

export interface PlotValues {
  readonly name: FigureName;
  readonly title: string;
  readonly values: readonly (number | null)[];
  /** Undefined when the last look did not tell it. */
  readonly last: number | undefined;
}

export function valuesOf(plot: FigurePlot, series: FiguresModel["series"]): PlotValues[] {
  return plot.series.flatMap(({ name, title }) => {
    const values = series[name];
    if (values === undefined) return [];
    return [{ name, title, values, last: values.at(-1) ?? undefined }];
  });
}

/** "1 to 9"; nothing when it never changed. */
export function rangeText(
  values: readonly (number | null)[],
  told: (value: number) => string,
): string {
  const numbers = values.filter((value) => value !== null);
  if (numbers.length === 0) return "";
  const [least, most] = [told(leastOf(numbers)), told(mostOf(numbers))];
  return least === most ? "" : `(${least} to ${most})`;
}
