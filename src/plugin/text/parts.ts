// A line of parts, each in its own colour, cut at the width of the terminal. Rules: spec/plugin.md [VW2], [VW3].
import { cut, paint } from "./table.ts";
import type { Screen, Style } from "./table.ts";

export interface Part {
  readonly text: string;
  readonly style?: Style;
  /** What follows stands near. */
  readonly isTight?: boolean;
}

const widthMin = 20;

export function partsLine(parts: readonly Part[], screen: Screen, head = ""): string {
  let room = Math.max(widthMin, screen.width) - head.length;
  let line = head;
  let gap = "";
  for (const { text, style, isTight } of parts) {
    room -= gap.length;
    if (room <= 0) break;
    const shown = cut(text, room);
    room -= shown.length;
    line += gap + (style === undefined ? shown : paint(screen, style, shown));
    gap = isTight === true ? " " : "  ";
  }
  return line;
}
