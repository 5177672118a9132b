// Patience with programs that run in real time.
import { machineClock, sleep } from "../src/env/clock.ts";

const clock = machineClock();

/** Asks until there is an answer; what is waited for is named when it never comes. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  patienceMs = 240_000,
): Promise<T> {
  const endMs = clock.nowMs() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (clock.nowMs() > endMs) throw new Error(`waited in vain: ${what}`);
    await sleep(clock, 100);
  }
}
