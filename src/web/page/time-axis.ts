// The axis of the time line: which time is shown, where a moment lies on it, which ticks it has, and in which lane marks that
// would hide each other go. Pure. Rules: spec/page.md [PAGE11].
import type { TimeLineEntry, TimeLineKind, TimeLineModel } from "../view-model.ts";
import { leastOf } from "../../env/long-lists.ts";

/** In the order of the lanes, from above. */
export const timeLineKinds: readonly TimeLineKind[] = [
  ...(["failure", "recovery", "wait", "act", "change"] as const),
];

export const kindTitles: Readonly<Record<TimeLineKind, string>> = {
  failure: "Failures",
  recovery: "Recoveries",
  wait: "Waits",
  act: "Acts",
  change: "Changes",
};

export const spans = {
  "5 min": 300_000,
  "30 min": 1_800_000,
  "3 h": 10_800_000,
  all: Infinity,
} as const;
export type SpanName = keyof typeof spans;

export interface Axis {
  readonly fromMs: number;
  readonly toMs: number;
}

export function axisOf(model: TimeLineModel, span: SpanName, nowMs: number): Axis {
  const entries = Object.values(model.entries);
  const toMs = Math.max(nowMs, model.sinceMs);
  const oldest = leastOf(
    entries.map(({ fromMs }) => fromMs),
    model.sinceMs,
  );
  // A minute at least, so that the first moments are not torn apart.
  const lengthMs = Math.max(60_000, Math.min(spans[span], toMs - oldest));
  return { fromMs: toMs - lengthMs, toMs };
}

/** Between 0, the beginning, and 1, the end. */
export function shareOf({ fromMs, toMs }: Axis, atMs: number): number {
  return Math.min(1, Math.max(0, (atMs - fromMs) / Math.max(1, toMs - fromMs)));
}

const steps: readonly number[] = [
  ...[5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000],
  ...[3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000],
];

/** Round times, at most so many. */
export function ticksOf({ fromMs, toMs }: Axis, countMax: number): number[] {
  const wanted = (toMs - fromMs) / Math.max(1, countMax);
  const step = steps.find((one) => one >= wanted) ?? Math.ceil(wanted / 604_800_000) * 604_800_000;
  const ticks: number[] = [];
  for (let at = Math.ceil(fromMs / step) * step; at <= toMs; at += step) ticks.push(at);
  return ticks;
}

/** Those that touch the axis, the newest first. */
export function shownEntries(
  model: TimeLineModel,
  axis: Axis,
  kinds: ReadonlySet<TimeLineKind>,
): [string, TimeLineEntry][] {
  return Object.entries(model.entries)
    .filter(
      ([, { kind, fromMs, toMs }]) =>
        kinds.has(kind) && fromMs <= axis.toMs && (toMs ?? axis.toMs) >= axis.fromMs,
    )
    .toSorted(
      ([leftId, left], [rightId, right]) =>
        right.fromMs - left.fromMs || (leftId < rightId ? 1 : -1),
    );
}
