// Time as an argument. Everything that waits or reads the time gets a Clock, so that the same code
// runs in real time, in scaled time (`npm start --speed`) and in the simulator's virtual time.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. Never goes back. */
  nowMs(): number;
  /**
   * By how much it was set forward since it showed `sinceMs`. So much less went by for what is known in memory alone: nobody
   * looked meanwhile. Ask for the present time first.
   */
  steppedMs(sinceMs: number): number;
  /** Calls `run` once after `delayMs`; a cancelled timer never runs. */
  setTimer(delayMs: number, run: () => void): Timer;
}

/** Resolves after `delayMs`, or at once when the signal is (or becomes) aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = clock.setTimer(delayMs, finish);
    signal?.addEventListener("abort", finish, { once: true });
    function finish(): void {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    }
  });
}

/** A clock of the machine that can be stopped: no timer of it fires any more, set before or after. */
export interface MachineClock extends Clock {
  stop(): void;
}

/** Where a machine's clock gets its time from. */
export interface TimeSource {
  /** What the machine shows; people and programs set it. */
  wallMs(): number;
  /** Runs evenly, and stands still while the machine sleeps. */
  steadyMs(): number;
}

const machine: TimeSource = { wallMs: () => Date.now(), steadyMs: () => performance.now() };

interface Step {
  /** What the clock showed right after it. */
  readonly atMs: number;
  readonly byMs: number;
}

/** Beyond so many, the oldest count as one. */
const stepsMaximum = 100;

/** The moments at which a clock was set forward. */
export class ClockSteps {
  readonly #steps: Step[] = [];

  note(atMs: number, byMs: number): void {
    this.#steps.push({ atMs, byMs });
    if (this.#steps.length <= stepsMaximum) return;
    const [first, second] = this.#steps.splice(0, 2);
    if (first === undefined || second === undefined) return;
    // So that what is remembered seems younger rather than older.
    this.#steps.unshift({ atMs: second.atMs, byMs: first.byMs + second.byMs });
  }

  sinceMs(sinceMs: number): number {
    const later = this.#steps.filter(({ atMs }) => atMs > sinceMs);
    return later.reduce((sum, { byMs }) => sum + byMs, 0);
  }
}

/** Smaller differences come from clocks that are brought into line little by little. */
const jumpMinimumMs = 1_000;

/**
 * The machine's clock, optionally running `speed` times as fast from the moment it is made. At normal speed it follows
 * when the machine's time is set forward, and when the machine has slept: then timers that are due fire at once, and
 * what ran out meanwhile is over. It does not follow backwards, since nothing that is over may begin again.
 * Rules: spec/run.md [RUN15].
 */
export function machineClock(speed = 1, source: TimeSource = machine): MachineClock {
  const startedMs = source.wallMs();
  const startedAt = source.steadyMs();
  const pending = new Set<PendingTimer>();
  let isStopped = false;
  const steps = new ClockSteps();
  let jumpedMs = 0;
  const nowMs = (): number => {
    const steadyMs = source.steadyMs() - startedAt;
    const lagMs = source.wallMs() - (startedMs + steadyMs + jumpedMs);
    if (speed === 1 && lagMs > jumpMinimumMs) {
      jumpedMs += lagMs;
      const atMs = startedMs + steadyMs + jumpedMs;
      steps.note(Math.floor(atMs), Math.ceil(lagMs));
      for (const timer of pending) timer.arm(timer.dueMs - atMs);
    }
    return Math.floor(startedMs + steadyMs * speed + jumpedMs);
  };
  return {
    nowMs,
    steppedMs: (sinceMs) => steps.sinceMs(sinceMs),
    setTimer(delayMs, run) {
      if (isStopped) return { cancel: () => {} };
      const timer = new PendingTimer(nowMs() + delayMs, speed, () => {
        pending.delete(timer);
        run();
      });
      pending.add(timer);
      timer.arm(delayMs);
      return {
        cancel() {
          pending.delete(timer);
          timer.disarm();
        },
      };
    },
    stop() {
      isStopped = true;
      for (const timer of pending) timer.disarm();
      pending.clear();
    },
  };
}

class PendingTimer {
  readonly dueMs: number;
  readonly #speed: number;
  readonly #run: () => void;
  #handle: NodeJS.Timeout | undefined;

  constructor(dueMs: number, speed: number, run: () => void) {
    this.dueMs = dueMs;
    this.#speed = speed;
    this.#run = run;
  }

  arm(delayMs: number): void {
    this.disarm();
    // Node truncates longer delays to 1 ms, so a far timer is clamped to the longest possible one.
    const realMs = Math.min(Math.max(0, delayMs) / this.#speed, 2 ** 31 - 1);
    this.#handle = setTimeout(this.#run, realMs);
  }

  disarm(): void {
    clearTimeout(this.#handle);
  }
}
