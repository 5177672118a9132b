// Time that moves only when told to: the clock of the simulator and of most tests. Timers fire one by one
// in the order (due time, order of setting); between two timers everything that can go on without time
// passing goes on to its end. Carries rules SIM1 to SIM5.
import type { Clock, Timer } from "./clock.ts";

export const virtualStartMs = Date.UTC(2026, 0, 1);

export interface RunLimits {
  /** Stop when the next timer would fire after this instant; the clock then stands exactly at it. */
  untilMs?: number;
  /** Asked before each timer; the run stops as soon as it is true. */
  until?: () => boolean;
  /** Stop after this many timers: the net under a world that never comes to rest. */
  maxEvents?: number;
}

export interface RunResult {
  /** "stuck" means that no timer is left, so that nothing can ever happen again by itself. */
  reason: "condition" | "time" | "events" | "stuck";
  /** Timers that fired in this run. */
  events: number;
}

interface Entry {
  dueMs: number;
  sequence: number;
  run: (() => void) | undefined;
}

export class VirtualClock implements Clock {
  #nowMs: number;
  #sequence = 0;
  #heap: Entry[] = [];
  #cancelled = 0;
  #isRunning = false;
  #fired = 0;

  constructor(startMs = virtualStartMs) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** It is never set. */
  steppedMs(): number {
    return 0;
  }

  /** Timers that are set and neither fired nor cancelled. */
  get pendingTimers(): number {
    return this.#heap.length - this.#cancelled;
  }

  /** Timers that fired since the clock was made. */
  get firedTimers(): number {
    return this.#fired;
  }

  /** When the next timer is due; undefined when none is set. */
  get nextTimerMs(): number | undefined {
    this.#dropCancelledTop();
    return this.#heap[0]?.dueMs;
  }

  setTimer(delayMs: number, run: () => void): Timer {
    if (!Number.isFinite(delayMs)) throw new RangeError(`a timer needs a finite delay: ${delayMs}`);
    const dueMs = this.#nowMs + Math.max(0, Math.ceil(delayMs));
    const entry: Entry = { dueMs, sequence: this.#sequence, run };
    this.#sequence += 1;
    push(this.#heap, entry);
    return { cancel: () => this.#cancel(entry) };
  }

  /** Fires timers until a limit is reached or none is left. */
  async run(limits: RunLimits = {}): Promise<RunResult> {
    if (this.#isRunning) throw new Error("the virtual clock is already running");
    this.#isRunning = true;
    const maxEvents = limits.maxEvents ?? Infinity;
    let events = 0;
    try {
      while (true) {
        await settle();
        if (limits.until?.() === true) return { reason: "condition", events };
        if (events >= maxEvents) return { reason: "events", events };
        this.#dropCancelledTop();
        const next = this.#heap[0];
        if (next === undefined || next.dueMs > (limits.untilMs ?? Infinity)) {
          if (limits.untilMs === undefined) return { reason: "stuck", events };
          this.#nowMs = Math.max(this.#nowMs, limits.untilMs);
          return { reason: next === undefined ? "stuck" : "time", events };
        }
        this.#fire();
        events += 1;
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Lets `durationMs` pass, with everything that is due in it. */
  advance(durationMs: number): Promise<RunResult> {
    return this.run({ untilMs: this.#nowMs + durationMs });
  }

  #fire(): void {
    const entry = pop(this.#heap);
    this.#nowMs = entry.dueMs;
    this.#fired += 1;
    const run = entry.run;
    entry.run = undefined;
    run?.();
  }

  #cancel(entry: Entry): void {
    if (entry.run === undefined) return;
    entry.run = undefined;
    this.#cancelled += 1;
    // Cancelled entries leave the heap when they come to its top; a heap that is mostly dead is rebuilt.
    if (this.#cancelled > 1024 && this.#cancelled * 2 > this.#heap.length) {
      const live = this.#heap.filter((candidate) => candidate.run !== undefined);
      this.#heap = [];
      this.#cancelled = 0;
      for (const candidate of live) push(this.#heap, candidate);
    }
  }

  #dropCancelledTop(): void {
    while (this.#heap[0] !== undefined && this.#heap[0].run === undefined) {
      pop(this.#heap);
      this.#cancelled -= 1;
    }
  }
}

/** Resolves when all promise chains that need no time have come to their end. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(left: Entry, right: Entry): boolean {
  return left.dueMs === right.dueMs ? left.sequence < right.sequence : left.dueMs < right.dueMs;
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): Entry {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined) throw new Error("no timer is set");
  if (heap.length === 0) return top;
  let index = 0;
  while (true) {
    let childIndex = 2 * index + 1;
    let child = heap[childIndex];
    if (child === undefined) break;
    const right = heap[childIndex + 1];
    if (right !== undefined && isBefore(right, child)) {
      childIndex += 1;
      child = right;
    }
    if (!isBefore(child, last)) break;
    heap[index] = child;
    index = childIndex;
  }
  heap[index] = last;
  return top;
}
