// How far a simulation has come, in one line: what is done, how quick it is, how long it takes still.
// Rules: spec/world.md [W112].
import { formatElapsed } from "./progress-view.ts";

export interface SimulationProgress {
  lived: number;
  failed: number;
  elapsedMs: number;
  /** Of all processors together. */
  cpuMs: number;
  /** How many lives there will be; unknown when time ends them. */
  total?: number;
  /** When time ends them. */
  limitMs?: number;
}

export function progressLine(progress: SimulationProgress): string {
  const { lived, failed, elapsedMs, total, limitMs } = progress;
  const leftMs =
    total === undefined
      ? Math.max(0, (limitMs ?? 0) - elapsedMs)
      : lived === 0
        ? undefined
        : (elapsedMs / lived) * (total - lived);
  return [
    total === undefined ? livesText(lived) : `${lived} of ${livesText(total)}`,
    `${failed} failed`,
    ...(lived === 0 ? [] : [speedText(progress)]),
    ...(leftMs === undefined ? [] : [`${formatElapsed(leftMs)} left`]),
  ].join(", ");
}

export function speedText({ lived, cpuMs }: Pick<SimulationProgress, "lived" | "cpuMs">): string {
  const perMinute = cpuMs <= 0 ? 0 : lived / (cpuMs / 60_000);
  return `${perMinute.toFixed(1)} lives per CPU minute`;
}

function livesText(count: number): string {
  return count === 1 ? "1 life" : `${count} lives`;
}
