// Draws tiles on one canvas: only those that are another than before, unless the layout or the colours are. A state has a
// colour, a shape and, where there is room, a word. Rules: spec/page.md [PAGE5], [PAGE7], [PAGE14].
import type { Tile, TileState } from "../view-model.ts";
import { roleNames } from "../../plugin/text/roles.ts";
import { markLine, markRadius, marks } from "./marks.ts";
import type { MarkName } from "./marks.ts";
import type { MapLayout, PlacedTile, TileSize } from "./map-layout.ts";
import { listThatFits, shortTrouble } from "./words.ts";

/** Of a colour scheme: of each state its strong colour and its surface, and those of text. */
export interface Palette {
  readonly strong: Readonly<Record<TileState, string>>;
  readonly surface: Readonly<Record<TileState, string>>;
  /** Of the marks: that of "well" is small, and has to be seen on every tile. */
  readonly mark: Readonly<Record<TileState, string>>;
  readonly text: string;
  readonly dim: string;
  readonly font: string;
}

export interface Painted {
  readonly layout: MapLayout;
  readonly palette: Palette;
  readonly scale: number;
  readonly tiles: Readonly<Record<string, Tile>>;
  readonly areRolesKnown: boolean;
}

/** Browsers draw nothing on a canvas that is larger. */
const sideMax = 16_000;

export function scaleFor({ width, height }: MapLayout, pixelRatio: number): number {
  return Math.min(pixelRatio, sideMax / Math.max(1, width), sideMax / Math.max(1, height));
}

/** How many tiles were drawn. */
export function paint(
  canvas: HTMLCanvasElement,
  wanted: Painted,
  before: Painted | undefined,
): number {
  const { layout, scale, palette } = wanted;
  const context = canvas.getContext("2d");
  if (context === null) return 0;
  const isAnew =
    before === undefined ||
    before.layout !== layout ||
    before.palette !== palette ||
    before.areRolesKnown !== wanted.areRolesKnown ||
    before.scale !== scale;
  if (isAnew) {
    canvas.width = Math.round(layout.width * scale);
    canvas.height = Math.round(layout.height * scale);
    canvas.style.width = `${layout.width}px`;
    canvas.style.height = `${layout.height}px`;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  let drawn = 0;
  for (const place of layout.tiles) {
    if (!isAnew && wanted.tiles[place.group] === before.tiles[place.group]) continue;
    drawTile(context, place, wanted, layout.size);
    drawn += 1;
  }
  return drawn;
}

function drawTile(
  context: CanvasRenderingContext2D,
  place: PlacedTile,
  { tiles, palette, areRolesKnown }: Painted,
  size: TileSize,
): void {
  const tile = tiles[place.group];
  const { x, y, width, height } = place;
  context.clearRect(x - 2, y - 2, width + 4, height + 4);
  if (tile === undefined) return;
  const strong = palette.strong[tile.state];
  const radius = size === "small" ? 4 : 6;
  context.beginPath();
  context.roundRect(x + 0.5, y + 0.5, width - 1, height - 1, radius);
  context.fillStyle = palette.surface[tile.state];
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = strong;
  context.setLineDash(tile.state === "starting" || tile.state === "foreign" ? [3, 2] : []);
  context.stroke();
  context.setLineDash([]);
  if (size === "large") drawLarge(context, place, tile, { palette, areRolesKnown });
  else if (size === "medium") drawMedium(context, place, tile, palette);
  else drawSmall(context, place, tile, palette);
}

function drawLarge(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: PlacedTile,
  tile: Tile,
  { palette, areRolesKnown }: Pick<Painted, "areRolesKnown" | "palette">,
): void {
  const strong = palette.strong[tile.state];
  drawMark(context, tile.state, x + 15, y + height / 2, 6, palette.mark[tile.state]);
  if (tile.isCoordinator) drawMark(context, "coordinator", x + width - 14, y + 15, 6, palette.text);
  const left = x + 30;
  const room = width - 36;
  context.textBaseline = "alphabetic";
  context.fillStyle = palette.text;
  context.font = `600 13px ${palette.font}`;
  fillCut(context, tile.group, {
    ...{ x: left, y: y + 19, room: room - (tile.isCoordinator ? 18 : 0), isName: true },
  });
  const [trouble = "see its story"] = tile.troubles;
  const isWell = tile.state === "well" || tile.state === "asleep";
  context.fillStyle = isWell ? palette.dim : strong;
  context.font = `${isWell ? 400 : 600} 11.5px ${palette.font}`;
  const fits = (text: string): boolean => context.measureText(text).width <= room;
  const duty = areRolesKnown ? "no role" : tile.processClass;
  const word = isWell
    ? listThatFits(roleNames(tile.roles), fits) || (tile.state === "asleep" ? "asleep" : duty)
    : `${tile.state}: ${shortTrouble(trouble)}`;
  fillCut(context, word, { x: left, y: y + 36, room, isName: false });
}

function drawMedium(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: PlacedTile,
  tile: Tile,
  palette: Palette,
): void {
  drawMark(context, tile.state, x + 11, y + height / 2, 4.5, palette.mark[tile.state]);
  if (tile.isCoordinator)
    drawMark(context, "coordinator", x + width - 9, y + height / 2, 4.5, palette.text);
  context.textBaseline = "alphabetic";
  context.fillStyle = palette.text;
  context.font = `500 11px ${palette.font}`;
  const room = width - (tile.isCoordinator ? 37 : 24);
  fillCut(context, tile.group, { x: x + 21, y: y + height / 2 + 4, room, isName: true });
}

function drawSmall(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: PlacedTile,
  tile: Tile,
  palette: Palette,
): void {
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  const { state } = tile;
  if (state === "well" && tile.isCoordinator) {
    drawMark(context, "coordinator", middleX, middleY, 5.5, palette.text);
    return;
  }
  drawMark(context, state, middleX, middleY, state === "well" ? 3.2 : 4.5, palette.mark[state]);
}

/** Names begin and end with what tells them apart; of sentences the beginning tells most. */
function fillCut(
  context: CanvasRenderingContext2D,
  text: string,
  { x, y, room, isName }: { x: number; y: number; room: number; isName: boolean },
): void {
  const widthOf = (shown: string): number => context.measureText(shown).width;
  let shown = text;
  let kept = Math.min(text.length, Math.ceil((text.length * room) / Math.max(1, widthOf(text))));
  while (kept > 1 && widthOf(shown) > room) {
    kept -= 1;
    const tail = isName ? Math.floor(kept / 2) : 0;
    shown = `${text.slice(0, kept - tail).trimEnd()}…${text.slice(text.length - tail)}`;
  }
  context.fillText(shown, x, y);
}

function drawMark(
  context: CanvasRenderingContext2D,
  mark: MarkName,
  x: number,
  y: number,
  radius: number,
  color: string,
): void {
  const path = (paths[mark] ??= new Path2D(marks[mark].path));
  context.save();
  context.translate(x, y);
  context.scale(radius / markRadius, radius / markRadius);
  context.fillStyle = color;
  context.strokeStyle = color;
  context.lineWidth = markLine;
  context.lineCap = "round";
  context.lineJoin = "round";
  if (marks[mark].isFilled) context.fill(path);
  else context.stroke(path);
  context.restore();
}

const paths: Partial<Record<MarkName, Path2D>> = {};
