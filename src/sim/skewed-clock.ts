// The clock of a machine that is set wrong, runs too fast or too slow beside the clock of the world, and can be set
// forward at any moment and back between two processes. Its timers run by its own measure of time. Carries rule MU3.
import { ClockSteps } from "../env/clock.ts";
import type { Clock } from "../env/clock.ts";

export interface Skew {
  /** Ahead of the world when positive. */
  offsetMs: number;
  /** Gained in each hour of the world; lost when negative. */
  driftMsPerHour: number;
}

const hourMs = 3_600_000;

export interface SkewedClock extends Clock {
  /** Somebody sets it forward; timers that are set already run on. */
  step(byMs: number): void;
  /** Somebody sets it back while nothing runs by it: a process does not follow backwards, the next one begins there. */
  setBack(byMs: number): void;
}

export function skewedClock(clock: Clock, { offsetMs, driftMsPerHour }: Skew): SkewedClock {
  const startMs = clock.nowMs();
  let aheadMs = offsetMs;
  const rate = 1 + driftMsPerHour / hourMs;
  if (rate <= 0) throw new RangeError(`a clock that stands still: ${driftMsPerHour} ms an hour`);
  let steps = new ClockSteps();
  const nowMs = (): number => Math.floor(startMs + aheadMs + (clock.nowMs() - startMs) * rate);
  return {
    nowMs,
    steppedMs: (sinceMs) => steps.sinceMs(sinceMs),
    setTimer: (delayMs, run) => clock.setTimer(delayMs / rate, run),
    step(byMs) {
      if (byMs < 0) throw new RangeError(`a clock that goes back: ${byMs} ms`);
      aheadMs += byMs;
      steps.note(nowMs(), byMs);
    },
    setBack(byMs) {
      if (byMs < 0)
        throw new RangeError(`a clock that is set back by less than nothing: ${byMs} ms`);
      aheadMs -= byMs;
      steps = new ClockSteps();
    },
  };
}
