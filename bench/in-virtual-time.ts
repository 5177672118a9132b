// Waits in virtual time.
import type { VirtualClock } from "../src/env/virtual-clock.ts";

/** Lets the clock run until the promise is settled. */
export async function inVirtualTime(clock: VirtualClock, promise: Promise<void>): Promise<void> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  await clock.run({ until: () => isSettled });
  await settled;
}
