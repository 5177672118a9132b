// Asks a database how it is, again and again while somebody looks: never twice at a time, seldom where the answer takes
// long, and only a few databases at once. Rules: spec/web.md [WEB18].
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";

/** So many databases are asked at the same time. */
export const asksMax = 4;

/** Lets a few in at a time, in the order in which they came. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async through<T>(run: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

export interface DatabaseLookOptions {
  readonly gate: Gate;
  /** Of this machine. */
  readonly clock: Clock;
  readonly pauseMs: number;
  /** Has a deadline of its own. */
  readonly ask: () => Promise<DatabaseAnswer>;
  readonly onAnswer: (answer: DatabaseAnswer) => void;
}

/** A database that takes long to answer has other things to do. */
const shareOfTime = 4;

/** Until the signal is aborted. */
export async function lookAtDatabase(
  { gate, clock, pauseMs, ask, onAnswer }: DatabaseLookOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let tookMs = 0;
    const answer = await gate.through(async () => {
      if (signal.aborted) return undefined;
      const startedMs = clock.nowMs();
      const found = await ask().catch((error: unknown): DatabaseAnswer => ({
        ...{ kind: "silent", why: error instanceof Error ? error.message : String(error) },
      }));
      tookMs = clock.nowMs() - startedMs;
      return found;
    });
    if (signal.aborted || answer === undefined) return;
    onAnswer(answer);
    await sleep(clock, Math.max(pauseMs, shareOfTime * tookMs), signal);
  }
}
