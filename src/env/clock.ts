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

/** The machine's clock, optionally running `speed` times as fast from the moment it is made. */
export function machineClock(speed = 1): Clock {
  const startedMs = Date.now();
  const startedAt = performance.now();
  return {
    nowMs: () => Math.floor(startedMs + (performance.now() - startedAt) * speed),
    setTimer(delayMs, run) {
      // Node truncates longer delays to 1 ms, so a far timer is clamped to the longest possible one.
      const realMs = Math.min(Math.max(0, delayMs) / speed, 2 ** 31 - 1);
      const handle = setTimeout(run, realMs);
      return { cancel: () => clearTimeout(handle) };
    },
  };
}
