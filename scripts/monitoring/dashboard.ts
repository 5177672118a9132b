// A dashboard as a description, and the JSON that Grafana reads of it. Places are computed: rows of panels, 24 columns wide.

export interface Panel {
  readonly title: string;
  /** A number that a person looks at first, or its course over time. */
  readonly kind: "stat" | "graph";
  readonly unit: Unit;
  /** What it means, where the title does not say it. */
  readonly help?: string;
  readonly queries: readonly Query[];
  /** From which value on it is bad, for numbers. */
  readonly badFrom?: number;
}

export interface Query {
  readonly expression: string;
  /** Label values in braces. */
  readonly legend: string;
}

type Unit = "short" | "s" | "bytes" | "Bps" | "ops" | "percentunit" | "bool";

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Chosen at the top, the first one first: the label, and the metric whose values are offered. */
  readonly choices: readonly {
    readonly name: string;
    readonly label: string;
    readonly of: string;
  }[];
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

const columns = 24;
const statSize = { w: 4, h: 4 };
const graphSize = { w: 8, h: 8 };
const source = { type: "prometheus", uid: "${datasource}" };

export function dashboardJson(dashboard: Dashboard): string {
  const { uid, title, description } = dashboard;
  const json = {
    ...{ uid, title, description, tags: ["foundationdb"], schemaVersion: 39, version: 1 },
    ...{ editable: true, graphTooltip: 1, refresh: "30s", timezone: "browser" },
    time: { from: "now-3h", to: "now" },
    templating: { list: [sourceVariable, ...choiceVariables(dashboard)] },
    annotations: { list: [] },
    panels: placedPanels(dashboard),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

const sourceVariable = {
  ...{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
  ...{ hide: 0, refresh: 1, multi: false, includeAll: false },
};

function choiceVariables({ choices }: Dashboard): object[] {
  return choices.map(({ name, label, of }, index) => {
    const before = choices.slice(0, index).map((each) => `${each.label}="$${each.name}"`);
    const query = `label_values(${of}{${before.join(",")}}, ${label})`;
    return {
      ...{ name, label: name, type: "query", datasource: source, definition: query },
      query: { query, refId: name },
      ...{ hide: 0, refresh: 2, sort: 1, multi: false, includeAll: false },
    };
  });
}

function placedPanels({ rows }: Dashboard): object[] {
  const placed: object[] = [];
  let [x, y, lineHeight, id] = [0, 0, 0, 1];
  const nextLine = (): void => {
    y += lineHeight;
    [x, lineHeight] = [0, 0];
  };
  for (const { title, panels } of rows) {
    nextLine();
    const gridPos = { x: 0, y, w: columns, h: 1 };
    placed.push({ id, type: "row", title, collapsed: false, gridPos, panels: [] });
    [id, y] = [id + 1, y + 1];
    for (const panel of panels) {
      const { w, h } = panel.kind === "stat" ? statSize : graphSize;
      if (x + w > columns || (lineHeight !== 0 && lineHeight !== h)) nextLine();
      placed.push(panelJson(panel, id, { x, y, w, h }));
      [id, x, lineHeight] = [id + 1, x + w, h];
    }
  }
  return placed;
}

function panelJson(panel: Panel, id: number, gridPos: object): object {
  const { title, kind, unit, help, queries, badFrom } = panel;
  const steps = [
    { color: "green", value: null },
    ...(badFrom === undefined ? [] : [{ color: "red", value: badFrom }]),
  ];
  return {
    ...{ id, title, gridPos, datasource: source },
    type: kind === "stat" ? "stat" : "timeseries",
    ...(help === undefined ? {} : { description: help }),
    targets: queries.map(({ expression, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: source,
      expr: expression,
      legendFormat: legend,
      ...(kind === "stat" ? { instant: true, range: false } : { instant: false, range: true }),
    })),
    fieldConfig: {
      defaults: {
        unit,
        thresholds: { mode: "absolute", steps },
        // A gap is a time of which nothing is known: it is not bridged.
        ...(kind === "stat" ? {} : { custom: { spanNulls: false, fillOpacity: 8, lineWidth: 1 } }),
      },
      overrides: [],
    },
    options:
      kind === "stat"
        ? { reduceOptions: { calcs: ["lastNotNull"] }, colorMode: "value", graphMode: "none" }
        : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
  };
}
