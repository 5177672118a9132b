// Work by key: each key at most once in the queue and in the hands of at most one worker, first come first
// served, with growing pauses after failures. Events only say that a key deserves a look; how often it was
// added does not matter. Carries rules KUBE40 to KUBE48.
import type { Clock, Timer } from "../env/clock.ts";
import type { NextTurn } from "../env/next-turn.ts";
import type { Random } from "../env/random.ts";
import { backOffMs } from "./back-off.ts";
import type { BackOffOptions } from "./back-off.ts";

export interface WorkOutcome {
  /** Look at the key again after this time, unless something happens earlier. */
  againAfterMs?: number;
}

export interface WorkRecord {
  key: string;
  /** From when it was due until a worker took it. */
  waitedMs: number;
  durationMs: number;
  /** Failures in a row, this one included; 0 after a success. */
  failures: number;
  error: unknown;
}

export interface WorkQueueOptions {
  clock: Clock;
  random: Random;
  /** Works on one key. A rejection counts as a failure of that key and is tried again after a pause. */
  handle: (key: string) => Promise<WorkOutcome | void>;
  /** Keys in work at once. */
  workers?: number;
  backOff?: BackOffOptions;
  onHandled?: (record: WorkRecord) => void;
  /** Between the beginnings of two runs others have a turn; absent where work takes no time. */
  nextTurn?: NextTurn | undefined;
}

interface KeyState {
  isQueued: boolean;
  /** Since when it waits for a worker. */
  queuedMs: number;
  isRunning: boolean;
  /** Added while it was running: it is queued again when the run ends; for mere news after a pause if the run failed. */
  dirty: "no" | "news" | "yes";
  failures: number;
  /** News wait until then; 0 when the last run did not fail. */
  pausedUntilMs: number;
  timer: Timer | undefined;
  dueMs: number;
}

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #states = new Map<string, KeyState>();
  #queue: string[] = [];
  #head = 0;
  #running = 0;
  #isStarted = false;
  #isStopped = false;
  /** A run has begun in this turn. */
  #isTurnTaken = false;
  #onIdle: (() => void)[] = [];

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#queue.length - this.#head;
  }

  /** Keys in work. */
  get running(): number {
    return this.#running;
  }

  /** Keys of which anything is remembered: waiting, in work, due later or failed before. */
  get size(): number {
    return this.#states.size;
  }

  /** Keys added before the start wait for it. Those that are named go first if they wait. */
  start(first: readonly string[] = []): void {
    this.#isStarted = true;
    const waiting = new Set(this.#queue.slice(this.#head));
    const urgent = new Set(first.filter((key) => waiting.has(key)));
    this.#queue = [...urgent, ...[...waiting].filter((key) => !urgent.has(key))];
    this.#head = 0;
    this.#dispatch();
  }

  /** Takes no new work; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const state of this.#states.values()) state.timer?.cancel();
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** The key deserves a look now. */
  add(key: string): void {
    if (this.#isStopped) return;
    const state = this.#stateOf(key);
    if (state.isRunning) state.dirty = "yes";
    else this.#enqueue(key, state);
    this.#dispatch();
  }

  /** Something is known that was not known before: a look after a while, and not before the pause of a failure is over. */
  addNews(key: string, delayMs = 0): void {
    if (this.#isStopped) return;
    const state = this.#stateOf(key);
    const pauseMs = state.pausedUntilMs - this.#options.clock.nowMs();
    if (pauseMs > 0) return this.addAfter(key, Math.max(delayMs, pauseMs));
    if (delayMs > 0) return this.addAfter(key, delayMs);
    if (!state.isRunning) return this.add(key);
    if (state.dirty === "no") state.dirty = "news";
  }

  /** The key deserves a look after a while; an earlier appointment stands. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isStopped) return;
    if (delayMs <= 0) return this.add(key);
    const state = this.#stateOf(key);
    const dueMs = this.#options.clock.nowMs() + delayMs;
    if (state.isQueued || (state.timer !== undefined && state.dueMs <= dueMs)) return;
    this.#cancelTimer(state);
    state.dueMs = dueMs;
    state.timer = this.#options.clock.setTimer(delayMs, () => {
      state.timer = undefined;
      this.add(key);
    });
  }

  /** Nothing is known of the key any more: no appointment, no failures. A run in progress ends by itself. */
  forget(key: string): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    this.#cancelTimer(state);
    state.failures = 0;
    state.pausedUntilMs = 0;
    state.dirty = "no";
    if (state.isQueued) {
      state.isQueued = false;
      this.#queue = this.#queue.slice(this.#head).filter((queued) => queued !== key);
      this.#head = 0;
    }
    this.#dropIfEmpty(key, state);
  }

  #stateOf(key: string): KeyState {
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state: KeyState = {
      isQueued: false,
      queuedMs: 0,
      isRunning: false,
      dirty: "no",
      failures: 0,
      pausedUntilMs: 0,
      timer: undefined,
      dueMs: 0,
    };
    this.#states.set(key, state);
    return state;
  }

  #enqueue(key: string, state: KeyState): void {
    this.#cancelTimer(state);
    if (state.isQueued) return;
    state.isQueued = true;
    state.queuedMs = this.#options.clock.nowMs();
    this.#queue.push(key);
  }

  #dispatch(): void {
    const { workers = 1, nextTurn } = this.#options;
    const mayBegin = (): boolean =>
      this.#isStarted && !this.#isStopped && !this.#isTurnTaken && this.#running < workers;
    while (mayBegin() && this.depth > 0) {
      const key = this.#queue[this.#head];
      this.#head += 1;
      if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
        this.#queue = this.#queue.slice(this.#head);
        this.#head = 0;
      }
      if (key !== undefined) void this.#work(key, this.#stateOf(key));
      if (nextTurn === undefined) continue;
      // A run that waits for nobody ends in the turn in which it began; hundreds of them must not be one turn.
      this.#isTurnTaken = true;
      nextTurn(() => {
        this.#isTurnTaken = false;
        this.#dispatch();
      });
    }
  }

  async #work(key: string, state: KeyState): Promise<void> {
    const { clock, random, handle, onHandled } = this.#options;
    const backOff = this.#options.backOff ?? { baseMs: 1000, maxMs: 60_000 };
    state.isQueued = false;
    state.isRunning = true;
    this.#running += 1;
    const startedAtMs = clock.nowMs();
    const waitedMs = startedAtMs - state.queuedMs;
    let againAfterMs: number | undefined;
    let failure: unknown;
    try {
      againAfterMs = (await handle(key))?.againAfterMs;
      state.failures = 0;
      state.pausedUntilMs = 0;
    } catch (error) {
      failure = error;
      state.failures += 1;
      againAfterMs = backOffMs(backOff, state.failures, random);
      state.pausedUntilMs = clock.nowMs() + againAfterMs;
      if (state.dirty === "news") state.dirty = "no";
    }
    state.isRunning = false;
    this.#running -= 1;
    onHandled?.({
      key,
      waitedMs,
      durationMs: clock.nowMs() - startedAtMs,
      failures: state.failures,
      error: failure,
    });
    const { dirty } = state;
    state.dirty = "no";
    if (dirty !== "no") this.add(key);
    else if (againAfterMs !== undefined) this.addAfter(key, againAfterMs);
    this.#dropIfEmpty(key, state);
    this.#dispatch();
    if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #cancelTimer(state: KeyState): void {
    state.timer?.cancel();
    state.timer = undefined;
  }

  #dropIfEmpty(key: string, state: KeyState): void {
    const isEmpty = !state.isQueued && !state.isRunning && state.timer === undefined;
    if (isEmpty && state.failures === 0 && this.#states.get(key) === state)
      this.#states.delete(key);
  }
}
