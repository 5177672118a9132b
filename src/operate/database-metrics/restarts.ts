// How often each process of a database was seen to have started anew lately: a process that ends again and again is told by
// that, although each status shows it alive. Rules: spec/monitoring.md [MON8].
import { mostOf } from "../../env/long-lists.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";

const windowMs = 30 * 60_000;
/** Uptimes are measured elsewhere and come with delays: a start is another one only when it is later by more than this. */
const toleranceMs = 5_000;
/** More than anybody counts. */
const kept = 20;

interface Seen {
  startedMs: number;
  /** Starts after the first that was seen. */
  restartsMs: number[];
  lastMs: number;
}

export class ProcessRestarts {
  readonly #processes = new Map<string, Seen>();

  /** `observedMs` is when the status was asked for. */
  note({ cluster }: DatabaseStatus, observedMs: number): void {
    for (const process of Object.values(cluster?.processes ?? {})) {
      const { uptime_seconds: uptime, address = "" } = process;
      if (uptime === undefined) continue;
      const key = localityOf(process, localityKeys.process) || address;
      const startedMs = observedMs - uptime * 1000;
      const seen = this.#processes.get(key);
      if (seen === undefined) {
        this.#processes.set(key, { startedMs, restartsMs: [], lastMs: observedMs });
        continue;
      }
      if (startedMs > seen.startedMs + toleranceMs) {
        seen.restartsMs = [...seen.restartsMs, startedMs].slice(-kept);
      }
      seen.startedMs = Math.max(seen.startedMs, startedMs);
      seen.lastMs = observedMs;
    }
    this.#forgetBefore(observedMs - windowMs);
  }

  /** The most of one process within the last half hour. */
  most(nowMs: number): number {
    const counts = [...this.#processes.values()].map(
      ({ restartsMs }) => restartsMs.filter((ms) => ms > nowMs - windowMs).length,
    );
    return mostOf(counts, 0);
  }

  #forgetBefore(ms: number): void {
    for (const [key, seen] of this.#processes) {
      if (seen.lastMs < ms) this.#processes.delete(key);
    }
  }
}
