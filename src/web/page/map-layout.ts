// Where everything of the map lies, in the browser's own pixels: panels for columns, rows for nodes, tiles for process groups,
// and which tile a key leads to. The more tiles there are, the smaller they get. Pure. Rules: spec/page.md [PAGE7], [PAGE8].
import { mostOf } from "../../env/long-lists.ts";
import type { MapColumn, MapModel, MapRow, TileState } from "../view-model.ts";

export type TileSize = "large" | "medium" | "small";

export interface MapLayout {
  readonly size: TileSize;
  readonly width: number;
  readonly height: number;
  readonly panels: readonly Panel[];
  /** In reading order. */
  readonly tiles: readonly PlacedTile[];
}

export interface Panel {
  readonly column: MapColumn;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly PlacedRow[];
}

export interface PlacedRow {
  readonly row: MapRow;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface PlacedTile {
  readonly group: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Of the column. */
  readonly panel: number;
  readonly node: string;
}

interface Measures {
  readonly widthMin: number;
  readonly height: number;
  readonly gap: number;
  /** The name of a node stands before its tiles instead of above them. */
  readonly labelBefore: number;
  readonly panelWidthMin: number;
}

const measures: Readonly<Record<TileSize, Measures>> = {
  large: { widthMin: 168, height: 46, gap: 6, labelBefore: 0, panelWidthMin: 200 },
  medium: { widthMin: 84, height: 26, gap: 4, labelBefore: 0, panelWidthMin: 200 },
  small: { widthMin: 18, height: 18, gap: 3, labelBefore: 128, panelWidthMin: 250 },
};

const panelGap = 12;
const padding = 12;
const rowGap = 10;
const labelHeight = 20;
/** Of one line of a panel's heading: each place has one. */
const placeHeight = 20;

export function sizeFor(total: number): TileSize {
  if (total <= 150) return "large";
  return total <= 600 ? "medium" : "small";
}

export function layoutMap(map: Pick<MapModel, "columns" | "total">, width: number): MapLayout {
  const size = sizeFor(map.total);
  const { panelWidthMin } = measures[size];
  const { columns } = map;
  const fitting = Math.floor((width + panelGap) / (panelWidthMin + panelGap));
  const perLine = Math.max(1, Math.min(columns.length, fitting));
  const panelWidth = Math.floor((width - panelGap * (perLine - 1)) / perLine);
  const panels: Panel[] = [];
  const tiles: PlacedTile[] = [];
  let y = 0;
  for (let first = 0; first < columns.length; first += perLine) {
    const line = columns.slice(first, first + perLine).map((column, index) => {
      const x = index * (panelWidth + panelGap);
      return placePanel({ column, x, y, width: panelWidth, size, panel: first + index, tiles });
    });
    const height = mostOf(line.map((panel) => panel.height));
    for (const panel of line) panels.push({ ...panel, height });
    y += height + panelGap;
  }
  return { size, width, height: Math.max(0, y - panelGap), panels, tiles };
}

interface PanelInput {
  readonly column: MapColumn;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: TileSize;
  readonly panel: number;
  readonly tiles: PlacedTile[];
}

function placePanel({ column, x, y, width, size, panel, tiles }: PanelInput): Panel {
  const { widthMin, height, gap, labelBefore } = measures[size];
  const inner = width - 2 * padding;
  const room = Math.max(widthMin, inner - labelBefore);
  const perLine = Math.max(1, Math.floor((room + gap) / (widthMin + gap)));
  const isSquare = size === "small";
  const tileWidth = isSquare ? widthMin : Math.floor((room - gap * (perLine - 1)) / perLine);
  const rows: PlacedRow[] = [];
  let top = y + padding + Math.max(1, column.places.length) * placeHeight + 6;
  for (const row of column.rows) {
    const left = x + padding;
    rows.push({ row, x: left, y: top, width: labelBefore === 0 ? inner : labelBefore - gap });
    const tilesTop = labelBefore === 0 ? top + labelHeight : top;
    for (const [index, group] of row.groups.entries()) {
      tiles.push({
        ...{ group, panel, node: row.node, width: tileWidth, height },
        x: left + labelBefore + (index % perLine) * (tileWidth + gap),
        y: tilesTop + Math.floor(index / perLine) * (height + gap),
      });
    }
    const lines = Math.max(1, Math.ceil(row.groups.length / perLine));
    top = tilesTop + lines * (height + gap) - gap + (isSquare ? 6 : rowGap);
  }
  return { column, x, y, width, height: top - y + padding - rowGap / 2, rows };
}

/** The tile under a point, if there is one. */
export function tileAt({ tiles }: MapLayout, x: number, y: number): PlacedTile | undefined {
  return tiles.find(
    (tile) => x >= tile.x && x < tile.x + tile.width && y >= tile.y && y < tile.y + tile.height,
  );
}

/** Where a key leads from a tile, by its index; undefined when the key means nothing here. */
export function tileAfter(
  { tiles, panels }: MapLayout,
  index: number,
  key: string,
): number | undefined {
  const last = tiles.length - 1;
  const here = tiles[index];
  if (here === undefined) return last < 0 ? undefined : 0;
  switch (key) {
    case "ArrowRight":
      return Math.min(last, index + 1);
    case "ArrowLeft":
      return Math.max(0, index - 1);
    case "ArrowDown":
      return nearest(tiles, index, 1);
    case "ArrowUp":
      return nearest(tiles, index, -1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "PageDown":
    case "PageUp": {
      const step = key === "PageDown" ? 1 : -1;
      for (let panel = here.panel + step; panel in panels; panel += step) {
        const found = tiles.findIndex((tile) => tile.panel === panel);
        if (found >= 0) return found;
      }
      return index;
    }
    default:
      return undefined;
  }
}

/** The next of the worst state, then of the next worst, and in the end of the worst again: the index of its tile. */
export function nextTrouble(
  states: readonly TileState[],
  index: number,
  worstFirst: readonly TileState[],
): number | undefined {
  const ill = [...states.keys()].filter((at) => states[at] !== "well" && states[at] !== "asleep");
  const rank = (at: number): number => worstFirst.indexOf(states[at] ?? "well");
  const order = ill.toSorted((left, right) => rank(left) - rank(right) || left - right);
  return order[(order.indexOf(index) + 1) % order.length];
}

/** The closest of the next line in that direction; the same tile where there is none. */
function nearest(tiles: readonly PlacedTile[], index: number, direction: 1 | -1): number {
  const here = tiles[index];
  if (here === undefined) return index;
  let best = index;
  let bestDistance = Infinity;
  for (const [other, tile] of tiles.entries()) {
    const down = (tile.y - here.y) * direction;
    if (down <= 0) continue;
    // Another column is far away, so that the way down stays within one as long as there is something.
    const distance =
      down + Math.abs(tile.x - here.x) * 2 + (tile.panel === here.panel ? 0 : 10_000);
    if (distance < bestDistance) [best, bestDistance] = [other, distance];
  }
  return best;
}
