// Time as an argument. Everything that waits or reads the time gets a Clock, so that the same code
// runs in real time, in scaled time (`npm start --speed`) and in the simulator's virtual time.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. Never goes back. */
  nowMs(): number;
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

/** The machine's clock, optionally running `speed` times as fast from the moment it is made. */
export function machineClock(speed = 1): MachineClock {
  const startedMs = Date.now();
  const startedAt = performance.now();
  const pending = new Set<NodeJS.Timeout>();
  let isStopped = false;
  return {
    nowMs: () => Math.floor(startedMs + (performance.now() - startedAt) * speed),
    setTimer(delayMs, run) {
      if (isStopped) return { cancel: () => {} };
      // Node truncates longer delays to 1 ms, so a far timer is clamped to the longest possible one.
      const realMs = Math.min(Math.max(0, delayMs) / speed, 2 ** 31 - 1);
      const handle = setTimeout(() => {
        pending.delete(handle);
        run();
      }, realMs);
      pending.add(handle);
      return {
        cancel() {
          pending.delete(handle);
          clearTimeout(handle);
        },
      };
    },
    stop() {
      isStopped = true;
      for (const handle of pending) clearTimeout(handle);
      pending.clear();
    },
  };
}
