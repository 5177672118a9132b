// The map of a cluster: where every process group is and how it is. Tiles lie on one canvas; keys and screen readers get the
// same as a list with one active element, and as a table. Rules: spec/page.md [PAGE7], [PAGE8].
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { MapModel, TileState } from "../view-model.ts";
import { effects } from "./effects.ts";
import { layoutMap, nextTrouble, tileAfter, tileAt } from "./map-layout.ts";
import type { MapLayout, PlacedTile } from "./map-layout.ts";
import { MapLabels } from "./map-labels.tsx";
import { paint, scaleFor } from "./map-painter.ts";
import type { Painted } from "./map-painter.ts";
import { MapTable } from "./map-table.tsx";
import { Mark } from "./mark.tsx";
import { readPalette } from "./palette.ts";
import { paintings } from "./state.ts";
import { stateMeanings, tileStates, tileText } from "./words.ts";

interface MapProps {
  readonly map: MapModel;
  readonly selected: string | undefined;
  readonly onSelect: (group: string) => void;
}

export function MapView({ map, selected, onSelect }: MapProps) {
  return (
    <section class="map-view" aria-labelledby="map-title">
      <h2 id="map-title" class="visually-hidden">
        Map of process groups
      </h2>
      {map.silent === undefined ? null : (
        <p class={isAsleep(map) ? "dim" : "notice"}>Roles are not known: {map.silent}</p>
      )}
      <Legend map={map} />
      {map.total === 0 && map.columns.length === 0 ? (
        <p class="empty">There is no process group yet: the operator makes them first of all.</p>
      ) : (
        <MapField map={map} selected={selected} onSelect={onSelect} />
      )}
      <MapTable map={map} onSelect={onSelect} />
    </section>
  );
}

/** Counts of states; those that nothing is in are left out, but for the good one. */
function Legend({ map }: { readonly map: MapModel }) {
  const counts = new Map<TileState, number>();
  let coordinators = 0;
  for (const tile of Object.values(map.tiles)) {
    counts.set(tile.state, (counts.get(tile.state) ?? 0) + 1);
    if (tile.isCoordinator) coordinators += 1;
  }
  const hasSleepers = counts.has("asleep");
  const shown = tileStates.filter(
    (state) => (state === "well" && !hasSleepers) || counts.has(state),
  );
  return (
    <ul class="legend" aria-label="States of process groups">
      {shown.map((state) => (
        <li key={state} class={`state-${state}`} title={stateMeanings[state]}>
          <Mark name={state} />
          <strong>{counts.get(state) ?? 0}</strong> {state}
          {state === "well" ? null : <span class="dim"> ({stateMeanings[state]})</span>}
        </li>
      ))}
      {map.silent === undefined ? (
        <li>
          <Mark name="coordinator" />
          <strong>{coordinators}</strong> {coordinators === 1 ? "coordinator" : "coordinators"}
        </li>
      ) : null}
    </ul>
  );
}

function MapField({ map, selected, onSelect }: MapProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const { columns, total } = map;
  const layout = useMemo(
    () => layoutMap({ columns, total }, Math.max(240, width.value)),
    [columns, total, width.value],
  );
  return (
    <div class="map" ref={box}>
      <MapLabels layout={layout} />
      <Tiles {...{ map, layout, selected, onSelect }} />
    </div>
  );
}

function useWidth(box: RefObject<HTMLElement | null>): ReadonlySignal<number> {
  const width = useSignal(0);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const measure = (): void => {
      width.value = Math.floor(current.clientWidth);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    measure();
    return () => observer.disconnect();
  }, []);
  return width;
}

function Tiles({ map, layout, selected, onSelect }: MapProps & { readonly layout: MapLayout }) {
  const active = useSignal<string | undefined>(undefined);
  const isFocused = useSignal(false);
  const canvas = useTiles(layout, map);
  const hint = useHint(map);
  const here = active.value ?? selected ?? layout.tiles[0]?.group;
  const found = layout.tiles.findIndex(({ group }) => group === here);
  const index = found < 0 ? 0 : found;
  const place = layout.tiles[index];
  const chosen = layout.tiles.find(({ group }) => group === selected);
  const press = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isChoice = event.key === "Enter" || event.key === " ";
    // Before anybody has moved, the first of all in trouble is the worst.
    const isFresh = event.key === "t" && active.value === undefined && selected === undefined;
    const next = isChoice ? index : nextTile(layout, map, isFresh ? -1 : index, event.key);
    const target = next === undefined ? undefined : layout.tiles[next];
    if (target === undefined) return;
    event.preventDefault();
    if (isChoice) onSelect(target.group);
    active.value = target.group;
    keepInSight((canvas.current?.getBoundingClientRect().top ?? 0) + target.y, target.height);
  };
  const pointed = (event: MouseEvent): PlacedTile | undefined => {
    const rectangle = canvas.current?.getBoundingClientRect();
    if (rectangle === undefined) return undefined;
    return tileAt(layout, event.clientX - rectangle.left, event.clientY - rectangle.top);
  };
  const click = (event: MouseEvent): void => {
    const clicked = pointed(event);
    if (clicked === undefined) return;
    active.value = clicked.group;
    onSelect(clicked.group);
  };
  return (
    <div
      class="map-tiles"
      role="listbox"
      tabIndex={0}
      aria-label={`Process groups, ${map.total}. Arrows move, t leads to the next in trouble, Enter tells its story`}
      aria-activedescendant={place === undefined ? undefined : "active-tile"}
      onKeyDown={press}
      onFocus={() => (isFocused.value = true)}
      onBlur={() => (isFocused.value = false)}
      onClick={click}
      onMouseMove={(event) => hint.show(pointed(event), event.currentTarget)}
      onMouseLeave={() => hint.show(undefined, undefined)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {chosen === undefined ? null : <Frame place={chosen} kind="selected" />}
      {place === undefined ? null : (
        <Frame place={place} kind={isFocused.value ? "active" : "resting"}>
          <ActiveTile {...{ layout, map, index, place }} isSelected={place.group === selected} />
        </Frame>
      )}
    </div>
  );
}

interface ActiveProps {
  readonly layout: MapLayout;
  readonly map: MapModel;
  readonly index: number;
  readonly place: PlacedTile;
  readonly isSelected: boolean;
}

/** The tile that the keyboard is on, in words. */
function ActiveTile({ layout, map, index, place, isSelected }: ActiveProps) {
  const tile = map.tiles[place.group];
  return (
    <div
      role="option"
      id="active-tile"
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={layout.tiles.length}
      class="visually-hidden"
    >
      {tile === undefined ? place.group : tileText(tile)}
      {place.node === "" ? "" : `, on ${place.node}`}
      {placesText(layout, place)}
    </div>
  );
}

function placesText({ panels }: MapLayout, { panel }: PlacedTile): string {
  const places = panels[panel]?.column.places ?? [];
  return places.map(({ kind, name }) => `, ${kind} ${name === "" ? "not known" : name}`).join("");
}

/** The canvas follows the tiles, the layout and the colours; it is drawn once in a frame at most. */
function useTiles(layout: MapLayout, map: MapModel) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const before = useRef<Painted | undefined>(undefined);
  const wanted = useRef({ layout, map });
  const isAsked = useRef(false);
  wanted.current = { layout, map };
  const draw = (): void => {
    isAsked.current = false;
    const { current } = canvas;
    if (current === null) return;
    const { layout: placed, map: shown } = wanted.current;
    const scale = scaleFor(placed, globalThis.devicePixelRatio);
    const palette = readPalette(paintings.peek());
    const areRolesKnown = shown.silent === undefined;
    const painted = { layout: placed, palette, scale, tiles: shown.tiles, areRolesKnown };
    const drawn = paint(current, painted, before.current);
    // How many tiles the last change took, for who measures the page.
    if (drawn > 0) current.dataset["drawn"] = String(drawn);
    before.current = painted;
  };
  const ask = (): void => {
    if (isAsked.current) return;
    isAsked.current = true;
    effects().onFrame(draw);
  };
  useEffect(ask, [layout, map.tiles]);
  useSignalEffect(() => {
    if (paintings.value >= 0) ask();
  });
  return canvas;
}

/** What the mouse is over, as the browser's own hint. */
function useHint(map: MapModel): {
  show(place: PlacedTile | undefined, on: HTMLElement | undefined): void;
} {
  const told = useRef<HTMLElement | undefined>(undefined);
  return {
    show(place, on) {
      const tile = place === undefined ? undefined : map.tiles[place.group];
      const text = tile === undefined ? "" : tileText(tile);
      const target = on ?? told.current;
      if (target === undefined) return;
      told.current = target;
      if (target.title !== text) target.title = text;
      target.style.cursor = text === "" ? "default" : "pointer";
    },
  };
}

function Frame({
  place,
  kind,
  children,
}: {
  place: PlacedTile;
  kind: "active" | "resting" | "selected";
  children?: ComponentChildren;
}) {
  const { x, y, width, height } = place;
  const style = { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
  return (
    <div class={`frame frame-${kind}`} style={style}>
      {children}
    </div>
  );
}

/** Where a key leads: `t` to the next that is not well. */
function nextTile(
  layout: MapLayout,
  map: MapModel,
  index: number,
  key: string,
): number | undefined {
  if (key !== "t") return tileAfter(layout, index, key);
  const states = layout.tiles.map(({ group }) => map.tiles[group]?.state ?? "well");
  return nextTrouble(states, index, tileStates);
}

/** What the keyboard leads to is on the screen. */
function keepInSight(top: number, height: number): void {
  const { innerHeight } = globalThis;
  if (top < 80) globalThis.scrollBy({ top: top - 120 });
  else if (top + height > innerHeight - 20) {
    globalThis.scrollBy({ top: top + height - innerHeight + 60 });
  }
}

/** A sleep is what somebody wanted. */
function isAsleep({ tiles }: MapModel): boolean {
  return Object.values(tiles).every(({ state }) => state === "asleep");
}
