// Pods that wait for a decision: ready ones in order of priority and arrival, refused ones until
// something in the cluster changes, and then with a growing pause. Carries rule SCH13.
import type { Clock, Timer } from "../env/clock.ts";

const firstPauseMs = 1000;
const longestPauseMs = 10_000;

interface Refused {
  readonly priority: number;
  readonly attempts: number;
  readonly notBeforeMs: number;
  timer?: Timer;
}

export class SchedulerQueue {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #decide: (key: string) => void;
  readonly #ready = new Map<string, { priority: number; sequence: number }>();
  readonly #refused = new Map<string, Refused>();
  readonly #attempts = new Map<string, number>();
  #sequence = 0;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(clock: Clock, delayMs: number, decide: (key: string) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#decide = decide;
  }

  add(key: string, priority: number): void {
    if (this.#isStopped) return;
    this.#refused.get(key)?.timer?.cancel();
    this.#refused.delete(key);
    this.#sequence += 1;
    if (!this.#ready.has(key)) this.#ready.set(key, { priority, sequence: this.#sequence });
    this.#timer ??= this.#clock.setTimer(this.#delayMs, () => this.#run());
  }

  remove(key: string): void {
    this.#ready.delete(key);
    this.#refused.get(key)?.timer?.cancel();
    this.#refused.delete(key);
    this.#attempts.delete(key);
  }

  /**
   * The pod was refused: it is tried again after a change of the cluster, not before its pause is
   * over.
   */
  postpone(key: string, priority: number): void {
    const attempts = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempts);
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts - 1, 10));
    const notBeforeMs = this.#clock.nowMs() + pauseMs;
    this.#refused.set(key, { priority, attempts, notBeforeMs });
  }

  /** Something changed that could make room. */
  wakeAll(): void {
    for (const [key, refused] of this.#refused) {
      if (refused.timer !== undefined) continue;
      const pauseMs = refused.notBeforeMs - this.#clock.nowMs();
      if (pauseMs <= 0) this.add(key, refused.priority);
      else refused.timer = this.#clock.setTimer(pauseMs, () => this.add(key, refused.priority));
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const refused of this.#refused.values()) refused.timer?.cancel();
  }

  #run(): void {
    this.#timer = undefined;
    const batch = [...this.#ready].toSorted(
      ([, left], [, right]) => right.priority - left.priority || left.sequence - right.sequence,
    );
    this.#ready.clear();
    for (const [key] of batch) if (!this.#isStopped) this.#decide(key);
  }
}
