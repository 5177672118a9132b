// Small plots of the last minutes, each with its newest values in words. Rules: spec/page.md [PAGE12].
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { counted } from "../../model/counted.ts";
import { bytesText, countText, rateText, secondsText } from "../../plugin/text/units.ts";
import { figurePlots } from "../figure-names.ts";
import type { FigurePlot, FigureUnit } from "../figure-names.ts";
import type { FiguresModel } from "../view-model.ts";
import { pure } from "./parts.tsx";
import { rangeText, valuesOf } from "./plot-values.ts";
import { paintings } from "./state.ts";
import { clockText } from "./words.ts";

const unitTexts: Readonly<Record<FigureUnit, (value: number | undefined) => string>> = {
  "per second": rateText,
  seconds: secondsText,
  bytes: bytesText,
  count: countText,
};

export const FiguresView = pure(({ figures }: { readonly figures: FiguresModel }) => {
  const shown = figurePlots.filter(({ series }) =>
    series.some(({ name }) => figures.series[name] !== undefined),
  );
  const { last } = figures;
  return (
    <section aria-labelledby="figures-title">
      <h2 id="figures-title">Figures</h2>
      {figures.silent === undefined ? null : <p class="notice">Nothing new: {figures.silent}</p>}
      {shown.length === 0 && figures.silent === undefined ? (
        <p class="empty">The database has not told any figure yet.</p>
      ) : null}
      {last === undefined ? null : <Limits last={last} />}
      {shown.length === 0 ? null : <p class="dim">Times are in UTC.</p>}
      <div class="plots">
        {shown.map((plot) => (
          <Plot
            key={plot.id}
            plot={plot}
            timesMs={figures.timesMs}
            series={figures.series}
            painting={paintings.value}
          />
        ))}
      </div>
    </section>
  );
});

/** What the database says of itself in sentences. */
function Limits({ last }: { readonly last: NonNullable<FiguresModel["last"]> }) {
  const parts = [
    last.zonesWithoutLosingData === undefined
      ? ""
      : `${counted(last.zonesWithoutLosingData, "fault domain")} may fail without losing data`,
    last.dataState === undefined ? "" : `data is ${last.dataState.replaceAll("_", " ")}`,
    `${last.coordinatorsReachable} of ${last.coordinators} coordinators reachable`,
    last.limitedBy === undefined ? "" : `held back: ${last.limitedBy}`,
    last.isLocked ? "the database is locked" : "",
    last.maintenanceZone === undefined
      ? ""
      : `fault domain ${last.maintenanceZone} under maintenance`,
    last.excluded === 0 ? "" : `${last.excluded} excluded`,
    ...last.messages,
  ];
  return (
    <p class="meta">
      {parts.filter(Boolean).map((part) => (
        <span key={part}>{part}</span>
      ))}
    </p>
  );
}

interface PlotProps {
  readonly plot: FigurePlot;
  readonly timesMs: readonly number[];
  readonly series: FiguresModel["series"];
  readonly painting: number;
}

function Plot({ plot, timesMs, series, painting }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const told = unitTexts[plot.unit];
  const values = valuesOf(plot, series);
  const data = [timesMs.map((ms) => ms / 1_000), ...values.map((one) => [...one.values])];
  const shape = `${painting} ${values.map(({ name }) => name).join(" ")}`;
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const titles = values.map(({ title }) => title);
    const made = new uPlot(
      optionsOf(plot, titles, current.clientWidth),
      data as uPlot.AlignedData,
      current,
    );
    drawn.current = made;
    const observer = new ResizeObserver(() => {
      const { clientWidth } = current;
      if (clientWidth > 0 && clientWidth !== made.width) {
        made.setSize({ width: clientWidth, height: plotHeight });
      }
    });
    observer.observe(current);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [shape]);
  useLayoutEffect(() => drawn.current?.setData(data as uPlot.AlignedData), [timesMs]);
  const words = values.map(({ title, last }) => `${title} ${told(last)}`).join(", ");
  return (
    <figure class="plot">
      <figcaption>
        <h3>{plot.title}</h3>
        <ul class="plot-values">
          {values.map(({ name, title, last, values: all }, index) => (
            <li key={name} class={`series-${index}`}>
              <span class="series-line" aria-hidden="true" />
              {title} <strong>{last === undefined ? "not told now" : told(last)}</strong>
              <span class="dim"> {rangeText(all, told)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot-box" ref={box} role="img" aria-label={`${plot.title}: ${words}`} />
    </figure>
  );
}

const plotHeight = 112;

function optionsOf(plot: FigurePlot, titles: readonly string[], width: number): uPlot.Options {
  const styles = getComputedStyle(document.documentElement);
  const color = (name: string): string => styles.getPropertyValue(name).trim();
  const told = unitTexts[plot.unit];
  const axis = {
    stroke: color("--dim"),
    font: `11px ${color("--font")}`,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  const dashes = [[], [5, 3], [2, 3]];
  return {
    width: Math.max(120, width),
    height: plotHeight,
    legend: { show: false },
    cursor: { show: false },
    // On the right there is room for half of the last time.
    padding: [8, 28, 0, 0],
    scales: { x: { time: true }, y: { range: (_, _least, most) => rangeOf(most, plot.unit) } },
    axes: [
      {
        ...axis,
        size: 20,
        space: 80,
        values: (_, splits) => splits.map((at) => clockText(at * 1_000)),
      },
      { ...axis, size: 58, space: 28, values: (_, splits) => splits.map((value) => told(value)) },
    ],
    series: [
      {},
      ...titles.map((label, index) => ({
        label,
        stroke: color(`--series-${index}`),
        width: 1.5,
        dash: dashes[index] ?? [],
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

/** The top of an axis on which nothing happens: there are no halves of bytes and processes. */
const restTop: Readonly<Record<FigureUnit, number>> = {
  ...{ "per second": 1, seconds: 1, bytes: 4, count: 4 },
};

/** From zero, with room above; a database at rest gets a flat line at the bottom. */
function rangeOf(most: number | null, unit: FigureUnit): [number, number] {
  const isWhole = unit === "bytes" || unit === "count";
  return [
    0,
    Math.max((most ?? 0) * 1.15, most === null || most <= 0 || isWhole ? restTop[unit] : 0),
  ];
}
