// A time limit around the steps of one call: each wait ends with FdbError 1031 when the limit
// strikes first, and nothing after it happens.
import type { Clock } from "../../env/clock.ts";
import { namedFdbError } from "../../fdb/error.ts";

export interface Deadline {
  sleep(delayMs: number): Promise<void>;
  race<T>(promise: Promise<T>): Promise<T>;
}

export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  run: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const { promise: struck, reject } = Promise.withResolvers<never>();
  // The rejection is always consumed, also when no wait is going on at that moment.
  struck.catch(() => {});
  const sleeping = new Set<{ cancel(): void }>();
  const timer = clock.setTimer(timeoutMs, () => reject(namedFdbError(1031)));
  const deadline: Deadline = {
    race: (promise) => Promise.race([promise, struck]),
    sleep(delayMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const sleeper = clock.setTimer(delayMs, resolve);
      sleeping.add(sleeper);
      return Promise.race([promise, struck]);
    },
  };
  try {
    return await deadline.race(run(deadline));
  } finally {
    timer.cancel();
    for (const sleeper of sleeping) sleeper.cancel();
  }
}
