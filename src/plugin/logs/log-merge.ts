// Lines of many logs in the order of their times. What is followed is held back for a moment, since lines of one pod may
// arrive before older ones of another. Rules: spec/plugin.md [VW16].
import type { LogLine } from "./log-line.ts";

export interface SourceLine extends LogLine {
  /** Whose line it is: pod, or pod and container. */
  readonly source: string;
}

/** Within one source the order stays, whatever the times say. */
export function mergedLines(sources: readonly (readonly SourceLine[])[]): SourceLine[] {
  return sources.flatMap(withRisingTimes).toSorted((left, right) => left.atMs - right.atMs);
}

function withRisingTimes(lines: readonly SourceLine[]): SourceLine[] {
  let latestMs = -Infinity;
  return lines.map((line) => {
    latestMs = Math.max(latestMs, line.atMs);
    return line.atMs === latestMs ? line : { ...line, atMs: latestMs };
  });
}

/** Lines that wait for older ones; at most so many, so that a flood is shown instead of kept. */
export class LineBuffer {
  readonly #linesMax: number;
  #held: { line: SourceLine; arrivedMs: number }[] = [];

  constructor(linesMax: number) {
    this.#linesMax = linesMax;
  }

  add(lines: readonly SourceLine[], nowMs: number): void {
    for (const line of lines) this.#held.push({ line, arrivedMs: nowMs });
  }

  /** What arrived before `untilMs` and all that was written before it, in order; and what there is no room for. */
  take(untilMs: number): SourceLine[] {
    const ordered = this.#held.toSorted((left, right) => left.line.atMs - right.line.atMs);
    let count = ordered.findLastIndex(({ arrivedMs }) => arrivedMs <= untilMs) + 1;
    count = Math.max(count, ordered.length - this.#linesMax);
    this.#held = ordered.slice(count);
    return ordered.slice(0, count).map(({ line }) => line);
  }
}
