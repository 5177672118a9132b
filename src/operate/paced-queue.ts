// Work that waits its turn: no more than a few jobs at once, and never two within a short time. All that an operator does by
// itself, unasked, goes at this pace. Rule: spec/certificates.md [CERT3].
import type { Clock, Timer } from "../env/clock.ts";

export interface PacedQueueOptions {
  clock: Clock;
  /** Between the beginnings of two jobs. */
  gapMs: number;
  parallel: number;
}

export class PacedQueue {
  readonly #options: PacedQueueOptions;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;
  #nextMs = 0;
  #timer: Timer | undefined;

  constructor(options: PacedQueueOptions) {
    this.#options = options;
  }

  /** A job must not fail, and must end by itself. */
  add(job: () => Promise<void>): void {
    this.#waiting.push(job);
    this.#proceed();
  }

  #proceed(): void {
    const { clock, gapMs, parallel } = this.#options;
    if (this.#timer !== undefined || this.#running >= parallel) return;
    if (this.#waiting.length === 0) return;
    const nowMs = clock.nowMs();
    if (nowMs < this.#nextMs) {
      this.#timer = clock.setTimer(this.#nextMs - nowMs, () => {
        this.#timer = undefined;
        this.#proceed();
      });
      return;
    }
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#nextMs = nowMs + gapMs;
    this.#running += 1;
    void job().finally(() => {
      this.#running -= 1;
      this.#proceed();
    });
    this.#proceed();
  }
}
