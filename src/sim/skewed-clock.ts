// The clock of a machine that is set wrong and runs too fast or too slow beside the clock of the world. It never goes
// back, and its timers run by its own measure of time. Carries rule MU3.
import type { Clock } from "../env/clock.ts";

export interface Skew {
  /** Ahead of the world when positive. */
  offsetMs: number;
  /** Gained in each hour of the world; lost when negative. */
  driftMsPerHour: number;
}

const hourMs = 3_600_000;

export function skewedClock(clock: Clock, { offsetMs, driftMsPerHour }: Skew): Clock {
  const startMs = clock.nowMs();
  const rate = 1 + driftMsPerHour / hourMs;
  if (rate <= 0) throw new RangeError(`a clock that stands still: ${driftMsPerHour} ms an hour`);
  return {
    nowMs: () => Math.floor(startMs + offsetMs + (clock.nowMs() - startMs) * rate),
    setTimer: (delayMs, run) => clock.setTimer(delayMs / rate, run),
  };
}
