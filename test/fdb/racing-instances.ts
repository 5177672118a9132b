// Operator instances that work on one key-value store at the same time, in virtual time: each with a clock that
// is off by its own amount, commits that go wrong, and steps of random length.
import { sleep } from "../../src/env/clock.ts";
import { randomInteger, seededRandom } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import { isFdbError } from "../../src/fdb/error.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";
import { createKeyValueStore } from "../../src/sim/key-value/store.ts";
import type { CommitFault, KeyValueStore } from "../../src/sim/key-value/store.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";

export interface Race {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly store: KeyValueStore;
  readonly shared: SharedKeys;
  /** How many commits went wrong. */
  readonly faults: { count: number };
  pause(maxMs: number): Promise<void>;
  /** Runs all to their end; fails when one of them fails or never ends. */
  run(instances: readonly Promise<void>[]): Promise<void>;
}

export function startRace(seed: number, options: { timeoutMs?: number } = {}): Race {
  const random = seededRandom(seed);
  const clock = new VirtualClock();
  const faults = { count: 0 };
  const commitFault = (): CommitFault | undefined => {
    const fault = faultOf(random.next());
    if (fault !== undefined) faults.count += 1;
    return fault;
  };
  const latencyMs = (): number => randomInteger(random, 0, random.next() < 0.1 ? 900 : 9);
  const store = createKeyValueStore({ clock, random, commitFault, latencyMs });
  return {
    clock,
    random,
    store,
    shared: {
      admin: { transact: (body, wanted) => store.transact(body, wanted) },
      keys: operatorKeys(),
      ...options,
    },
    faults,
    pause: (maxMs) => sleep(clock, randomInteger(random, 0, maxMs)),
    async run(instances) {
      let isDone = false;
      const all = Promise.all(instances).finally(() => {
        isDone = true;
      });
      all.catch(() => {});
      const { reason } = await clock.run({ until: () => isDone, maxEvents: 100_000 });
      if (!isDone) throw new Error(`the race did not end: ${reason}`);
      await all;
    },
  };
}

function faultOf(draw: number): CommitFault | undefined {
  if (draw < 0.1) return "conflict";
  if (draw < 0.2) return "unknown-committed";
  if (draw < 0.3) return "unknown-lost";
  return undefined;
}

/** Undefined when the time of the operation was over: then it may have happened or not. */
export async function orTimedOut<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (isFdbError(error, 1031)) return undefined;
    throw error;
  }
}
