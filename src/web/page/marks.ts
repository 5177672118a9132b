// A shape for each state of a process group and one for coordinators, as paths of SVG around the middle: the map draws them on
// its canvas, the rest of the page as pictures. Rules: spec/page.md [PAGE5].
import type { TileState } from "../view-model.ts";

export type MarkName = TileState | "coordinator";

/** The paths reach so far from the middle; lines are so wide. */
export const markRadius = 6;
export const markLine = 2;

export const marks: Readonly<
  Record<MarkName, { readonly path: string; readonly isFilled: boolean }>
> = {
  well: { path: "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z", isFilled: true },
  failing: { path: "M-4.4 -4.4L4.4 4.4M4.4 -4.4L-4.4 4.4", isFilled: false },
  starting: { path: "M0 -4.8A4.8 4.8 0 1 1 -4.8 0", isFilled: false },
  leaving: { path: "M-5.2 0H5.2M1.6 -3.8L5.2 0L1.6 3.8", isFilled: false },
  outdated: { path: "M0 5.2V-5.2M-3.8 -1.6L0 -5.2L3.8 -1.6", isFilled: false },
  foreign: { path: "M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z", isFilled: false },
  asleep: { path: "M2.6 -4.6A5 5 0 1 0 4.8 2.2A4 4 0 0 1 2.6 -4.6z", isFilled: true },
  coordinator: {
    path: "M0 -6L1.6 -2.2L5.7 -1.9L2.6 0.8L3.5 4.9L0 2.7L-3.5 4.9L-2.6 0.8L-5.7 -1.9L-1.6 -2.2z",
    isFilled: true,
  },
};
