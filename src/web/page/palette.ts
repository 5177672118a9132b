// The colours of the canvas, read from the style sheet, so that they are written down once; read again when the scheme changes.
// Rules: spec/page.md [PAGE13].
import type { TileState } from "../view-model.ts";
import type { Palette } from "./map-painter.ts";
import { tileStates } from "./words.ts";

let last: { readonly painting: number; readonly palette: Palette } | undefined;

export function readPalette(painting: number): Palette {
  if (last?.painting === painting) return last.palette;
  const styles = getComputedStyle(document.documentElement);
  const color = (name: string): string => styles.getPropertyValue(name).trim();
  const ofStates = (ending: string): Record<TileState, string> =>
    Object.fromEntries(tileStates.map((state) => [state, color(`--${state}${ending}`)])) as Record<
      TileState,
      string
    >;
  const strong = ofStates("");
  const palette: Palette = {
    ...{ strong, surface: ofStates("-surface"), mark: { ...strong, well: color("--good") } },
    ...{ text: color("--text"), dim: color("--dim"), font: color("--font") },
  };
  last = { painting, palette };
  return palette;
}
