// The longest turn of the event loop, in processor time of its thread: so long everybody else waits, whatever else the
// machine has to do.

export interface Turns {
  /** Since the last call, in milliseconds. */
  longestMs(): number;
}

export function watchTurns(): Turns {
  let [longestMs, before] = [0, process.threadCpuUsage()];
  // Once in each turn, and no reason for another one.
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    before = process.threadCpuUsage();
    setImmediate(look).unref();
  };
  look();
  return {
    longestMs() {
      const found = longestMs;
      longestMs = 0;
      return found;
    },
  };
}
